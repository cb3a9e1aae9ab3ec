"""A change that people approved for half an hour, or that policies let pass for an hour, is prolonged for days by the one who asked for it.

The end of a change for a time was moved within what its kind of actor may want, and nobody asked again whether it may last so long. What must hold:
what was approved for a time lasts no longer than a person consents to who may approve it and did not ask; and the policies are asked about
the longer time as they were about the first.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from msgspec import structs

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import Json
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.asked import LeftOutFor, RecordedAsked
from gateway.core.records.record import Record
from gateway.policy.longer import LongerChanges
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

INCIDENT = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
FOR_HALF_AN_HOUR = {**INCIDENT, "wanted_for": "30m"}


def _capacity(gate: Gate, actor: str, value: int, motive: dict[str, Any]) -> httpx.Response:
    call = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": value},
        "motive": motive,
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=300)


def _post(gate: Gate, actor: str, mutation: str, action: str, **body: str) -> httpx.Response:
    url = f"{gate.url}/v1/mutations/{mutation}/{action}"
    return httpx.post(url, headers=gate.bearer(actor), json=body or None, timeout=300)


def _approved(gate: Gate, actor: str = "agent") -> str:
    """A change for half an hour that took a rival's attribute, because a person approved it."""
    assert _capacity(gate, "rival", 5, INCIDENT).status_code == 200
    held = _capacity(gate, actor, 6, FOR_HALF_AN_HOUR)
    assert held.status_code == 202
    assert _post(gate, "human", held.json()["mutation"]["id"], "approve").status_code == 200
    sent = _capacity(gate, actor, 6, FOR_HALF_AN_HOUR)
    assert sent.status_code == 200
    mutation: str = sent.json()["mutation"]["id"]
    return mutation


def test_what_was_approved_for_a_time_is_not_prolonged_by_its_requester(gate: Gate) -> None:
    mutation = _approved(gate)
    for wanted in ("31m", "2h", "6d"):
        reply = _post(gate, "agent", mutation, "extend", wanted_for=wanted)
        assert (reply.status_code, "approved for 0:30:00" in reply.text) == (403, True)
    assert _post(gate, "agent", mutation, "extend", wanted_for="20m").status_code == 200


def test_a_person_who_may_approve_it_prolongs_it_unless_it_is_their_own(gate: Gate) -> None:
    gate.issue("second", kind=ActorKind.HUMAN, roles=("approver",))
    gate.issue("other-role", kind=ActorKind.HUMAN)
    mutation = _approved(gate)
    assert _post(gate, "other-role", mutation, "extend", wanted_for="2h").status_code == 404
    assert _post(gate, "second", mutation, "extend", wanted_for="2h").status_code == 200
    gate.release_all()
    gate.keys["own"] = gate.run(gate.ring.issue(actor="own", kind=ActorKind.AGENT, on_behalf_of="second"))
    mutation = _approved(gate, "own")
    reply = _post(gate, "second", mutation, "extend", wanted_for="2h")
    assert (reply.status_code, "made on your behalf" in reply.text) == (403, True)


def test_a_reason_steers_no_terminal(gate: Gate) -> None:
    mutation = _capacity(gate, "agent", 6, FOR_HALF_AN_HOUR).json()["mutation"]["id"]
    for action, body in (("extend", {"wanted_for": "1h"}), ("end", {})):
        reply = _post(gate, "agent", mutation, action, **body, reason="\x1b[2J\x1b]0;x\x07")
        assert (reply.status_code, "printable" in reply.text) == (400, True)


class _Strict:
    """The policies in force, and one rule more: nobody changes anything for longer than an hour."""

    def __init__(self, engine: Any, verdict: Verdict) -> None:
        self._engine, self._verdict = engine, verdict

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def ask(self, entrypoint: str, document: Any) -> Json:
        answer: Any = await self._engine.ask(entrypoint, document)
        if entrypoint.startswith("sentinel/guardrails") and document["motive"]["wanted_seconds"] > 3600:
            found = {
                "id": "SHORT",
                "verdict": self._verdict.value,
                "message": "An hour is the most.",
                "address": "",
                "attribute": "",
            }
            answer = {**answer, "findings": [*answer["findings"], found]}
        told: Json = answer
        return told


def _extending(gate: Gate, engine: Any, mutation: str, caller: Caller, seconds: float) -> str:
    changes = LongerChanges(queries=gate.ledger, engine=engine)
    return gate.run(changes.refusal(mutation, timedelta(seconds=seconds), caller))


AGENT = Caller(actor="agent", kind=ActorKind.AGENT, key_id="k")
HUMAN = Caller(actor="human", kind=ActorKind.HUMAN, key_id="h", roles=("approver",))


@pytest.mark.parametrize(("verdict", "person"), [(Verdict.DENY, False), (Verdict.HOLD, True)])
def test_the_policies_are_asked_about_the_longer_time(gate: Gate, verdict: Verdict, person: bool) -> None:
    application: Any = gate.app._app
    engine = _Strict(application.state.ports.time_boxes.longer.engine, verdict)
    mutation = _capacity(gate, "agent", 6, FOR_HALF_AN_HOUR).json()["mutation"]["id"]
    assert not _extending(gate, engine, mutation, AGENT, 3000)
    assert "An hour is the most." in _extending(gate, engine, mutation, AGENT, 4000)
    assert bool(_extending(gate, engine, mutation, HUMAN, 4000)) is not person


def test_what_policies_cannot_be_asked_again_a_person_decides(gate: Gate) -> None:
    mutation = _capacity(gate, "agent", 6, FOR_HALF_AN_HOUR).json()["mutation"]["id"]
    application: Any = gate.app._app
    engine = application.state.ports.time_boxes.longer.engine

    class Ledger:
        async def records(self, query: RecordQuery) -> Sequence[Record]:
            asked = RecordedAsked(left_out=LeftOutFor.SIZE)
            found = await gate.ledger.records(query)
            return [replace(each, body=structs.replace(each.body, asked=asked)) for each in found]

    changes = LongerChanges(queries=Ledger(), engine=engine)  # type: ignore[arg-type]  # what is asked of it
    hour = timedelta(hours=1)
    assert "cannot be asked" in gate.run(changes.refusal(mutation, hour, AGENT))
    assert not gate.run(changes.refusal(mutation, hour, HUMAN))
