"""A DECIDED record says who asked for what and why; one that is carried out also holds what its attempt's row needs."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import to_members
from gateway.ledger.decide.decided_body import MOST_NAMED, decided_body, recorded_facts

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
