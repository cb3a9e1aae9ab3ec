"""A ledger with every kind of record, and its records as exports read them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.data_plane import PassedCalls
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.mutation import CallClass, Door
from gateway.core.records.record import Stage
from gateway.ledger.ask.exports import ExportedRecord, exported_records
from gateway.ledger.chain.hashes import START, ChainRow
from gateway.ledger.decide.events import EVENTS
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.statements import Session
from gateway.ledger.store.transaction import queried
from tests.kit.bodies import sample_body, sample_record
from tests.kit.history import NOW, History
from tests.kit.stores import KEYS

FAR = 10**9


async def write_history(url: str) -> None:
    """Fill a ledger with every stage that there is."""
    async with open_ledger(url, KEYS) as ledger:
        await History(ledger).write()
        caller = Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTLAPP")
        passed = PassedCalls(
            caller=caller,
            stack="shop",
            service="sqs",
            operation="SendMessage",
            call_class=CallClass.DATA,
            door=Door.AWS,
            treatment=DataTreatment.RECORD,
            count=7,
            errors=1,
            since=NOW,
            until=NOW,
            resources={"aws_sqs_queue.orders": 7},
        )
        await ledger.record_passed([passed], NOW)
        body: dict[str, Any] = {"address": "aws_sqs_queue.orders", "attribute": "delay", "reason": "=1+1"}
        for stage in sorted(EVENTS):
            told = sample_record(
                stage=stage, at=NOW, mutation_id=f"fgn_{stage}", actor="carol", stack="shop", body=body
            )
            await ledger.record_event(told, resources=[("aws_sqs_queue.orders", "delay")])


def records_of(store: Store) -> list[ExportedRecord]:
    """Every record, verified."""
    with store.connect() as connection:
        store.begin_snapshot(connection)
        return list(exported_records(Session(connection), KEYS.chain, START, FAR))


def opened(path: Path) -> Store:
    """The store of a ledger in this file."""
    return open_store(f"sqlite:///{path}")


def record(
    stage: Stage, body: Mapping[str, Any], *, decided: Mapping[str, Any] | None = None, **fields: Any
) -> ExportedRecord:
    """A record that no ledger has, with this body."""
    given: dict[str, Any] = {
        "version": 1,
        "seq": 7,
        "stage": stage.value,
        "at": "2026-11-22T12:00:00.000001Z",
        "mutation_id": "mut_1",
        "actor": "agent",
        "stack": "shop",
        "intent": "",
        "motivation": "",
        "verdict": "",
        **queried(sample_body(stage, body)),
        "body": msgspec.json.encode(body).decode(),
        "previous": "0" * 64,
        "hash": "ab" * 32,
        **fields,
    }
    return ExportedRecord(
        ChainRow(**given), body, (), decided if decided is not None else (body if stage is Stage.DECIDED else {})
    )
