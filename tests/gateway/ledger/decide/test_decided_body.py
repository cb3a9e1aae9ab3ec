"""A DECIDED record says who asked for what and why; one that is carried out also holds what its attempt's row needs."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.ledger.decide.decided_body import carried_out_body, decided_body

MEMBERS = {"caller", "call", "door", "sender", "motive", "effects", "decision", "claims"}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_decision_has_the_same_members(scene: Any, verdict: Verdict) -> None:
    change = scene.mutation()
    body: Any = decided_body(change, scene.decision(verdict), scene.facts(change).subjects, (), change.call.digest)
    assert set(body) == MEMBERS
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
    subjects = scene.facts(change).subjects
    body: Any = decided_body(change, scene.decision(Verdict.ALLOW), subjects, (), change.call.digest, account=of_states)
    assert body["call"]["account"] == recorded


def test_an_attempt_tells_its_key_and_its_gateway(scene: Any) -> None:
    change = scene.mutation(key="k-1")
    body = carried_out_body({"a": 1}, change, "gtw_1")
    assert body == {"a": 1, "attempt": {"idempotency_key": "k-1", "owner": "gtw_1", "signature": ""}}


async def test_only_what_is_carried_out_has_an_attempt(scene: Any) -> None:
    for verdict in (Verdict.ALLOW, Verdict.DENY):
        change = scene.mutation()
        await scene.ledger.record_decision(change, scene.facts(change), scene.decision(verdict))
    denied, allowed = await scene.ledger.records(RecordQuery())
    assert set(allowed.body) - MEMBERS == {"attempt", "facts"}
    assert set(denied.body) - MEMBERS == {"facts", "refused_in_a_row"}
