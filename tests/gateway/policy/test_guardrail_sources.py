"""Guardrail packages that could not be evaluated are refused before they are compiled, with file and line."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy.bundle import build
from gateway.policy.sources import check_guardrails, guardrail_packages, parsed_modules, read_sources

pytestmark = pytest.mark.opa

FINDING = '{"id": "A-1", "verdict": "hold", "message": "Wait for a person.", "address": "", "attribute": ""}'


def _written(policies: Path, text: str, name: str = "extra") -> Path:
    (policies / "guardrails" / f"{name}.rego").write_text(text)
    return policies


def test_the_shipped_packages_are_found_and_say_nothing_but_findings(policies: Path, opa_tool: Path) -> None:
    modules = parsed_modules(policies, opa_tool)
    assert set(guardrail_packages(modules)) == {
        *("comprehension", "data_loss", "destinations", "disruption", "execution", "exposure", "identity", "motive"),
        *("network", "proxies", "cost", "freezes", "instance_families", "regions", "tags"),
    }
    check_guardrails(policies, opa_tool, modules)


@pytest.mark.parametrize(
    "body",
    [
        f"findings contains {FINDING} if input.x",
        f"evaluated := true\n\nfindings contains {FINDING} if input.x",
        f"default evaluated := true\n\nfindings contains {FINDING} if input.x",
        "findings contains found if some found in input.made",
    ],
)
def test_a_package_needs_only_findings(policies: Path, opa_tool: Path, body: str) -> None:
    check_guardrails(_written(policies, f"package sentinel.rules.extra\n\n{body}\n"), opa_tool)


def test_findings_and_the_rest_may_be_in_two_files(policies: Path, opa_tool: Path) -> None:
    _written(policies, "package sentinel.rules.extra\n\nkinds := {1}\n", "kinds")
    check_guardrails(
        _written(policies, f"package sentinel.rules.extra\n\nfindings contains {FINDING} if 1 in kinds\n"), opa_tool
    )


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("package sentinel.rules.extra\n\nfinding contains 1 if input.x", 1, "has no findings"),
        ("# Above.\n\npackage sentinel.rules.extra\n\nkinds := {1}", 3, "has no findings"),
        (f"package sentinel.rules.extra\n\nfindings := [{FINDING}] if input.x", 3, "`findings contains"),
        (f"package sentinel.rules.extra\n\nfindings[x] := {FINDING} if x := input.x", 3, "`findings contains"),
        (f"package sentinel.rules.a.b\n\nfindings contains {FINDING} if input.x", 1, "is nested"),
        (
            f"package sentinel.rules.extra\n\nevaluated if input.x\n\nfindings contains {FINDING} if input.x",
            3,
            "depends on the input",
        ),
        (
            f"package sentinel.rules.extra\n\nevaluated := false\n\nfindings contains {FINDING} if input.x",
            3,
            "depends on the input",
        ),
        ('package sentinel.rules.extra\n\nfindings contains {"id": "A-1"} if input.x', 3, "lacks address, attribute"),
        (f'package sentinel.rules.extra\n\nfindings contains {FINDING[:-1]}, "adress": 1}} if input.x', 3, "no member adress"),
        (f"package sentinel.rules.extra\n\nfindings contains {FINDING.replace('hold', 'allow')} if input.x", 3, "cannot allow"),
    ],
)  # fmt: skip
def test_what_could_not_be_evaluated_is_refused_with_file_and_line(
    policies: Path, opa_tool: Path, text: str, place: int, reason: str
) -> None:
    _written(policies, text + "\n")
    with pytest.raises(PolicyInvalid, match="cannot be evaluated") as refused:
        build(read_sources(policies), opa_tool)
    assert f"guardrails/extra.rego:{place}: " in str(refused.value)
    assert reason in str(refused.value)
