"""`python -m gateway.policy.ci` finds each kind of mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy import ci, opa_command

Check = Callable[[Path, Path], str]


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _fails(policies: Path, tool: Path) -> str:
    raise PolicyInvalid(f"{policies.name} and {tool.name} disagree")


@pytest.mark.opa
@pytest.mark.parametrize(("second", "passes"), [(lambda *_: "fine", True), (_fails, False)])
def test_every_check_is_run_and_its_result_printed(
    policies: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], second: Check, passes: bool
) -> None:
    monkeypatch.setattr(ci, "CHECKS", (("one", second), ("two", ci.check_metadata)))
    assert ci.run_checks(policies) is passes
    printed = capsys.readouterr().out
    assert printed.startswith(f"policies: one: {'ok: fine' if passes else 'FAILED: policies and opa disagree'}\n")
    assert "policies: two: ok: " in printed


@pytest.mark.opa
@pytest.mark.parametrize(
    ("check", "edit"),
    [
        (ci.check_strict, ("guardrails/motive.rego", "input.motive == null", "inputt.motive == null")),
        (ci.check_format, ("guardrails/motive.rego", "input.motive == null", "input.motive  ==  null")),
        (ci.check_tests, ("guardrails/motive.rego", "input.motive == null", "input.motive != null")),
        pytest.param(
            ci.check_tests,
            ("guardrails/motive.rego", "# METADATA\n# title: An", "idle := 1\n\n# METADATA\n# title: An"),
            marks=pytest.mark.long,
        ),
        (ci.check_metadata, ("guardrails/motive.rego", "#   id: SEN-M001", "#   id: SEN-M002")),
        (ci.check_metadata, ("guardrails/motive.rego", "#   severity: medium", "#   severity: whatever")),
        (ci.check_metadata, ("guardrails/motive.rego", '"SEN-M001"', '"M1"')),
        (ci.check_metadata, ("guardrails/motive.rego", "SEN-M001", "SEN-C001")),
        (ci.check_bundle, ("guardrails/motive.rego", "An agent must state", "An agent should state")),
        (ci.check_bundle, ("data/network.json", "443", "8443")),
        (ci.check_bundle, ("bundle/manifest.json", "1.22.0", "1.21.0")),
    ],
)
def test_each_mistake_is_found(policies: Path, opa_tool: Path, check: Check, edit: tuple[str, str, str]) -> None:
    file, old, new = edit
    _replace(policies / file, old, new)
    with pytest.raises(PolicyInvalid):
        check(policies, opa_tool)


def test_without_opa_it_fails(
    policies: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opa_command, "find_opa", lambda: None)
    assert not ci.run_checks(policies)
    assert "no `opa`" in capsys.readouterr().out
