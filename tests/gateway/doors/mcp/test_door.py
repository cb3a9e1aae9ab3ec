"""The door through a running gateway: who gets in, what strangers leave behind, which hosts and origins, and that streams end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.core.records.record import Stage
from gateway.doors.mcp.door import PATH
from tests.kit.gate import Gate
from tests.kit.mcp import MODERN, mcp_client

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def post(gate: Gate, *, actor: str | None = "agent", body: Any = None, **headers: str) -> httpx.Response:
    given = {**HEADERS, **(gate.bearer(actor) if actor else {}), **headers}
    return httpx.post(f"{gate.url}/mcp", json=LIST if body is None else body, headers=given, timeout=300)


def test_a_key_gets_in_and_the_tools_are_listed(gate: Gate) -> None:
    reply = post(gate)
    assert reply.status_code == 200, reply.text
    assert len(reply.json()["result"]["tools"]) == 12


@pytest.mark.parametrize("token", ["", "Bearer SNTLNONE.x", "Basic YTpi"])
def test_a_stranger_is_recorded_and_told_where_it_is_described(gate: Gate, token: str) -> None:
    before = len(gate.records(stage=Stage.TURNED_AWAY))
    reply = post(gate, actor=None, **({"authorization": token} if token else {}))
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"].startswith('Bearer resource_metadata="http')
    assert reply.headers["www-authenticate"].endswith(f'{PATH}/mcp"')
    assert reply.json()["error"]["data"]["code"] == "not_authenticated"
    turned_away = gate.records(stage=Stage.TURNED_AWAY)
    assert len(turned_away) == before + 1
    assert turned_away[-1].body.members["about"] == "POST /mcp"


def test_the_description_needs_no_key(gate: Gate) -> None:
    for path in (PATH, f"{PATH}/mcp"):
        reply = httpx.get(f"{gate.url}{path}", timeout=300)
        assert (reply.status_code, reply.json()["resource"].endswith("/mcp")) == (200, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"mcp-protocol-version": "2099-01-01"}, 400),
        ({"accept": "text/html"}, 406),
    ],
)
def test_other_hosts_origins_and_versions_are_refused(gate: Gate, headers: dict[str, str], status: int) -> None:
    assert post(gate, **headers).status_code == status


def test_a_path_below_is_the_door_too_and_never_aws(gate: Gate) -> None:
    assert httpx.get(f"{gate.url}/mcp/x", timeout=300).status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_to_get_and_no_session_to_end(gate: Gate, method: str) -> None:
    reply = httpx.request(
        method, f"{gate.url}/mcp", headers={**gate.bearer(), "accept": "text/event-stream"}, timeout=300
    )
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("body", [[], {}, {"jsonrpc": "2.0", "id": 1, "method": "hunter2", "params": {"_meta": META}}])
def test_what_is_not_understood_is_an_error_of_the_protocol(gate: Gate, body: Any) -> None:
    reply = post(gate, body=body)
    assert reply.status_code in (400, 404)
    assert "error" in reply.json()


def test_a_body_over_the_limit_is_refused(gate: Gate) -> None:
    reply = post(gate, body={**LIST, "more": "x" * (20 * 1024 * 1024)})
    assert reply.status_code == 413


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Gate]:
    """A gateway that the test stops itself."""
    gate = Gate(directory=tmp_path)
    gate.__enter__()
    yield gate
    gate._server.should_exit = True
    gate._thread.join(300)


def _held(gate: Gate) -> str:
    motive = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
    parameters = {"ReplayName": "n"}
    body = {"service": "events", "operation": "CancelReplay", "parameters": parameters, "motive": motive}
    reply = httpx.post(f"{gate.url}/v1/mutations", headers=gate.bearer(), json=body, timeout=300)
    return str(reply.json()["mutation"]["id"])


async def test_a_stream_ends_when_the_gateway_stops(own: Gate) -> None:
    mutation = _held(own)
    async with (
        mcp_client(own) as client,
        client.listen(resource_subscriptions=[f"sentinel://mutations/{mutation}"]) as events,
    ):
        own._server.should_exit = True
        assert len([event async for event in events]) <= 1  # a new stream is told to look once
    own._thread.join(300)
    assert not own._thread.is_alive()
