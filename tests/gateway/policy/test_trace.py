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


HELPED = """package sentinel.rules.extra

# METADATA
# title: Not so long
# custom:
#   id: T-1
findings contains {"id": "T-1", "verdict": "hold", "message": "no", "address": "", "attribute": ""} if {
	some e in input.mutation.effects
	long(e)
	not excepted
}

long(e) if {
	e.attribute == "delay_seconds"
	e.value > limit
}

limit := 600 if input.caller.kind == "agent"

limit := 700 if input.caller.kind != "agent"

excepted if {
	some role in input.caller.roles
	role == "oncall"
}

concerned := set()
"""


@pytest.mark.parametrize("value", [300, 900])
def test_a_helper_shows_its_own_conditions_with_their_values(policies: Path, opa_tool: Path, value: int) -> None:
    (policies / "guardrails" / "extra.rego").write_text(HELPED)
    wanted = effect(attribute="delay_seconds", value=value)
    document = policy_input(mutation(wanted), facts(subject(wanted)))
    trace = traced(policies, opa_tool, "sentinel/guardrails/result", document)
    [found] = [each for each in trace.rules if each.rule == "T-1"]
    [asked] = [each for each in found.conditions if each.text == "long(e)"]
    [helper] = asked.helpers
    assert (helper.rule, helper.source, helper.fired) == (
        "sentinel.rules.extra.long",
        "guardrails/extra.rego:13",
        value > 600,
    )
    last = helper.conditions[-1]
    assert (last.text, last.held, last.values["e.value"]) == ("e.value > limit", value > 600, value)
    limits = {each.source.partition(":")[2]: each for each in last.helpers}
    assert {source: each.fired for source, each in limits.items()} == {"18": True, "20": False}
    assert limits["18"].conditions[0].values == {"input.caller.kind": "agent"}
    if value > 600:
        [excepted] = [each for each in found.conditions if each.text == "not excepted"]
        assert [each.fired for each in excepted.helpers] == [False]


def test_policies_that_opa_cannot_read_say_where(policies: Path, opa_tool: Path) -> None:
    (policies / "guardrails" / "extra.rego").write_text("package sentinel.rules.extra\n\nfindings contains {")
    with pytest.raises(PolicyInvalid, match=r"extra\.rego"):
        traced(policies, opa_tool, "sentinel/guardrails/result", {})
