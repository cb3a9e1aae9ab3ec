"""A DECIDED record says who asked for what and why; one that is carried out also holds what its attempt's row needs."""

from typing import Any

import pytest

from gateway.ledger.decided_body import carried_out_body, decided_body
from gateway.model.verdict import Verdict
from gateway.ports import RecordQuery

MEMBERS = {"caller", "call", "door", "sender", "motive", "effects", "decision", "claims"}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_decision_has_the_same_members(scene: Any, verdict: Verdict) -> None:
    change = scene.mutation()
    body: Any = decided_body(change, scene.decision(verdict), scene.facts(change).subjects, (), change.call.digest)
    assert set(body) == MEMBERS
    assert body["decision"]["verdict"] == verdict.value
    assert body["call"]["digest"] == change.call.digest
    assert [each["attribute"] for each in body["effects"]] == ["delay"]


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
