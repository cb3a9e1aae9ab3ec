"""Which rules spoke is read from decisions, the same on both databases."""

from datetime import timedelta
from functools import partial
from typing import Any

from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.many_records import NOON


async def decide(ledger: SqlLedger, number: int, *findings: tuple[str, str], warned: str = "") -> None:
    """A decision with these verdicts and rules, as many minutes after noon."""

    def finding(verdict: str, rule: str) -> dict[str, Any]:
        return {"verdict": verdict, "rule": rule}

    decision: dict[str, Any] = {"findings": [finding(*each) for each in findings]}
    if warned:
        decision["warned"] = [finding("deny", warned)]
    record = sample_record(
        stage=Stage.DECIDED,
        at=NOON + timedelta(minutes=number),
        mutation_id=f"mut_{number}",
        actor="ana",
        body={"decision": decision},
    )
    await ledger.write(partial(Transaction.append, record=record, verdict=findings[0][0]))


async def test_what_rules_said_is_read_from_the_newest_decision_back(ledger: SqlLedger) -> None:
    await decide(ledger, 1, ("deny", "SEN-A"), ("hold", "SEN-A"), ("hold", "SEN-B"))
    await decide(ledger, 2, ("allow", "SEN-C"), warned="SEN-D")
    await decide(ledger, 3, ("hold", "SEN-B"))
    whole = await ledger.rules_spoken(limit=10)
    assert (whole.decisions, whole.first_seq, whole.last_seq) == (3, 1, 3)
    assert whole.oldest == NOON + timedelta(minutes=1)
    assert [(each.rule, each.verdict.value, each.tried, each.mutation_id) for each in whole.said] == [
        ("SEN-B", "hold", False, "mut_3"),
        ("SEN-D", "deny", True, "mut_2"),
        ("SEN-A", "deny", False, "mut_1"),
        ("SEN-B", "hold", False, "mut_1"),
    ]


async def test_a_range_of_records_is_read_alone(ledger: SqlLedger) -> None:
    for number in range(1, 6):
        await decide(ledger, number, ("deny", "SEN-A"))
    assert [each.seq for each in (await ledger.rules_spoken(limit=2)).said] == [5, 4]
    assert [each.seq for each in (await ledger.rules_spoken(before_seq=4, limit=2)).said] == [3, 2]
    assert [each.seq for each in (await ledger.rules_spoken(after_seq=3, limit=10)).said] == [5, 4]
    assert (await ledger.rules_spoken(after_seq=5, limit=10)).decisions == 0
