"""Writes records as large as most into a ledger, as fast as it is told: `python -m tests.bench.records DATA --first N --rate R --seconds S`.

A process of its own, so that it takes no time from the gateway whose feed shows them. Each quarter of a second it writes what is due by then,
so that the rate is kept on a busy machine too, or the last line says how many there were.
"""

import argparse
import asyncio
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record

_BEAT: Final = 0.25
_AT_ONCE: Final = 500
"""Most in a transaction, so that the gateway's own wait for a short time only."""
_MOTIVES: Final = (
    Motive(intent=Intent.COST, motivation=Motivation.BUDGET),
    Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("INC-7",)),
    Motive(intent=Intent.SECURITY, motivation=Motivation.VULNERABILITY, evidence=("CVE-2026-1",)),
)


def append_records(transaction: Transaction, start: int, count: int) -> None:
    """Append records: of ten six are of calls that pass and two of their outcomes, one is a denial and one of a stranger. None changes a table."""
    now = datetime.now(UTC)
    for number in range(start, start + count):
        address = f"aws_sqs_queue.q{number % 1_009}"
        stage = {6: Stage.SETTLED, 7: Stage.SETTLED, 9: Stage.TURNED_AWAY}.get(number % 10, Stage.DECIDED)
        motive = _MOTIVES[number % 3] if stage is Stage.DECIDED else None
        verdict = "" if motive is None else "deny" if number % 10 == 8 else "allow"
        record = sample_record(
            stage=stage,
            at=now,
            mutation_id=f"mut_{number}",
            actor=f"actor-{number % 97}",
            body=_body(number, motive, verdict, address),
        )
        transaction.append(record, motive=motive, verdict=verdict, resources=[(address, "tags")])


def _body(number: int, motive: Motive | None, verdict: str, address: str) -> dict[str, Json]:
    if motive is None:
        return {"outcome": "applied", "reason": "x" * 700}
    effect: Json = {"address": address, "attribute": "tags", "action": "set", "value": number, "before": None}
    finding: Json = {"check": "bounds", "verdict": verdict, "rule": "bounds.max", "reason": "Told.", "address": address}
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
