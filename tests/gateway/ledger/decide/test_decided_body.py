"""A DECIDED record says who asked for what and why; one that is carried out also holds what its attempt's row needs."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant
from gateway.core.model.mutation import UNREAD, Call, CallClass, InnerCall
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.codec import decode, encode
from gateway.core.records.decided import MOST_NAMED
from gateway.core.records.record import to_members
from gateway.ledger.decide.decided_body import decided_body, recorded_facts

MEMBERS = {"caller", "call", "door", "sender", "motive", "effects", "decision", "facts", "claims"}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_decision_has_the_same_members(scene: Any, verdict: Verdict) -> None:
    change = scene.mutation()
    facts = scene.facts(change)
    body: Any = decided_body(change, facts, scene.decision(verdict), facts.subjects, ()).members
    assert set(body) - {"attempt"} == MEMBERS
    assert body["decision"]["verdict"] == verdict.value
    assert body["call"]["digest"] == change.call.digest
    assert [each["attribute"] for each in body["effects"]] == ["delay"]


@pytest.mark.parametrize(
    ("own", "of_states", "recorded"),
    [("", "123456789012", "123456789012"), ("210987654321", "123456789012", "210987654321"), ("", "", "")],
)
def test_a_call_names_the_account_of_the_states_if_no_setting_names_one(
    scene: Any, own: str, of_states: str, recorded: str
) -> None:
    change = scene.mutation()
    change = replace(change, call=replace(change.call, account=own))
    facts = replace(scene.facts(change), account=of_states)
    body = decided_body(change, facts, scene.decision(Verdict.ALLOW), facts.subjects, ())
    assert body.call.account == recorded


def test_an_attempt_tells_its_key_and_its_gateway(scene: Any) -> None:
    change = scene.mutation(key="k-1")
    facts = scene.facts(change)
    body = decided_body(change, facts, scene.decision(Verdict.ALLOW), facts.subjects, (), owner="gtw_1")
    assert body.members["attempt"] == {"idempotency_key": "k-1", "owner": "gtw_1", "signature": ""}


async def test_only_what_is_carried_out_has_an_attempt(scene: Any) -> None:
    for verdict in (Verdict.ALLOW, Verdict.DENY):
        change = scene.mutation()
        await scene.ledger.record_decision(change, scene.facts(change), scene.decision(verdict))
    denied, allowed = await scene.ledger.records(RecordQuery())
    assert set(allowed.body.members) - MEMBERS == {"attempt"}
    assert set(denied.body.members) - MEMBERS == {"refused_in_a_row"}


def test_facts_that_were_not_there_are_not_named(scene: Any) -> None:
    assert to_members(recorded_facts(scene.facts(scene.mutation()))) == {}


def test_contracts_dependants_flips_and_claims_are_named_up_to_a_number(scene: Any) -> None:
    facts = scene.facts(scene.mutation())
    many = tuple(Dependant(address=f"a.{number:03}", direct=True) for number in range(100))
    subject = replace(facts.subjects[0], contract=Contract(source="x.sentinel.hcl:3"), dependants=many)
    flips = {f"a.b{number}": number for number in range(100)}
    found = recorded_facts(
        replace(facts, subjects=(subject,), flips=flips, held_before=frozenset(flips), open_claims=4)
    )
    assert found.contracts == {"aws_sqs_queue.orders": "x.sentinel.hcl:3"}
    assert len(found.held_before) == MOST_NAMED
    assert (len(found.dependants), len(found.flips), found.open_claims) == (MOST_NAMED, MOST_NAMED, 4)


def test_the_calls_that_a_call_makes_aws_carry_out_are_named_without_their_secrets(scene: Any) -> None:
    """An investigator sees what was started by proxy, with whose rights, and which of the effects it has."""
    [effect] = scene.mutation().effects
    by = "lambda:UpdateFunctionConfiguration"
    inner = InnerCall(
        call=Call(
            service="lambda",
            operation="UpdateFunctionConfiguration",
            parameters={"FunctionName": "f", "Environment": {"Variables": {"DB": "hunter2-very-secret"}}},
        ),
        call_class=CallClass.EXECUTE,
        role="arn:aws:iam::123456789012:role/scheduler",
        effects=(replace(effect, by=by, implied=True),),
    )
    unread = InnerCall(
        call=Call(service="ssm", operation="StartAutomationExecution"), call_class=CallClass.MUTATION, role=UNREAD
    )
    change = replace(scene.mutation(), inner=(inner, unread), effects=(replace(effect, by=by, implied=True),))
    facts = scene.facts(change)
    body = decided_body(change, facts, scene.decision(Verdict.ALLOW), facts.subjects, ())
    assert body.inner is not None
    first, second = body.inner.calls
    assert (first.name, first.role, first.understood) == (by, inner.role, True)
    assert first.parameters == {"FunctionName": "f", "Environment": {"Variables": {"DB": "***"}}}
    assert "hunter2" not in encode(body)
    assert (second.role, second.understood, second.parameters) == (UNREAD, False, {})
    assert [each.by for each in body.effects] == [by]
    again: Any = decode("decided", encode(body))
    assert again.inner == body.inner


@pytest.mark.parametrize(("verdict", "most"), [(Verdict.ALLOW, 40_000), (Verdict.DENY, 12_000)])
def test_many_large_inner_calls_make_no_large_record(scene: Any, verdict: Verdict, most: int) -> None:
    inner = tuple(
        InnerCall(
            call=Call(service="sqs", operation="CreateQueue", parameters={"QueueName": f"{number}" * 3000}),
            call_class=CallClass.MUTATION,
        )
        for number in range(90)
    )
    change = replace(scene.mutation(), inner=inner)
    facts = scene.facts(change)
    body = decided_body(change, facts, scene.decision(verdict), facts.subjects, ())
    assert body.inner is not None
    assert (len(body.inner.calls), body.inner.more) == (MOST_NAMED, 90 - MOST_NAMED)
    assert [each.whole for each in body.inner.calls][::19] == [True, False]
    assert len(encode(body)) < most
