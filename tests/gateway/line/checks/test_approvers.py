"""What the policies say about approvers is taken strictly: a weaker rule never replaces an answer that is wrong."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.approval import USUAL
from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.approvers import ApproversPolicy
from gateway.line.checks.policy_input import PolicyInputs
from tests.gateway.line.checks.test_arbitration import facts, mutation

GOOD: dict[str, Json] = {
    "evaluated": True,
    "roles": [["approver"], ["dba"]],
    "people": 2,
    "longest_seconds": 600,
    "rejected_seconds": 0,
    "reason": "Two must.",
}
HELD = Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-X", reason="Ask.")


@dataclass
class Engine:
    """Answers everything with `answer`."""

    answer: Json
    has: bool = True
    revision: str = "r"
    flip_window: timedelta = timedelta(days=1)
    asked: list[Any] = field(default_factory=list)

    async def ask(self, entrypoint: str, document: Json) -> Json:
        self.asked.append((entrypoint, document))
        return self.answer

    def answers(self, entrypoint: str) -> bool:
        return self.has and bool(entrypoint)


async def _rule(engine: Engine) -> Any:
    policy = ApproversPolicy(engine, PolicyInputs())
    passed = Finding(check="bounds", verdict=Verdict.ALLOW, rule="bounds.passed", reason="Fine.")
    return await policy.rule(mutation("agent", ActorKind.AGENT, None), facts(None), (passed, HELD))


async def test_the_rule_is_what_the_policies_say_about_what_is_held() -> None:
    engine = Engine(GOOD)
    rule = await _rule(engine)
    assert (rule.people, rule.roles, rule.longest) == (2, (("approver",), ("dba",)), timedelta(minutes=10))
    ((entrypoint, document),) = engine.asked
    assert entrypoint == "sentinel/approvers/result"
    assert document["held"] == [{"rule": "SEN-X", "check": "policy", "address": "", "attribute": ""}]


async def test_policies_without_a_rule_have_the_usual_one() -> None:
    engine = Engine(None, has=False)
    assert await _rule(engine) == USUAL
    assert engine.asked == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"evaluated": False},
        {"people": 0},
        {"people": True},
        {"people": 11},
        {"roles": [[]]},
        {"roles": ["approver"]},
        {"roles": [[7]]},
        {"longest_seconds": 0},
        {"longest_seconds": 10**9},
        {"rejected_seconds": -1},
        {"reason": None},
        {"more": 1},
    ],
)
async def test_any_other_answer_is_refused(wrong: dict[str, Json]) -> None:
    with pytest.raises(PolicyUnavailable):
        await _rule(Engine({**GOOD, **wrong}))
