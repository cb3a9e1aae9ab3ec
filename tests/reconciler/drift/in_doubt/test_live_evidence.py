"""The live values show that a mutation was applied, or, once AWS accepts it no more, that it was not; or they show nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer, DoubtVerdict, judge_live_values, unreadable
from reconciler.terraform.refresh import Refreshed
from tests.kit.nouns import effect

NOW = datetime(2026, 11, 21, tzinfo=UTC)
Q, R = "aws_sqs_queue.a", "aws_sqs_queue.b"


def mutation(*effects: tuple[Effect, Json]) -> AppliedMutation:
    return AppliedMutation(
        id="mut_1",
        seq=1,
        stack="shop",
        actor="agent",
        at=NOW,
        operation="sqs:SetQueueAttributes",
        effects=tuple(made for made, _ in effects),
        before={(made.address, made.attribute): before for made, before in effects},
        settled_at=NOW,
    )


def live(**objects: Any) -> Refreshed:
    """Resources of type aws_sqs_queue; None for one that does not exist."""
    found = {f"aws_sqs_queue.{name}": values for name, values in objects.items() if values is not None}
    return Refreshed(read=frozenset(f"aws_sqs_queue.{name}" for name in objects), objects=found)


def change(action: EffectAction) -> Effect:
    return effect(Q, WHOLE, None, action=action)


ONE = mutation((effect(Q, "delay", 6), 4))
TWO = mutation((effect(Q, "delay", 6), 4), (effect(R, "delay", 6), 4))

FINAL = {
    "asked": (ONE, live(a={"delay": 6}), DoubtAnswer.APPLIED),
    "asked, as text": (ONE, live(a={"delay": "6"}), DoubtAnswer.APPLIED),
    "before": (ONE, live(a={"delay": 4}), DoubtAnswer.FAILED),
    "neither": (ONE, live(a={"delay": 5}), DoubtAnswer.HUMAN),
    "gone": (ONE, live(a=None), DoubtAnswer.HUMAN),
    "absent": (ONE, live(a={}), DoubtAnswer.HUMAN),
    "not read, but in the old state": (ONE, Refreshed(read=frozenset(), objects={Q: {"delay": 6}}), DoubtAnswer.HUMAN),
    "both asked": (TWO, live(a={"delay": 6}, b={"delay": 6}), DoubtAnswer.APPLIED),
    "both before": (TWO, live(a={"delay": 4}, b={"delay": 4}), DoubtAnswer.FAILED),
    "mixed": (TWO, live(a={"delay": 6}, b={"delay": 4}), DoubtAnswer.HUMAN),
    "half read": (TWO, live(a={"delay": 6}), DoubtAnswer.HUMAN),
    "half restated": (mutation((effect(Q, "delay", 6), 4), (effect(Q, "size", 1), 1)), live(a={"delay": 4, "size": 1}), DoubtAnswer.FAILED),
    "all restated": (mutation((effect(Q, "size", 1), 1)), live(a={"size": 1}), DoubtAnswer.APPLIED),
    "restated, and changed by another": (mutation((effect(Q, "size", 1), 1)), live(a={"size": 2}), DoubtAnswer.HUMAN),
    "a map with keys fewer than before": (mutation((effect(Q, "tags", {"a": "1"}), {"a": "1", "b": "2"})), live(a={"tags": {"a": "1", "b": "2"}}), DoubtAnswer.FAILED),
    "a map to which the provider adds": (mutation((effect(Q, "tags", {"a": "1"}), {})), live(a={"tags": {"a": "1", "z": ""}}), DoubtAnswer.APPLIED),
    "unset": (mutation((effect(Q, "policy", None), "{}")), live(a={"policy": ""}), DoubtAnswer.APPLIED),
    "a secret beside a value": (mutation((effect(Q, "delay", 6), 4), (effect(Q, "key", {"sha256": "x"}, sensitive=True), None)), live(a={"delay": 6}), DoubtAnswer.APPLIED),
    "a deletion": (mutation((change(EffectAction.DELETE), None)), live(a=None), DoubtAnswer.APPLIED),
    "no deletion": (mutation((change(EffectAction.DELETE), None)), live(a={}), DoubtAnswer.FAILED),
    "a deletion of what is not in the state": (mutation((change(EffectAction.DELETE), None)), live(), DoubtAnswer.HUMAN),
    "a creation": (mutation((change(EffectAction.CREATE), None)), live(a={}), DoubtAnswer.APPLIED),
    "a creation that Terraform does not see": (mutation((change(EffectAction.CREATE), None)), live(), DoubtAnswer.HUMAN),
}  # fmt: skip


@pytest.mark.parametrize("case", FINAL.values(), ids=FINAL.keys())
def test_after_the_window_values_decide(case: tuple[AppliedMutation, Refreshed, DoubtAnswer]) -> None:
    applied, seen, expected = case
    assert unreadable(applied) == ""
    verdict = judge_live_values(applied, seen, final=True)
    assert verdict.answer is expected
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize("case", FINAL.values(), ids=FINAL.keys())
def test_while_aws_may_still_accept_it_only_applied_is_concluded(
    case: tuple[AppliedMutation, Refreshed, DoubtAnswer],
) -> None:
    applied, seen, expected = case
    early = judge_live_values(applied, seen, final=False).answer
    assert early is (DoubtAnswer.APPLIED if expected is DoubtAnswer.APPLIED else DoubtAnswer.WAIT)


@pytest.mark.parametrize("resource", ["aws_db_instance.a", "aws_rds_cluster.a", "aws_elasticache_cluster.a"])
def test_what_aws_carries_out_later_is_never_taken_as_not_carried_out(resource: str) -> None:
    applied = mutation((effect(resource, "size", 6), 4))
    seen = Refreshed(read=frozenset({resource}), objects={resource: {"size": 4}})
    verdict = judge_live_values(applied, seen, final=True)
    assert verdict.answer is DoubtAnswer.HUMAN
    assert "maintenance window" in verdict.reason


UNREADABLE = {
    "an action": (effect(Q, WHOLE, None, action=EffectAction.INVOKE), "runs an action"),
    "an undeclared resource": (effect(Q, "delay", 6, declared=False), "No block in the code"),
    "secrets alone": (effect(Q, "key", {"sha256": "x"}, sensitive=True), "secret"),
    "a whole resource": (effect(Q, WHOLE, {}), "not known"),
}


@pytest.mark.parametrize("case", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_no_value_shows_is_said_before_anything_is_read(case: tuple[Effect, str]) -> None:
    made, words = case
    assert words in unreadable(mutation((made, None)))


def test_an_action_beside_values_is_not_judged_by_them() -> None:
    both = mutation((effect(Q, "delay", 6), 4), (effect(Q, WHOLE, None, action=EffectAction.INVOKE), None))
    assert "runs an action" in unreadable(both)


def test_no_effect_at_all_shows_nothing() -> None:
    assert unreadable(mutation())


def test_a_reason_holds_no_value() -> None:
    seen = live(a={"delay": "swordfish"})
    assert "swordfish" not in judge_live_values(ONE, seen, final=True).reason


@pytest.mark.parametrize("answer", DoubtAnswer)
def test_a_verdict_survives_the_way_through_dbos(answer: DoubtAnswer) -> None:
    verdict = DoubtVerdict(answer=answer, reason="Because.", request_id="r-1")
    assert DoubtVerdict.from_json(verdict.to_json()) == verdict
