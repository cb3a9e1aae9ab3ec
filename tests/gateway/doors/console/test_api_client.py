"""The console asks the API with the visitor's key, and so gets what the API lets that key see."""

from typing import Any

import httpx
import pytest

from gateway.core.errors import NotFound
from gateway.doors.console.api_client import ApiClient, ApiProblem, segment
from tests.kit.console import held
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SCOPE = {"headers": [(b"host", b"x"), (b"user-agent", b"browser"), (b"cookie", b"c")], "client": ("127.0.0.1", 1)}


def client_of(gate: Gate, actor: str) -> ApiClient:
    door: Any = gate.app._doors["/console"]
    return ApiClient(door._parts.api, dict(SCOPE), gate.keys[actor])


@pytest.mark.parametrize("actor", ["human", "agent", "rival"])
def test_the_answer_is_the_api_s_own(gate: Gate, actor: str) -> None:
    held(gate)
    answer = gate.run(client_of(gate, actor).get("/records", limit=5, actor=""))
    over_http = httpx.get(f"{gate.url}/v1/records?limit=5", headers=gate.bearer(actor)).json()
    assert answer == over_http


def test_a_refusal_is_the_api_s_own_sentence(gate: Gate) -> None:
    mutation = held(gate)
    with pytest.raises(ApiProblem, match=r"Only a human with the role `approver`") as refused:
        gate.run(client_of(gate, "rival").post(f"/mutations/{mutation}/approve", {"reason": "x y"}))
    assert (refused.value.status, refused.value.code) == (403, "not_allowed")


def test_what_is_deleted_is_asked_for_with_its_query(gate: Gate) -> None:
    with pytest.raises(ApiProblem) as refused:
        gate.run(client_of(gate, "human").delete("/stops/stp_none", reason="over"))
    assert refused.value.status in {403, 404}


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../records"])
def test_a_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(NotFound):
        segment(name)


def test_a_usual_name_stays_as_it_is() -> None:
    assert segment("mut_01 ü") == "mut_01 ü"
