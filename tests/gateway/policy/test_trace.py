"""What each rule made of an input: its conditions with their values and places, from opa's own trace."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.line.checks.policy_input import policy_input
from gateway.policy.trace import RuleTrace, traced
from tests.kit.nouns import effect, facts, mutation, subject

pytestmark = pytest.mark.opa
RULE = """package sentinel.rules.extra

# METADATA
# title: Not so long
# custom:
#   id: T-1
findings contains {"id": "T-1", "verdict": "deny", "message": "No.", "address": e.address, "attribute": ""} if {
	input.caller.kind in {"agent", "service"}
	some e in input.mutation.effects
	e.attribute == "delay_seconds"
	e.value > 600
}

concerned := set()
"""


def rule(policies: Path, tool: Path, value: Any) -> tuple[RuleTrace, tuple[Any, ...]]:
    """What the added rule made of a set delay, and what was compared."""
    (policies / "guardrails" / "extra.rego").write_text(RULE)
    wanted = effect(attribute="delay_seconds", value=value)
    document = policy_input(
        mutation(wanted, effect(attribute="other")), facts(subject(wanted), subject(effect("aws_x.y", "other")))
    )
    trace = traced(policies, tool, "sentinel/guardrails/result", document)
    [found] = [each for each in trace.rules if each.rule == "T-1"]
    return found, trace.compared


def test_a_rule_that_does_not_fire_says_at_which_condition(policies: Path, opa_tool: Path) -> None:
    found, compared = rule(policies, opa_tool, 300)
    assert (found.fired, found.title, found.source) == (False, "Not so long", "guardrails/extra.rego:7")
    assert [(each.text, each.source.partition(":")[2], each.held) for each in found.conditions] == [
        ('input.caller.kind in {"agent", "service"}', "8", True),
        ("some e in input.mutation.effects", "9", True),
        ('e.attribute == "delay_seconds"', "10", True),
        ("e.value > 600", "11", False),
    ]
    assert found.conditions[-1].values == {"e.value": 300}
    assert 600 in compared


def test_of_a_rule_that_fires_every_condition_holds(policies: Path, opa_tool: Path) -> None:
    found, _ = rule(policies, opa_tool, 900)
    assert found.fired
    assert all(each.held for each in found.conditions)
    assert found.conditions[-1].values == {"e.value": 900}


def test_policies_that_opa_cannot_read_say_where(policies: Path, opa_tool: Path) -> None:
    (policies / "guardrails" / "extra.rego").write_text("package sentinel.rules.extra\n\nfindings contains {")
    with pytest.raises(PolicyInvalid, match=r"extra\.rego"):
        traced(policies, opa_tool, "sentinel/guardrails/result", {})
