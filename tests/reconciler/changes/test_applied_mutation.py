"""A mutation is read back from its record as the ledger wrote it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import RecordedPart, RecordedSession, RecordedUse
from gateway.core.records.record import Stage
from gateway.core.records.time_boxes import PutsBack
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.applied_mutation import applied_mutation, carried_out, changes_attributes, readable_mutations
from tests.kit.bodies import sample_body, unreadable

Apply = Callable[..., Awaitable[str]]


async def test_everything_the_line_needs_is_read(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied(("aws_x.a", "size", 4, 6), evidence=("alert:lag",), wanted_for=timedelta(minutes=5))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    assert carried_out(record)
    found = applied_mutation(record, {})
    assert (found.id, found.stack, found.actor, found.kind) == (mutation, "shop", "agent-scaler", "agent")
    assert (found.intent, found.motivation, found.text) == ("availability", "incident", "lag grows")
    assert (found.evidence, found.wanted_seconds) == (("alert:lag",), 300)
    assert found.operation == "autoscaling:SetDesiredCapacity"
    assert found.before == {("aws_x.a", "size"): 4}
    (effect,) = found.effects
    assert (effect.address, effect.attribute, effect.value, effect.declared) == ("aws_x.a", "size", 6, True)


@pytest.mark.parametrize(
    ("change", "restated"),
    [
        ({"changes": False, "declared": None}, True),
        ({"changes": False, "declared": 6}, False),
        ({"changes": True, "declared": None}, False),
    ],
)
async def test_what_restates_a_default_is_recognized(
    ledger: SqlLedger, applied: Apply, change: dict[str, Json], restated: bool
) -> None:
    await applied(("aws_x.a", "size", 4, 6))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    body: Any = record.body.members
    body["effects"][0].update(change)
    found = applied_mutation(replace(record, body=sample_body(Stage.DECIDED, body)), {})
    assert found.restated == ({("aws_x.a", "size")} if restated else set())


@pytest.mark.parametrize(
    "body", [{}, {"call": None}, {"call": {"service": "x", "operation": "Y"}, "effects": [3]}, {"call": 3}]
)
async def test_a_body_that_no_release_wrote_is_an_error(
    ledger: SqlLedger, applied: Apply, body: dict[str, Json]
) -> None:
    await applied(("aws_sqs_queue.a", "size", 4, 6))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    torn = replace(record, body=unreadable(Stage.DECIDED, body))
    with pytest.raises(TypeError, match="cannot be read"):
        applied_mutation(torn, {})
    assert not carried_out(torn)
    assert [each.id for each in readable_mutations([torn, record], {})] == [record.mutation_id]


async def test_what_a_call_only_implied_is_not_written_back(ledger: SqlLedger, applied: Apply) -> None:
    await applied(("aws_x.a", "size", 4, 6))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    body: Any = record.body.members
    body["effects"].append({**body["effects"][0], "attribute": "capacity", "implied": True})
    assert [
        effect.attribute
        for effect in applied_mutation(replace(record, body=sample_body(Stage.DECIDED, body)), {}).effects
    ] == ["size"]


async def test_effects_have_the_address_that_the_resource_has_in_the_stack(ledger: SqlLedger, applied: Apply) -> None:
    await applied(("shop:aws_x.a", "size", 4, 6), ("dev:aws_x.a", "size", 4, 6), ("aws_x.b", "size", 4, 6))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    found = applied_mutation(record, {})
    assert [effect.address for effect in found.effects] == ["aws_x.a", "aws_x.b"]
    assert set(found.before) == {("aws_x.a", "size"), ("aws_x.b", "size")}


async def test_what_a_put_back_puts_back_is_read(ledger: SqlLedger, applied: Apply) -> None:
    await applied(("aws_x.a", "size", 6, 4))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    assert not applied_mutation(record, {}).passing
    back = replace(
        record,
        body=structs.replace(record.body, puts_back=PutsBack(mutation="mut_0", attributes=(("aws_x.a", "size"),))),
    )
    found = applied_mutation(back, {})
    assert (found.puts_back, found.passing) == ("mut_0", True)


async def test_what_a_plan_set_comes_from_the_code(ledger: SqlLedger, applied: Apply) -> None:
    await applied(("aws_x.a", "size", 4, 6))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    assert applied_mutation(record, {}).concerns_code
    part = RecordedPart(plan="mut_1", uses=(RecordedUse(address="aws_x.a", action=EffectAction.SET),))
    planned = replace(record, body=structs.replace(record.body, part=part))
    assert not applied_mutation(planned, {}).concerns_code
    assert applied_mutation(planned, {}).changed, "it explains what is live all the same"
    assert changes_attributes(planned)
    held_and_approved = replace(record, body=structs.replace(record.body, part=structs.replace(part, uses=())))
    assert applied_mutation(held_and_approved, {}).concerns_code
    plan = replace(record, body=structs.replace(record.body, plan=RecordedSession(key="k", until="u", changes=())))
    assert not changes_attributes(plan), "its calls change them"
