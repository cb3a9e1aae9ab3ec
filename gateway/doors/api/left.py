"""What Sentinel left to a human: values that it did not write into the code, and mutations whose outcome nothing showed."""

from collections.abc import Sequence
from typing import Any

from gateway.doors.serialize import time_to_json
from gateway.model.json import to_json
from gateway.model.record import Record, Stage
from gateway.ports import DoubtLedger, LedgerQueries, RecordQuery

MOST_RECORDS = 10_000
"""How many of the newest reports of the reconciler are looked at."""


async def left_to_humans(queries: LedgerQueries, doubts: DoubtLedger, *, actor: str = "") -> list[dict[str, Any]]:
    """What is left to humans now, newest first; with `actor`, only of that actor's mutations. Raises `errors.LedgerUnavailable`."""
    query = RecordQuery(stage=Stage.RECONCILED, actor=actor, limit=MOST_RECORDS)
    unwritten = [entry for record in newest_of_each(await queries.records(query)) for entry in _unwritten(record)]
    unsettled = [
        _unsettled(records[0])
        for doubt in await doubts.in_doubt()
        if doubt.left_to_human
        and (records := await queries.records(_settled_query(doubt.mutation_id, actor)))
        and records[0].body.get("left_to_human")
    ]
    return sorted([*unwritten, *unsettled], key=lambda entry: str(entry["since"]), reverse=True)


def newest_of_each(records: Sequence[Record]) -> list[Record]:
    """The newest record of each mutation, from records with the newest first: a later report of the reconciler replaces an earlier one."""
    newest: dict[str, Record] = {}
    for record in records:
        newest.setdefault(record.mutation_id, record)
    return list(newest.values())


def _settled_query(mutation_id: str, actor: str) -> RecordQuery:
    return RecordQuery(mutation_id=mutation_id, stage=Stage.SETTLED, actor=actor, limit=1)


def _unwritten(record: Record) -> list[dict[str, Any]]:
    left: Any = to_json(record.body.get("left", ()))
    return [{**_common(record), "kind": "write_back", **entry} for entry in left]


def _unsettled(record: Record) -> dict[str, Any]:
    return {**_common(record), "kind": "in_doubt", "reason": record.body.get("reason", "")}


def _common(record: Record) -> dict[str, Any]:
    return {
        "mutation_id": record.mutation_id,
        "since": time_to_json(record.at),
        "actor": record.actor,
        "stack": record.stack,
    }
