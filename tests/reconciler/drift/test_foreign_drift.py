"""What a mutation set, may be setting, or set for a time is ours; the rest came from outside, with the resource that took a place."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.applied_mutation import AppliedMutation, applied_mutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.cloudtrail import Event, events_of
from reconciler.changes.outside_changes import OutsideChange, outside_changes
from reconciler.drift.foreign_drift import replaced_by_events, with_replacements
from reconciler.model import DriftOrigin
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan
from tests.kit import nouns
from tests.kit.mutations import record_mutation

Apply = Callable[..., Awaitable[str]]
QUEUE = "aws_sqs_queue.a"


def _change(address: str, before: Json, after: Json, actions: tuple[str, ...] = ("update",)) -> dict[str, Any]:
    return {
        "address": address,
        "mode": "managed",
        "change": {"actions": list(actions), "before": before, "after": after},
    }


def _plan(live: int = 5, *, state: int | None = 0, more: tuple[dict[str, Any], ...] = ()) -> TerraformPlan:
    """A plan in which the code declares 0, `live` is live, and the state says `state`; None if it was refreshed."""
    drift = [] if state is None else [_change(QUEUE, {"delay_seconds": state}, {"delay_seconds": live})]
    planned = [_change(QUEUE, {"delay_seconds": live, "id": "u"}, {"delay_seconds": 0, "id": "u"})]
    return read_plan({"resource_changes": planned, "resource_drift": [*drift, *more]})


async def _found(
    plan: TerraformPlan, ledger: SqlLedger, known: tuple[tuple[str, str], ...] = (), **origins: Any
) -> list[tuple[str, str, Json]]:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)

    async def recall(mutation: str) -> AppliedMutation | None:
        records = await ledger.records(RecordQuery(mutation_id=mutation, stage=Stage.DECIDED))
        return applied_mutation(records[0], {}) if records else None

    found = await outside_changes(plan, origins, backlog, recall, known)  # type: ignore[arg-type]
    return [(each.change.address, each.change.attribute, each.change.live) for each in found]


async def test_drift_that_nothing_explains_came_from_outside(ledger: SqlLedger) -> None:
    assert await _found(_plan(), ledger) == [(QUEUE, "delay_seconds", 5)]


async def test_code_that_is_ahead_of_the_state_is_no_drift(ledger: SqlLedger) -> None:
    assert await _found(_plan(state=None), ledger) == []


async def test_a_refresh_of_the_state_ends_no_change_from_outside(ledger: SqlLedger, applied: Apply) -> None:
    known = ((QUEUE, "delay_seconds"),)
    assert await _found(_plan(state=None), ledger, known) == [(QUEUE, "delay_seconds", 5)]
    await applied((QUEUE, "delay_seconds", 0, 5))
    assert await _found(_plan(state=None), ledger, known) == [], "a mutation set it since"


@pytest.mark.parametrize("wanted_for", [None, timedelta(hours=1)])
async def test_what_a_mutation_set_is_ours_also_if_only_for_a_time(
    ledger: SqlLedger, applied: Apply, wanted_for: timedelta | None
) -> None:
    """A change wanted for a time is passing: neither its own write-back nor the look from outside puts it into code."""
    await applied((QUEUE, "delay_seconds", 0, 5), wanted_for=wanted_for)
    assert await _found(_plan(5), ledger) == []
    assert await _found(_plan(6), ledger) == [(QUEUE, "delay_seconds", 6)], "somebody changed it since"


@pytest.mark.parametrize("attributes", [(), (("delay_seconds", 0),)], ids=["by default", "by the call"])
async def test_what_was_changed_since_terraform_created_it_came_from_outside(
    ledger: SqlLedger, attributes: tuple[tuple[str, Json], ...]
) -> None:
    """The whole stack may have been created through the gate: that explains none of its later changes."""
    made = ((WHOLE, None), ("name", "a"), *attributes)
    effects = [(nouns.effect(QUEUE, name, value, action=EffectAction.CREATE), None) for name, value in made]
    await record_mutation(ledger, effects, caller=nouns.caller("terraform", ActorKind.PIPELINE))
    assert await _found(_plan(5), ledger) == [(QUEUE, "delay_seconds", 5)]


async def test_what_may_be_being_set_is_not_judged(ledger: SqlLedger, applied: Apply) -> None:
    await applied((QUEUE, "delay_seconds", 0, 9), settle=False)
    assert await _found(_plan(5), ledger) == []


async def test_another_attribute_of_ours_explains_nothing(ledger: SqlLedger, applied: Apply) -> None:
    await applied((QUEUE, "visibility_timeout_seconds", 30, 60))
    assert await _found(_plan(5), ledger) == [(QUEUE, "delay_seconds", 5)]


async def test_a_resource_that_vanished_is_found_as_a_whole(ledger: SqlLedger) -> None:
    gone = _change("aws_sqs_queue.b", {"delay_seconds": 0}, None, ("delete",))
    assert await _found(_plan(more=(gone,)), ledger) == [(QUEUE, "delay_seconds", 5), ("aws_sqs_queue.b", "*", None)]


async def test_an_id_lasts_while_the_value_does(ledger: SqlLedger) -> None:
    backlog = Backlog(stack="shop")

    async def nothing(_: str) -> None:
        return None

    origin = DriftOrigin(actor="bob", event="sqs:SetQueueAttributes", at=datetime(2026, 1, 2, tzinfo=UTC))
    [one] = await outside_changes(_plan(5), {(QUEUE, "delay_seconds"): origin}, backlog, nothing)
    [same] = await outside_changes(_plan(5), {}, backlog, nothing)
    [other] = await outside_changes(_plan(6), {}, backlog, nothing)
    assert one.origin == origin
    assert one.id_of("shop", 0) == same.id_of("shop", 0) != other.id_of("shop", 0)
    assert one.id_of("shop", 1) != one.id_of("shop", 0) != one.id_of("cart", 0)


WEB, LOGS = "aws_security_group.web", "aws_cloudwatch_log_group.l"
AT = datetime(2026, 1, 2, tzinfo=UTC)
LIVE: dict[str, Json] = {"import_id": "sg-2", "replaces": "sg-1"}


def _plan_of_replacement(old: str = "sg-1") -> TerraformPlan:
    """The group is gone, and a tag elsewhere names it."""

    def entry(address: str, actions: list[str], before: Any, after: Any, unknown: Any = None) -> dict[str, Any]:
        change = {"actions": actions, "before": before, "after": after, "after_unknown": unknown or {}}
        return {"address": address, "mode": "managed", "change": change}

    return read_plan(
        {
            "resource_drift": [entry(WEB, ["delete"], {"id": old, "name": "web"}, None)],
            "resource_changes": [
                entry(WEB, ["create"], None, {"name": "web"}),
                entry(LOGS, ["update"], {"tags": {"g": "sg-2"}}, {"tags": {}}, {"tags": {"g": True}}),
            ],
        }
    )


def _events() -> tuple[Event, ...]:
    record = {
        "eventSource": "ec2.amazonaws.com",
        "eventName": "CreateSecurityGroup",
        "eventTime": AT.isoformat(),
        "userIdentity": {"type": "IAMUser", "userName": "mallory"},
        "requestParameters": {"groupName": "web", "groupDescription": "second"},
        "responseElements": {"groupId": "sg-2"},
    }
    return events_of([record], "here").events


FOUND = tuple(
    OutsideChange(change=ResourceChange(address=address, attribute=attribute), origin=None)
    for address, attribute in ((WEB, "*"), (LOGS, "tags"))
)


def test_events_say_what_took_its_place_and_who_did_it() -> None:
    ((replaced, origin),) = replaced_by_events(_plan_of_replacement(), _events())
    assert (replaced.address, replaced.old_id, origin.actor) == (WEB, "sg-1", "mallory")
    (found,) = with_replacements(_plan_of_replacement(), FOUND, _events(), {})
    assert (found.change.live, found.change.other, found.change.address) == (LIVE, "sg-1", WEB)
    assert found.origin is not None


def test_without_events_it_stays_gone() -> None:
    assert with_replacements(_plan_of_replacement(), FOUND, (), {}) == FOUND


def test_what_was_found_before_stays_after_the_events_are_gone() -> None:
    (found,) = with_replacements(_plan_of_replacement(), FOUND, (), {(WEB, "*"): LIVE})
    assert found.change.live == LIVE
    both = with_replacements(_plan_of_replacement(), FOUND, (), {(WEB, "*"): LIVE, (LOGS, "tags"): {}})
    assert [each.change.address for each in both] == [WEB, LOGS]


def test_another_resource_in_the_state_is_another_story() -> None:
    assert with_replacements(_plan_of_replacement("sg-9"), FOUND, (), {(WEB, "*"): LIVE}) == FOUND
