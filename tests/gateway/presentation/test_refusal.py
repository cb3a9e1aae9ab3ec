"""The text of a refusal: every objection once, with its rule, and the next step."""

from dataclasses import replace

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import ConflictClass
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import InDoubt
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.presentation.refusal import in_doubt_text, refusal_text
from tests.kit import nouns

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


def test_a_hold_says_how_to_go_on() -> None:
    message = refusal_text(MUTATION, Decision(findings=(_finding(Verdict.HOLD, "SEN-C001", "Unknown."),)))
    assert "sentinel approve mut_1" in message
    assert "repeat the identical call" in message


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
