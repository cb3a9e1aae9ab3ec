"""The text of a refusal: every objection once, with its rule, and the next step."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.model.approval import USUAL
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import ConflictClass
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import InDoubt
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.presentation.refusal import in_doubt_text, refusal_text
from tests.kit import nouns

ROOT = Path(__file__).parents[3]
MUTATION = nouns.mutation(call=Call(service="sqs", operation="PurgeQueue"), id="mut_1")


def _finding(verdict: Verdict, rule: str, reason: str) -> Finding:
    return Finding(check="c", verdict=verdict, rule=rule, reason=reason)


def test_a_refusal_names_the_call_and_every_rule_once() -> None:
    twice = _finding(Verdict.DENY, "bounds.max", "Too much.")
    decision = Decision(
        findings=(_finding(Verdict.ALLOW, "x", "Fine."), twice, twice, _finding(Verdict.HOLD, "SEN-X", "Ask."))
    )
    message = refusal_text(MUTATION, decision)
    assert message.startswith("Sentinel refused sqs:PurgeQueue (mutation mut_1); nothing was sent to AWS.")
    assert message.count("[bounds.max] Too much.") == 1
    assert "[SEN-X] Ask." in message
    assert "Fine." not in message


def test_what_one_rule_says_of_several_attributes_stands_behind_it_once() -> None:
    reasons = ("Agents may not set a.", "Agents may not set b.")
    decision = Decision(findings=tuple(_finding(Verdict.DENY, "bounds.mutable", each) for each in reasons))
    assert refusal_text(MUTATION, decision).endswith("[bounds.mutable] Agents may not set a. Agents may not set b.")


def test_a_hold_says_how_to_go_on() -> None:
    message = refusal_text(MUTATION, Decision(findings=(_finding(Verdict.HOLD, "SEN-C001", "Unknown."),)))
    assert "sentinel approve mut_1" in message
    assert "repeat the identical call" in message


def test_a_person_whose_call_is_held_is_sent_to_another_one() -> None:
    human = replace(MUTATION, caller=Caller(actor="h", kind=ActorKind.HUMAN, key_id="SNTL1"))
    two = replace(USUAL, people=2)
    held = (_finding(Verdict.HOLD, "SEN-C001", "Unknown."),)
    message = refusal_text(human, Decision(findings=held))
    assert "for another person (mutation mut_1)" in message
    assert "Once another person has run `sentinel approve mut_1`" in message
    assert "`sentinel holds mut_1` says who may" in message
    assert "a human" not in message
    assert "Once 2 other people have run" in refusal_text(human, Decision(findings=held, needs=two))


@pytest.mark.parametrize("words", ["human must approve", "human approve it", "human must decide"])
def test_no_rule_sends_a_person_to_a_human(words: str) -> None:
    """Every hold is read by people too. Who must approve it, the refusal says."""
    rules = [path for path in (ROOT / "policies").rglob("*.rego") if not path.name.endswith("_test.rego")]
    checks = list((ROOT / "gateway" / "line" / "checks").glob("*.py"))
    assert rules
    assert checks
    said = {path.name for path in (*rules, *checks) if re.search(rf'"[^"\n]*{words}', path.read_text())}
    assert not said


def test_only_who_may_see_all_is_given_digests() -> None:
    decision = Decision(findings=(_finding(Verdict.DENY, "x", "Not hmac_sha256:0123456789abcdef."),))
    human = replace(MUTATION, caller=Caller(actor="h", kind=ActorKind.HUMAN, key_id="SNTL1"))
    assert "Not hmac_sha256:." in refusal_text(MUTATION, decision)
    assert "Not hmac_sha256:0123456789abcdef." in refusal_text(human, decision)


def test_a_conflict_is_named_by_its_class() -> None:
    against = replace(_finding(Verdict.DENY, "SEN-A009", "It would."), conflict=ConflictClass.INDIRECT)
    assert "[SEN-A009, indirect conflict] It would." in refusal_text(MUTATION, Decision(findings=(against,)))


def test_in_doubt_it_names_who_settles_it_and_how() -> None:
    text = in_doubt_text(MUTATION, InDoubt(reason="No answer came."))
    assert "No answer came." in text
    assert "not sent again" in text
    assert "sentinel settle mut_1" in text
    assert "if one runs" in text


def test_what_is_settled_waits_for_nothing() -> None:
    text = in_doubt_text(MUTATION, InDoubt(reason="It was applied.", settled=True))
    assert text == "sqs:PurgeQueue (mutation mut_1) is not sent again. It was applied."
