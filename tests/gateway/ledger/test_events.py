"""Events are appended once for each id and stage, and change no other table."""

from datetime import UTC, datetime

import pytest

from gateway.errors import Malformed
from gateway.ledger.events import EVENTS
from gateway.ledger.ledger import SqlLedger
from gateway.model.ids import digest_id
from gateway.model.record import Record, Stage
from gateway.ports import RecordQuery
from tests.kit.sealed import KEYS

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def _event(stage: Stage = Stage.PROPOSED, *parts: str) -> Record:
    return Record(stage=stage, at=NOW, mutation_id=digest_id("prp", *parts), stack="shop", body={"state": "open"})


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
            await ledger.record_event(Record(stage=Stage.PROPOSED, at=NOW))
    finally:
        await ledger.close()
