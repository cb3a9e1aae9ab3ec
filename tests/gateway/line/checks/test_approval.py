"""An approval is used only in the circumstances it was given in; otherwise the call is held again, and the finding says why."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.approval import USUAL, Answered, Rejection
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.facts import Approval, Facts
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, Mutation
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Mode, Verdict
from gateway.line.checks.approval import binding_of, with_answer, with_approval
from tests.kit import nouns
from tests.kit.doubles import NOW as DOUBLES_NOW
from tests.kit.nouns import BOUND

NOW = datetime(2026, 11, 21, tzinfo=UTC)
EFFECT = nouns.effect("aws_x.a", "size", 6)
MUTATION = Mutation(
    id="mut_1",
    caller=Caller(actor="a", kind=ActorKind.AGENT, key_id="SNTL1", roles=("r", "s")),
    call=Call(service="x", operation="SetSize"),
    call_class=CallClass.MUTATION,
    motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET),
    effects=(EFFECT,),
)
HOLD = Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-1", reason="So.", address="aws_x.a", attribute="size")


def _facts(before: Json = 4, effect: Effect = EFFECT, **more: Any) -> Facts:
    subject = nouns.subject(effect, before, 4)
    return Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=(subject,), **more)


def _decision(*findings: Finding, **more: Any) -> Decision:
    return Decision(findings=findings or (HOLD,), bundle="b1", **more)


APPROVAL = Approval(
    id="apr_1",
    mutation_id="mut_0",
    approver="ana",
    until=NOW,
    binding=binding_of(MUTATION, _facts(), _decision(), ("clm_1",)),
)


def _result(
    mutation: Mutation = MUTATION,
    facts: Facts | None = None,
    decision: Decision | None = None,
    contests: tuple[str, ...] = ("clm_1",),
) -> Decision:
    given = replace(facts or _facts(), approval=APPROVAL)
    return with_approval(mutation, given, decision or _decision(), contests)


def test_in_the_same_circumstances_it_lifts_the_hold_and_ends_the_contested_claims() -> None:
    again = replace(
        MUTATION, id="mut_2", idempotency_key="k", caller=replace(MUTATION.caller, roles=("s", "r"), key_id="k2")
    )
    result = _result(again, decision=_decision(supersedes=("clm_0",)))
    assert (result.approval, result.verdict, result.supersedes) == ("apr_1", Verdict.ALLOW, ("clm_0", "clm_1"))


OTHER_HOLDER = replace(HOLD, offer=CounterOffer(holder="rival"))
CHANGED: dict[str, tuple[dict[str, Any], str]] = {
    "motive": ({"mutation": replace(MUTATION, motive=None)}, "the motive"),
    "text": ({"mutation": replace(MUTATION, motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="x"))}, "the motive"),
    "principal": ({"mutation": replace(MUTATION, caller=replace(MUTATION.caller, on_behalf_of="bob"))}, "the caller's kind"),
    "kind": ({"mutation": replace(MUTATION, caller=replace(MUTATION.caller, kind=ActorKind.HUMAN))}, "the caller's kind"),
    "role": ({"mutation": replace(MUTATION, caller=replace(MUTATION.caller, roles=("r",)))}, "the caller's kind"),
    "value before": ({"facts": _facts(before=5)}, "the effects"),
    "value": ({"facts": _facts(effect=replace(EFFECT, value=7))}, "the effects"),
    "address": ({"facts": _facts(effect=replace(EFFECT, address="aws_x.b"))}, "the effects"),
    "no effects": ({"facts": replace(_facts(), subjects=())}, "the effects"),
    "code": ({"facts": _facts(declared="c2")}, "the code"),
    "policies": ({"decision": replace(_decision(), bundle="b2")}, "the policies"),
    "another rule": ({"decision": _decision(HOLD, replace(HOLD, rule="SEN-2"))}, "the reasons"),
    "another place": ({"decision": _decision(replace(HOLD, attribute="*"))}, "the reasons"),
    "another holder": ({"decision": _decision(OTHER_HOLDER)}, "the reasons"),
    "another claim": ({"contests": ("clm_1", "clm_2")}, "the claims"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "says"), CHANGED.values(), ids=CHANGED.keys())
def test_in_other_circumstances_the_call_is_held_again_and_says_why(given: dict[str, Any], says: str) -> None:
    result = _result(**given)
    assert (result.approval, result.verdict) == ("", Verdict.HOLD)
    assert "clm_1" not in result.supersedes
    last = result.findings[-1]
    assert (last.check, last.rule) == ("approval", "approval.outdated")
    assert says in last.reason
    assert "apr_1 by ana" in last.reason


def test_all_that_changed_is_listed() -> None:
    result = _result(replace(MUTATION, motive=None), _facts(declared="c2"), replace(_decision(), bundle="b2"))
    assert "the motive, the code or contracts and the policies changed" in result.findings[-1].reason


def test_the_new_hold_is_bound_to_the_circumstances_of_now_without_the_finding_about_the_old_one() -> None:
    result = _result(facts=_facts(before=5))
    assert result.binding == binding_of(MUTATION, _facts(before=5), _decision(), ("clm_1",))


def test_an_approval_lifts_no_denial() -> None:
    denial = replace(HOLD, verdict=Verdict.DENY, rule="never.x")
    assert _result(decision=_decision(HOLD, denial)).verdict is Verdict.DENY


def test_fewer_reasons_than_were_approved_still_fit_and_none_need_no_approval() -> None:
    passed = replace(HOLD, verdict=Verdict.ALLOW, rule="policy.passed")
    result = _result(replace(MUTATION, motive=None), decision=_decision(passed), contests=())
    assert (result.verdict, result.approval) == (Verdict.ALLOW, "apr_1")
    assert "approval.outdated" not in {finding.rule for finding in result.findings}


def test_only_a_held_decision_gets_a_binding() -> None:
    passed = replace(HOLD, verdict=Verdict.ALLOW, rule="policy.passed")
    assert with_approval(MUTATION, _facts(), _decision(passed), ()).binding is None
    assert with_approval(MUTATION, _facts(), _decision(), ()).binding is not None


def test_a_secret_that_is_replaced_leaves_no_trace_in_the_binding() -> None:
    secret = replace(EFFECT, sensitive=True, value={"sha256": "ab"})
    one, other = (binding_of(MUTATION, _facts(before, secret), _decision(), ()) for before in ("hunter2", "hunter3"))
    assert one == other


def _attempt(number: int, effect: Effect, **call: Any) -> tuple[Mutation, Facts, Finding]:
    """The same creation, sent again: mutation, facts and the finding that holds it."""
    sent = Call(service="x", operation="CreateX", digest_key=b"k", **call)
    mutation = replace(MUTATION, id=f"mut_{number}", call=sent, effects=(effect,))
    return mutation, _facts(None, effect), replace(HOLD, address=effect.address)


def _binding(attempt: tuple[Mutation, Facts, Finding]) -> Any:
    mutation, facts, finding = attempt
    return mutation.call.digest, binding_of(mutation, facts, _decision(finding), ())


def test_a_new_idempotency_token_changes_nothing_that_was_approved() -> None:
    """A resource that AWS names is identified by the whole call, and its token may be an attribute too."""

    def attempt(number: int) -> tuple[Mutation, Facts, Finding]:
        call = Call(service="x", operation="CreateX", parameters={"Token": f"t{number}"}, digest_key=b"k")
        by_call = {"call": call.exact_digest[:12]}
        address = f"aws_x{{call={by_call['call']}}}"
        effect = replace(nouns.effect(address, "token", f"t{number}"), identity=by_call, declared=False)
        return _attempt(number, effect, parameters=call.parameters, tokens=("Token",))

    assert _binding(attempt(1)) == _binding(attempt(2))


@pytest.mark.parametrize("declared", [True, False])
def test_a_generated_name_is_bound_by_its_place_in_the_code(declared: bool) -> None:
    def attempt(number: int, place: str = "aws_x.jobs") -> tuple[Mutation, Facts, Finding]:
        name = f"jobs-{number}"
        address = place if declared else f"aws_x{{name={name}}}"
        effect = replace(nouns.effect(address, "name", name), identity={"name": name}, declared=declared)
        return _attempt(number, effect, parameters={"Name": name}, generated={name: place})

    assert _binding(attempt(1)) == _binding(attempt(2))
    assert _binding(attempt(1)) != _binding(attempt(2, "aws_x.other"))


HELD = Decision(
    findings=(Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-X", reason="Ask."),), binding=BOUND, needs=USUAL
)
NO = Rejection(mutation_id="mut_no", by="alice", reason="Not now", at=DOUBLES_NOW, binding=BOUND)
OTHER = replace(BOUND, effects="other")


def test_nobody_was_asked_before() -> None:
    assert with_answer(HELD, Answered(), DOUBLES_NOW) == HELD


def test_the_same_call_in_the_same_circumstances_attaches() -> None:
    held = {"mut_other": OTHER, "mut_old": None, "mut_same": BOUND}
    assert with_answer(HELD, Answered(held=held), DOUBLES_NOW).attached == "mut_same"
    assert with_answer(HELD, Answered(held={"mut_other": OTHER}), DOUBLES_NOW).attached == ""


def test_a_rejection_denies_with_its_reason_and_its_end() -> None:
    found = with_answer(HELD, Answered(rejection=NO), DOUBLES_NOW)
    (finding,) = (each for each in found.findings if each.verdict is Verdict.DENY)
    assert found.verdict is Verdict.DENY
    assert "alice rejected this call (mutation mut_no): Not now. It is refused until " in finding.reason
    assert finding.title
    assert finding.offer is not None
    assert finding.offer.retry_after == DOUBLES_NOW + USUAL.rejected
    silent = with_answer(HELD, Answered(rejection=replace(NO, reason=" ")), DOUBLES_NOW)
    assert "gave no reason." in silent.findings[-1].reason


def test_a_rejection_ends_at_its_time_and_with_its_circumstances() -> None:
    late = DOUBLES_NOW + USUAL.rejected
    assert with_answer(HELD, Answered(rejection=NO), late).verdict is Verdict.HOLD
    assert with_answer(HELD, Answered(rejection=NO), late - timedelta(seconds=1)).verdict is Verdict.DENY
    assert with_answer(HELD, Answered(rejection=replace(NO, binding=OTHER)), DOUBLES_NOW).verdict is Verdict.HOLD
    assert with_answer(HELD, Answered(rejection=replace(NO, binding=None)), DOUBLES_NOW).verdict is Verdict.HOLD
