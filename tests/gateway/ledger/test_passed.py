"""PASSED: one record with the counts, found by actor and resource; no table follows from it, and the ledger verifies."""

from datetime import timedelta
from typing import Any

from gateway.model.caller import ActorKind, Caller
from gateway.model.data_plane import DataTreatment, PassedCalls
from gateway.model.record import Stage
from gateway.ports import RecordQuery

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
        first.body
        == second.body
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
