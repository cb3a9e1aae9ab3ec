"""What a call did that nobody understood: what it names and what differs is its effect, the rest is left."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.unread_call import UnreadCall
from reconciler.line.unread_calls import ReadCall, read_call
from reconciler.terraform.plan import ResourceChange, TerraformPlan
from tests.kit.doubles import NOW

RULE = "aws_cloudwatch_event_rule.nightly"
OTHER = "aws_cloudwatch_event_rule.hourly"
QUEUE = "aws_sqs_queue.jobs"
UNREAD = UnreadCall(types=frozenset({"aws_cloudwatch_event_rule"}), names=frozenset({"nightly"}))
LIVE: Mapping[str, Mapping[str, Json]] = {
    RULE: {"id": "nightly", "name": "nightly", "state": "DISABLED"},
    OTHER: {"id": "hourly", "name": "hourly", "state": "DISABLED"},
    QUEUE: {"id": "q", "name": "nightly", "delay_seconds": 5},
}


def _change(address: str, attribute: str = "state", live: Json = "DISABLED", **members: Any) -> ResourceChange:
    return ResourceChange(address=address, attribute=attribute, live=live, other="ENABLED", **members)


def _plan(*changes: ResourceChange) -> TerraformPlan:
    return TerraformPlan(changes=changes, drift=changes, configured={}, outputs=(), objects=LIVE)


async def _read(plan: TerraformPlan | None, *, kind: str = "agent", unread: UnreadCall = UNREAD) -> ReadCall:
    applied = AppliedMutation(
        id="mut_1",
        seq=1,
        stack="shop",
        actor="a",
        kind=kind,
        at=NOW,
        settled_at=NOW,
        operation="events:DisableRule",
        effects=(),
        unread=unread,
    )
    return await read_call(applied, plan, Backlog(stack="shop"), Any)  # type: ignore[arg-type]  # nothing is recalled


async def test_what_it_names_and_what_differs_is_what_it_did() -> None:
    found = await _read(_plan(_change(RULE)))
    [effect] = found.applied.effects
    assert (effect.address, effect.attribute, effect.action, effect.value) == (
        RULE,
        "state",
        EffectAction.SET,
        "DISABLED",
    )
    assert found.applied.before == {(RULE, "state"): "ENABLED"}
    assert (found.left, found.nothing_to_do) == ((), "")


async def test_a_resource_that_is_gone_was_deleted() -> None:
    found = await _read(_plan(_change(RULE, "*", None, actions=("delete",))))
    assert [(each.attribute, each.action) for each in found.applied.effects] == [("*", EffectAction.DELETE)]


async def test_what_else_differs_in_its_service_is_left() -> None:
    found = await _read(_plan(_change(OTHER), _change(QUEUE, "delay_seconds", 5)))
    assert not found.applied.effects
    [left] = found.left
    assert (left.wanted.address, left.wanted.value) == (OTHER, "DISABLED")
    assert "events:DisableRule" in left.reason


async def test_a_secret_is_left_without_its_value() -> None:
    found = await _read(_plan(_change(RULE, "description", "hunter2", sensitive=True)))
    assert ([each.wanted.value for each in found.left], found.applied.effects) == ([None], ())


@pytest.mark.parametrize("plan", [None, _plan(), _plan(_change(QUEUE, "delay_seconds", 5))])
async def test_a_call_that_shows_no_difference_is_left_itself(plan: TerraformPlan | None) -> None:
    [left] = (await _read(plan)).left
    assert (left.wanted.address, "Sentinel-Mutation: mut_1" in left.reason) == ("events:DisableRule", True)


async def test_what_terraform_did_comes_from_the_code() -> None:
    found = await _read(None, kind="pipeline")
    assert (found.left, found.nothing_to_do) == ((), "Terraform itself did it, from code that says so.")


async def test_a_call_that_only_does_something_needs_no_look() -> None:
    only = UnreadCall(types=UNREAD.types, names=UNREAD.names, only_invokes=True)
    assert (await _read(None, unread=only)).left == ()
    touched = UnreadCall(types=frozenset(), names=frozenset(), touched=frozenset({QUEUE}))
    found = await _read(_plan(_change(QUEUE, "delay_seconds", 5)), unread=touched)
    assert [each.address for each in found.applied.effects] == [QUEUE]
    assert (await _read(None, unread=touched)).nothing_to_do
