"""How fast recorded decisions are replayed, and in how much memory: `python -m tests.bench.replay [decisions]`. One JSON object per figure.

The records are copies of one decision with eight claims, read by a generator as a ledger's pages are; `peak` is what the process gained.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gateway.core.model.verdict import Asked, Decision
from gateway.core.ports import RecordQuery
from gateway.core.records.codec import decode, encode
from gateway.core.records.record import Record
from gateway.ledger.decide.write_set import write_set
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.arbitration import arbitrated, arbitration_findings
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.line.checks.policy import guardrails_say
from gateway.line.checks.policy_input import policy_input
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.replay import ReplayRange, replay_page, replay_threads
from gateway.policy.replay_report import ReplayReport
from gateway.policy.sources import shipped
from tests.bench.figure import show
from tests.bench.policy import COST, facts_of


class Copies:
    """A ledger of many decisions that are alike."""

    def __init__(self, record: Record, count: int) -> None:
        self._record, self._count = record, count
        self._text = encode(record.body)

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """A page, newest first; each body is decoded, as a ledger's are."""
        newest = (query.before_seq or self._count + 1) - 1
        return [
            replace(self._record, seq=seq, body=decode("decided", self._text))
            for seq in range(newest, max(0, newest - query.limit), -1)
        ]


async def recorded(engine: Embedded) -> Record:
    """The decision about a change with eight claims, as it is recorded."""
    mutation, facts = facts_of(COST)
    document = policy_input(mutation, facts)
    findings = (
        *(await guardrails_say(engine, engine.packages(), document)).objections,
        *arbitration_findings(await arbitrated(engine, document)),
    )
    asked = (
        Asked(check="policy", entrypoint=GUARDRAILS, document=document),
        Asked(check="arbitration", entrypoint=ARBITRATION, document=document),
    )
    return write_set(mutation, facts, Decision(findings=findings, asked=asked)).record


async def main(count: int) -> None:
    engine = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=1000, memory_mb=64)
    record = await recorded(engine)
    body: Any = record.body
    show("replay.facts", len(body.asked.packed), "characters", n=1)
    ledger: Any = Copies(record, count)
    report, before, peak = ReplayReport(), 0, 0
    threads = replay_threads()
    started = time.perf_counter()
    while True:
        page = await replay_page(ledger, engine, threads, ReplayRange(before_seq=before))
        report.add(page)
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if page["next"] is None:
            break
        before = page["next"]
    seconds = time.perf_counter() - started
    show("replay.decisions", report.replayed / seconds, "decisions/s", n=report.replayed)
    show("replay.peak", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024, "MB", n=report.replayed)
    threads.shutdown()
    await engine.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
