"""Writes records as large as most into a ledger, as fast as it is told: `python -m tests.bench.records DATA --first N --rate R --seconds S`.

A process of its own, so that it takes no time from the gateway whose feed shows them. Each quarter of a second it writes what is due by then,
so that the rate is kept on a busy machine too, or the last line says how many there were.
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Body, Record, Stage
from gateway.core.settings import Settings
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_body

_BEAT: Final = 0.25
_AT_ONCE: Final = 500
"""Most in a transaction, so that the gateway's own wait for a short time only."""
_MOTIVES: Final = (
    Motive(intent=Intent.COST, motivation=Motivation.BUDGET),
    Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("INC-7",)),
    Motive(intent=Intent.SECURITY, motivation=Motivation.VULNERABILITY, evidence=("CVE-2026-1",)),
)


def append_records(
    transaction: Transaction, start: int, count: int, at: Callable[[int], datetime] = lambda _: datetime.now(UTC)
) -> None:
    """Append records: of ten six are of calls that pass and two are outcomes of the first two of these, one is a denial and one of a stranger.

    One of a hundred is a report of what is left to a human. None changes a table.
    """
    for number in range(start, start + count):
        address = f"aws_sqs_queue.q{number % 1_009}"
        stage = {6: Stage.SETTLED, 7: Stage.SETTLED, 9: Stage.TURNED_AWAY}.get(number % 10, Stage.DECIDED)
        stage = Stage.RECONCILED if number % 100 == 99 else stage
        motive = _MOTIVES[number % 3] if stage is Stage.DECIDED else None
        verdict = "" if motive is None else "deny" if number % 10 == 8 else "allow"
        record = Record(
            at=at(number),
            mutation_id=f"mut_{number - 6 if stage is Stage.SETTLED else number}",
            actor=f"actor-{number % 97}",
            body=_about(_body(stage, number % 3, verdict), address, number),
        )
        transaction.append(record, motive=motive, verdict=verdict, resources=[(address, "tags")])


def _about(body: Body, address: str, number: int) -> Body:
    """The body of a decision about this resource; the others name none."""
    if not isinstance(body, DecidedBody):
        return body
    effects = tuple(msgspec.structs.replace(each, address=address, value=number) for each in body.effects)
    findings = tuple(msgspec.structs.replace(each, address=address) for each in body.decision.findings)
    decision = msgspec.structs.replace(body.decision, findings=findings)
    return msgspec.structs.replace(body, effects=effects, decision=decision)


@cache
def _body(stage: Stage, motive: int, verdict: str) -> Body:
    """A body of each kind, made once: to fill in the members that nobody gave takes longer than to write the record."""
    return sample_body(stage, _members(_MOTIVES[motive] if verdict else None, verdict))


def _members(motive: Motive | None, verdict: str) -> dict[str, Any]:
    if motive is None:
        reason = "The code computes it from another value."
        left = {"address": "aws_sqs_queue.q1", "attribute": "tags", "value": 1, "reason": reason, "chain": []}
        return {"outcome": "applied", "reason": "x" * 700, "left": [left]}
    effect: Json = {"address": "", "attribute": "tags", "action": "set", "value": 0, "before": None}
    finding: Json = {"check": "bounds", "verdict": verdict, "rule": "bounds.max", "reason": "Told.", "address": ""}
    told: dict[str, Json] = {"intent": motive.intent.value, "motivation": motive.motivation.value, "text": ""}
    return {
        "caller": {"kind": "agent"},
        "call": {"service": "sqs", "operation": "TagQueue", "parameters": {"padding": "x" * 700}},
        "motive": {**told, "evidence": list(motive.evidence), "wanted_seconds": None},
        "effects": [effect],
        "decision": {"verdict": verdict, "findings": [finding], "mode": "enforce"},
    }


def main() -> None:
    """Write, and print how many there were in how many seconds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    asyncio.run(_write(Settings(data=given.data), given.first, given.rate, given.seconds))


async def _write(settings: Settings, first: int, rate: int, seconds: float) -> None:
    async with open_sealed_ledger(settings) as ledger:
        began, written = time.monotonic(), 0
        while (passed := time.monotonic() - began) < seconds:
            while due := min(_AT_ONCE, int(passed * rate) - written):
                await ledger.write(partial(append_records, start=first + written, count=due))
                written += due
            await asyncio.sleep(max(0.0, began + passed + _BEAT - time.monotonic()))
        print(written, time.monotonic() - began, flush=True)


if __name__ == "__main__":
    main()
