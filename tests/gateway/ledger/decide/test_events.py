"""Events are appended once for each id and stage, and change no other table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.data_plane import PassedCalls
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.ids import digest_id
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.decide.events import EVENTS
from gateway.ledger.ledger import SqlLedger
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def _event(stage: Stage = Stage.PROPOSED, *parts: str) -> Record:
    return sample_record(
        stage=stage,
        at=NOW,
        mutation_id=digest_id("prp", *parts),
        stack="shop",
        body={"state": "open"} if stage is Stage.PROPOSED else {},
    )


async def test_an_event_is_stored_once_and_found_by_its_resource(tmp_path: object) -> None:
    ledger = await SqlLedger.open(f"sqlite:///{tmp_path}/ledger.db", KEYS)
    try:
        assert await ledger.record_event(_event(Stage.DRIFTED, "a"), resources=[("aws_sqs_queue.a", "delay_seconds")])
        assert not await ledger.record_event(_event(Stage.DRIFTED, "a"))
        assert await ledger.record_event(_event(Stage.DRIFT_DECIDED, "a"))
        assert await ledger.record_event(_event(Stage.DRIFT_DECIDED, "a"), repeat=True)
        assert await ledger.record_event(_event(Stage.DRIFTED, "b"))
        found = await ledger.records(RecordQuery(resource="aws_sqs_queue.a"))
        assert [record.stage for record in found] == [Stage.DRIFTED]
        assert await ledger.verify() == 4
    finally:
        await ledger.close()


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage not in EVENTS])
async def test_a_stage_with_consequences_is_no_event(tmp_path: object, stage: Stage) -> None:
    ledger = await SqlLedger.open(f"sqlite:///{tmp_path}/ledger.db", KEYS)
    try:
        with pytest.raises(Malformed, match="not an event"):
            await ledger.record_event(_event(stage, "a"))
        with pytest.raises(Malformed):
            await ledger.record_event(sample_record(stage=Stage.PROPOSED, at=NOW))
    finally:
        await ledger.close()


APP = Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTLAPP", on_behalf_of="ana")


async def test_the_counts_are_recorded_and_found(scene: Any) -> None:
    passed = PassedCalls(
        caller=APP,
        service="sqs",
        operation="SendMessage",
        stack="orders",
        treatment=DataTreatment.RECORD,
        count=380,
        errors=2,
        since=scene.now,
        until=scene.now + timedelta(seconds=59),
        resources={"aws_sqs_queue.orders": 380},
        others=1,
    )
    await scene.ledger.record_passed([passed, passed], scene.now + timedelta(minutes=1))
    first, second = await scene.ledger.records(RecordQuery(resource="aws_sqs_queue.orders", actor="app"))
    assert (first.stage, first.stack, first.actor, first.mutation_id) == (Stage.PASSED, "orders", "app", "")
    assert (
        first.body.members
        == second.body.members
        == {
            "caller": {"kind": "service", "key_id": "SNTLAPP", "on_behalf_of": "ana"},
            "call": {"service": "sqs", "operation": "SendMessage", "class": "data"},
            "door": "aws",
            "treatment": "record",
            "count": 380,
            "errors": 2,
            "since": "2026-03-01T12:00:00.000000Z",
            "until": "2026-03-01T12:00:59.000000Z",
            "resources": [{"address": "aws_sqs_queue.orders", "count": 380}],
            "other_resources": 1,
        }
    )
    assert await scene.ledger.verify() == 2
