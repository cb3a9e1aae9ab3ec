"""A repeated call waits with the one that is held, and is answered by a rejection as long as nothing about it changes."""

from dataclasses import replace
from datetime import timedelta

from gateway.core.model.approval import USUAL, Answered, Rejection
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.line.checks.answer import with_answer
from tests.kit.doubles import NOW
from tests.kit.nouns import BOUND

HELD = Decision(
    findings=(Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-X", reason="Ask."),), binding=BOUND, needs=USUAL
)
NO = Rejection(mutation_id="mut_no", by="alice", reason="Not now", at=NOW, binding=BOUND)
OTHER = replace(BOUND, effects="other")


def test_nobody_was_asked_before() -> None:
    assert with_answer(HELD, Answered(), NOW) == HELD


def test_the_same_call_in_the_same_circumstances_attaches() -> None:
    held = {"mut_other": OTHER, "mut_old": None, "mut_same": BOUND}
    assert with_answer(HELD, Answered(held=held), NOW).attached == "mut_same"
    assert with_answer(HELD, Answered(held={"mut_other": OTHER}), NOW).attached == ""


def test_a_rejection_denies_with_its_reason_and_its_end() -> None:
    found = with_answer(HELD, Answered(rejection=NO), NOW)
    (finding,) = (each for each in found.findings if each.verdict is Verdict.DENY)
    assert found.verdict is Verdict.DENY
    assert "alice rejected this call (mutation mut_no): Not now. It is refused until " in finding.reason
    assert finding.title
    assert finding.offer is not None
    assert finding.offer.retry_after == NOW + USUAL.rejected
    silent = with_answer(HELD, Answered(rejection=replace(NO, reason=" ")), NOW)
    assert "gave no reason." in silent.findings[-1].reason


def test_a_rejection_ends_at_its_time_and_with_its_circumstances() -> None:
    late = NOW + USUAL.rejected
    assert with_answer(HELD, Answered(rejection=NO), late).verdict is Verdict.HOLD
    assert with_answer(HELD, Answered(rejection=NO), late - timedelta(seconds=1)).verdict is Verdict.DENY
    assert with_answer(HELD, Answered(rejection=replace(NO, binding=OTHER)), NOW).verdict is Verdict.HOLD
    assert with_answer(HELD, Answered(rejection=replace(NO, binding=None)), NOW).verdict is Verdict.HOLD
