"""How fast recorded decisions are replayed, and in how much memory: `python -m tests.bench.replay [decisions] [--only CASE]`. One JSON object per figure.

The records are 64 decisions with eight claims each about a resource of the case `kafka`, over and over, read by a generator as a ledger's pages are: all that
differs between changes differs (value, claims, time), so nothing is known from the record before. `peak` is what the process gained. `replay.contracts`
judges by contracts too, which tell the policies what they were told then; `replay.contracts_asked` asks the policies all the same. `.cpu` is what one second of the process's own time does: it says the same on a busy machine.
"""

import argparse
import asyncio
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from gateway.core.garbage import collect_seldom
from gateway.core.model.verdict import Asked, Decision, Finding, Verdict
from gateway.core.off_loop import hand_over_soon
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
from gateway.policy.replay_contracts import ContractReplay
from gateway.policy.replay_report import ReplayReport
from gateway.policy.sources import shipped
from gateway.terraform.stacks import Stacks
from tests.bench.figure import show
from tests.bench.policy import COST, GROUP, facts_of
from tests.kit.stacks import KAFKA, Source, load

KINDS = 64
"""Decisions that differ; more than anything remembers."""


class Copies:
    """A ledger of many decisions."""

    def __init__(self, kinds: Sequence[Record], count: int) -> None:
        self._kinds, self._count = kinds, count
        self._texts = [encode(each.body) for each in kinds]

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """A page, newest first; each body is decoded, as a ledger's are."""
        newest = (query.before_seq or self._count + 1) - 1
        return [
            replace(self._kinds[seq % KINDS], seq=seq, body=decode("decided", self._texts[seq % KINDS]))
            for seq in range(newest, max(0, newest - query.limit), -1)
        ]


async def recorded(engine: Embedded, stacks: Stacks, number: int, bundle: str) -> Record:
    """The decision about a change with eight claims, as it is recorded, by the policies with the revision `bundle`; one of each number."""
    mutation, facts = facts_of(COST)
    [subject], stack = facts.subjects, stacks.all[0]
    before = stack.recorded(GROUP) or {}
    effect = replace(subject.effect, value=5 + number % 3)
    after = {**before, effect.attribute: effect.value}
    known = replace(
        subject, effect=effect, attributes_before=before, attributes_after=after, contract=stack.contract(GROUP)
    )
    claims = tuple(
        replace(each, claim=replace(each.claim, id=f"clm_{number:02d}{place:024d}", value={"note": f"{number:090d}"}))
        for place, each in enumerate(facts.claims)
    )
    now = facts.now + timedelta(seconds=number)
    facts = replace(facts, now=now, subjects=(known,), claims=claims, stack=stack.name)
    mutation = replace(mutation, id=f"mut_{number:026d}", effects=(effect,))
    document = policy_input(mutation, facts)
    guardrails = (await guardrails_say(engine, engine.packages(), document)).objections
    findings = (
        *(guardrails or (_passed("policy"),)),
        *(arbitration_findings(await arbitrated(engine, document)) or (_passed("arbitration"),)),
    )
    asked = (
        Asked(check="policy", entrypoint=GUARDRAILS, document=document),
        Asked(check="arbitration", entrypoint=ARBITRATION, document=document),
    )
    return write_set(mutation, facts, Decision(findings=findings, asked=asked, bundle=bundle)).record


def _passed(check: str) -> Finding:
    return Finding(check=check, verdict=Verdict.ALLOW, rule=f"{check}.passed", reason="")


async def replay_every(ledger: Any, engine: Embedded, name: str, contracts: ContractReplay | None) -> None:
    """Replay all pages of the ledger and print the figures."""
    report, before, peak = ReplayReport(), 0, 0
    threads = replay_threads()
    started, busy = time.perf_counter(), time.process_time()
    while True:
        page = await replay_page(ledger, engine, threads, ReplayRange(before_seq=before), contracts)
        report.add(page)
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if page["next"] is None:
            break
        before = page["next"]
    seconds, cpu = time.perf_counter() - started, time.process_time() - busy
    show(f"{name}.decisions", report.replayed / seconds, "decisions/s", n=report.replayed)
    show(f"{name}.decisions.cpu", report.replayed / cpu, "decisions/s of one core", n=report.replayed)
    gained = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    show(f"{name}.peak", gained / 1024, "MB", n=report.replayed)
    threads.shutdown()


CASES = ("policies", "contracts", "contracts_asked")


async def main(count: int, cases: Sequence[str] = CASES) -> None:
    """Measure and print."""
    hand_over_soon()  # as the command does
    engine = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=1000, memory_mb=64)
    stacks = load(Source(path=KAFKA))
    contracts = ContractReplay(stacks=stacks)
    collect_seldom()  # as the command does
    kinds: list[Record] = []
    for case in cases:
        judge = None if case == "policies" else contracts
        bundle = "of before" if case == "contracts_asked" else engine.revision
        name = "replay" if case == "policies" else f"replay.{case}"
        kinds = [await recorded(engine, stacks, number, bundle) for number in range(KINDS)]
        ledger: Any = Copies(kinds, count)
        await replay_every(ledger, engine, name, judge)
    body: Any = kinds[0].body
    show("replay.facts", len(body.asked.packed), "characters", n=1)
    await engine.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("decisions", type=int, nargs="?", default=20_000)
    parser.add_argument("--only", choices=CASES)
    given = parser.parse_args()
    asyncio.run(main(given.decisions, (given.only,) if given.only else CASES))
