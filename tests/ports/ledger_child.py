"""A process of its own for the ledger's suite: `crash URL` dies between DECIDED and SETTLED, `race URL NAME` claims 200 attributes."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime

from gateway.core.errors import ClaimTaken
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Call
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.ledger.ledger import SqlLedger, open_ledger
from tests.kit import nouns
from tests.kit.stores import KEYS


async def _take(ledger: SqlLedger, actor: str, address: str) -> bool:
    effect = nouns.effect(address, "tags", actor)
    mutation = nouns.mutation(
        effect, caller=nouns.caller(actor), call=Call(service="sqs", operation="TagQueue", parameters={"Actor": actor})
    )
    finding = Finding(check="bounds", verdict=Verdict.ALLOW, rule="bounds.passed", reason="Nothing against it.")
    facts = Facts(now=datetime.now(UTC), stack="", mode=Mode.ENFORCE, subjects=())
    try:
        return bool(await ledger.record_decision(mutation, facts, Decision(findings=(finding,))))
    except ClaimTaken:
        return False


async def _main(act: str, url: str, actor: str) -> None:
    async with open_ledger(url, KEYS) as ledger:
        if act == "crash":
            await _take(ledger, "child", "aws_sqs_queue.orders")
            os.kill(os.getpid(), signal.SIGKILL)
        won = await asyncio.gather(*(_take(ledger, actor, f"aws_sqs_queue.q{number}") for number in range(200)))
        sys.stdout.write(f"{sum(won)}\n")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""))
