"""Fills a ledger with records of many kinds, actors and resources, and tells without SQL which of them fit a query."""

import random
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive, motive_to_json
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACTORS: Final = ("ana", "bot", "cron")
VERDICTS: Final = ("allow", "hold", "deny")
_INTENTS: Final = (Intent.COST, Intent.AVAILABILITY)
_MOTIVATIONS: Final = (Motivation.BUDGET, Motivation.INCIDENT)
_OTHERS: Final = (Stage.SETTLED, Stage.TURNED_AWAY, Stage.RECONCILED)
_AT_ONCE: Final = 1_000


async def append_many(ledger: SqlLedger, count: int, *, seed: int = 1, resources: int = 4, first: int = 0) -> None:
    """Append as many records, one a second from noon on or `first` seconds later, the same for the same seed. None changes another table."""
    drawn = random.Random(seed)  # noqa: S311  the same each time
    for start in range(first, first + count, _AT_ONCE):
        await ledger.write(
            partial(_append, drawn=drawn, start=start, count=min(_AT_ONCE, first + count - start), resources=resources)
        )


def _append(transaction: Transaction, *, drawn: random.Random, start: int, count: int, resources: int) -> None:
    for number in range(start, start + count):
        decided = drawn.random() < 0.6
        motive = None
        if decided and drawn.random() < 0.8:
            motive = Motive(intent=drawn.choice(_INTENTS), motivation=drawn.choice(_MOTIVATIONS), evidence=("A-1",))
        verdict = drawn.choice(VERDICTS) if decided else ""
        actor = drawn.choice(ACTORS)
        addresses = {f"aws_sqs_queue.q{drawn.randrange(resources)}" for _ in range(drawn.randrange(3))}
        record = sample_record(
            stage=Stage.DECIDED if decided else drawn.choice(_OTHERS),
            at=NOON + timedelta(seconds=number),
            mutation_id=f"mut_{number // 2}",
            actor=actor,
            stack=" ".join(sorted(addresses)),
            body=_body(motive, verdict, addresses, key_of(actor)) if decided else {},
        )
        pairs = [(address, attribute) for address in addresses for attribute in ("tags", "delay")]
        transaction.append(record, motive=motive, verdict=verdict, resources=pairs)


def key_of(actor: str) -> str:
    """The key that an actor's decided records name."""
    return f"SNTL{actor}"


def _body(motive: Motive | None, verdict: str, addresses: Collection[str], key_id: str) -> dict[str, Json]:
    # Half of the parameters look like a motive without evidence, and like another key.
    decoy: Json = {"evidence": [], "key_id": key_of("ana")} if len(addresses) == 1 else {}
    caller: Json = {"key_id": key_id}
    # A hold that is attached to another one has no row of its own.
    decision: Json = {"verdict": verdict, "attached": "mut_0"}
    return {"motive": motive_to_json(motive), "caller": caller, "decision": decision, "call": {"parameters": decoy}}


def fitting(records: Sequence[Record], query: RecordQuery) -> list[int]:
    """The numbers of those of the records, which are in order, that the query asks for."""
    numbers = [record.seq for record in records if _fits(record, query)]
    return (numbers[::-1] if query.newest_first else numbers)[: query.limit]


def _key_id(record: Record) -> str:
    return record.body.caller.key_id if isinstance(record.body, DecidedBody) else ""


def _fits(record: Record, query: RecordQuery) -> bool:
    body = record.body if isinstance(record.body, DecidedBody) else None
    told = motive_to_json(body.motive.motive) or {} if body and body.motive else {}
    addresses = record.stack.split()
    asked = (query.actor, query.stage or "", query.verdict, query.intent, query.motivation, query.mutation_id)
    verdict = body.decision.verdict if body else ""
    own = (record.actor, record.stage, verdict, told.get("intent"), told.get("motivation"), record.mutation_id)
    return (
        all(wanted in ("", value) for wanted, value in zip(asked, own, strict=True))
        and (not query.resource or any(str(each).startswith(query.resource) for each in addresses))
        and (not query.refused or record.stage is Stage.TURNED_AWAY or verdict == "deny")
        and query.key_id in ("", _key_id(record))
        and (not query.no_evidence or (record.stage is Stage.DECIDED and not told.get("evidence")))
        and (query.since or record.at) <= record.at <= (query.until or record.at)
        and query.after_seq < record.seq < (query.before_seq or record.seq + 1)
    )
