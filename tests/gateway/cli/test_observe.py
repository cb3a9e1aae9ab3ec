"""`sentinel observe report`: what was sent only because its stack observes, by rule, and what nobody understood."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.mutation import Call, Effect
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.core.settings import Settings
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit import nouns

Document = Callable[..., tuple[int, Any]]
SETS = Call(service="sqs", operation="SetQueueAttributes")
UNKNOWN = Call(service="braket", operation="ResizeJob")
NOW = datetime.now(UTC)


async def _decide(
    ledger: SqlLedger,
    call: Call,
    verdict: Verdict,
    rule: str,
    *effects: Effect,
    mode: Mode = Mode.OBSERVE,
    stack: str = "shop",
    age: timedelta = timedelta(minutes=1),
) -> str:
    """Record a decision; the id of the mutation."""
    mutation = nouns.mutation(*effects, caller=nouns.caller("pipeline"), call=call)
    finding = Finding(check="x", verdict=verdict, rule=rule, reason=f"{rule} says so.", title="A rule")
    decision = Decision(findings=(finding,), mode=mode, binding=nouns.BOUND)
    facts = nouns.facts(*nouns.subjects(effects, 0), now=NOW - age, stack=stack)
    await ledger.record_decision(mutation, facts, decision)
    return mutation.id


@pytest.fixture
def recorded(elsewhere: Path) -> dict[str, str]:
    """A ledger of one stack that observes, with some decisions that another one enforced."""
    queues = (nouns.effect(f"aws_sqs_queue.q{number}", "delay_seconds", 9) for number in range(9))

    async def write() -> dict[str, str]:
        async with open_sealed_ledger(Settings(data=elsewhere / ".sentinel")) as ledger:
            await _decide(ledger, SETS, Verdict.DENY, "bounds.max", next(queues))
            denied = await _decide(ledger, SETS, Verdict.DENY, "bounds.max", next(queues))
            held = await _decide(ledger, SETS, Verdict.HOLD, "SEN-G004", next(queues), stack="pay")
            unknown = await _decide(ledger, UNKNOWN, Verdict.HOLD, "bounds.not_understood")
            await _decide(ledger, SETS, Verdict.ALLOW, "bounds.passed", next(queues))
            await _decide(ledger, SETS, Verdict.HOLD, "enforced", next(queues), mode=Mode.ENFORCE)
            await _decide(ledger, SETS, Verdict.DENY, "old", next(queues), age=timedelta(days=30))
        return {"denied": denied, "held": held, "unknown": unknown}

    return asyncio.run(write())


def test_it_says_what_enforcing_would_refuse_or_hold_and_what_is_not_understood(
    recorded: dict[str, str], document: Document
) -> None:
    code, answer = document("observe", "report")
    report = answer["report"]

    assert (code, report["observed"], report["more"]) == (0, 4, False)
    said = [(each["count"], each["stack"], each["verdict"], each["rule"]) for each in report["would"]]
    assert said == [(2, "shop", "deny", "bounds.max"), (1, "pay", "hold", "SEN-G004")]
    assert report["would"][0]["mutation"] == recorded["denied"]
    unknown = [(each["operation"], each["actor"], each["mutation"]) for each in report["not_understood"]]
    assert unknown == [("braket:ResizeJob", "pipeline", recorded["unknown"])]


def test_it_can_be_narrowed_to_a_stack_and_a_time(recorded: dict[str, str], document: Document) -> None:
    of_stack = document("observe", "report", "--stack", "pay")[1]["report"]
    longer = document("observe", "report", "--since", "8w")[1]["report"]

    assert [each["mutation"] for each in of_stack["would"]] == [recorded["held"]]
    assert not of_stack["not_understood"]
    assert "old" in {each["rule"] for each in longer["would"]}
    assert document("observe", "report", "--since", "soon")[0] == 1


def test_it_is_shown_as_tables(recorded: dict[str, str], sentinel: Callable[..., Any]) -> None:
    shown = sentinel("observe", "report").stdout
    for text in ("bounds.max", "SEN-G004", "braket:ResizeJob", recorded["unknown"], "4 calls were sent only because"):
        assert text in shown


def test_a_ledger_without_observed_calls_says_so(elsewhere: Path, sentinel: Callable[..., Any]) -> None:
    async def make() -> None:
        async with open_sealed_ledger(Settings(data=elsewhere / ".sentinel")):
            pass

    asyncio.run(make())
    assert "Nothing was observed" in sentinel("observe", "report").stdout
