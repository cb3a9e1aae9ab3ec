"""The route of explanations: JSON and plain English, for who may see the mutation."""

import httpx
import pytest

from tests.gateway.doors.api.test_waiting import cancel_replay, mutation_of
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_a_held_mutation_is_explained_to_its_actor_and_to_people(gate: Gate) -> None:
    held = mutation_of(cancel_replay(gate, "explained"))
    url = f"{gate.url}/v1/mutations/{held}/explanation"
    own = httpx.get(url, headers=gate.bearer("agent")).json()
    assert (own["verdict"], own["state"], own["come_back"]["needs"]) == ("hold", "held", ["human"])
    assert own["approval"]["needs"]["people"] == 1
    assert own["text"]
    assert httpx.get(url, headers=gate.bearer("human")).json()["mutation_id"] == held
    for actor, path in (("rival", held), ("human", "mut_none"), ("human", "prp_none")):
        reply = httpx.get(f"{gate.url}/v1/mutations/{path}/explanation", headers=gate.bearer(actor))
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
