"""`python -m gateway.policy.ci` finds each thing that must not be merged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import PolicyInvalid
from gateway.policy import ci, opa_command

Step = Callable[[Path, Path], str]


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _fails(policies: Path, tool: Path) -> str:
    raise PolicyInvalid(f"{policies.name} and {tool.name} disagree")


@pytest.mark.opa
@pytest.mark.parametrize(("second", "passes"), [(lambda *_: "fine", True), (_fails, False)])
def test_every_step_is_run_and_its_result_printed(
    policies: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], second: Step, passes: bool
) -> None:
    monkeypatch.setattr(ci, "STEPS", (("one", second), ("two", ci.described)))
    assert ci.verify(policies) is passes
    printed = capsys.readouterr().out
    assert printed.startswith(f"policies: one: {'ok: fine' if passes else 'FAILED: policies and opa disagree'}\n")
    assert "policies: two: ok: " in printed


@pytest.mark.opa
@pytest.mark.parametrize(
    ("step", "edit"),
    [
        (ci.check, ("guardrails/motive.rego", "input.motive == null", "inputt.motive == null")),
        (ci.formatted, ("guardrails/motive.rego", "evaluated := true", "evaluated  :=  true")),
        (ci.tested, ("guardrails/motive.rego", "input.motive == null", "input.motive != null")),
        (ci.tested, ("guardrails/motive.rego", "evaluated := true", "evaluated := true\n\nidle := 1")),
        (ci.described, ("guardrails/motive.rego", "#   id: SEN-M001", "#   id: SEN-M002")),
        (ci.described, ("guardrails/motive.rego", "#   severity: medium", "#   severity: whatever")),
        (ci.described, ("guardrails/motive.rego", '"SEN-M001"', '"M1"')),
        (ci.described, ("guardrails/motive.rego", "SEN-M001", "SEN-C001")),
        (ci.identical, ("guardrails/motive.rego", "An agent must say", "An agent should say")),
        (ci.identical, ("data/network.json", "443", "8443")),
        (ci.identical, ("bundle/manifest.json", "1.22.0", "1.21.0")),
    ],
)
def test_each_mistake_is_found(policies: Path, opa_tool: Path, step: Step, edit: tuple[str, str, str]) -> None:
    file, old, new = edit
    _replace(policies / file, old, new)
    with pytest.raises(PolicyInvalid):
        step(policies, opa_tool)


def test_without_opa_it_fails(
    policies: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(opa_command, "find_opa", lambda: None)
    assert not ci.verify(policies)
    assert "no `opa`" in capsys.readouterr().out
