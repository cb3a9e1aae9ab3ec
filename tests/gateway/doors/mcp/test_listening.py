"""A client that listens hears of its own mutations, and of no other's."""

from typing import Any

import httpx
import pytest
from mcp.shared.subscriptions import ResourceUpdated

from gateway.doors.mcp.desk import Desk
from gateway.doors.mcp.listening import MOST_MUTATIONS, Listening
from gateway.errors import Overloaded
from tests.kit.gate import Gate
from tests.kit.mcp import call, mcp_client

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


async def _held(gate: Gate, name: str) -> str:
    motive = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
    parameters = {"Name": name, "ScheduleExpression": "rate(1 day)"}
    given = {"service": "events", "operation": "PutRule", "parameters": parameters, "motive": motive}
    return str((await call(gate, "propose_mutation", given)).structured_content["mutation_id"])


def _reject(gate: Gate, mutation: str) -> None:
    url = f"{gate.url}/v1/mutations/{mutation}/reject"
    assert httpx.post(url, headers=gate.bearer("human"), timeout=300).status_code == 200


async def test_a_decision_is_heard_at_once(gate: Gate) -> None:
    mutation = await _held(gate, "heard")
    uri = f"sentinel://mutations/{mutation}"
    async with mcp_client(gate) as client, client.listen(resource_subscriptions=[uri]) as events:
        _reject(gate, mutation)
        async for event in events:  # the first may be older than the rejection: a new stream is told to look once
            assert event == ResourceUpdated(uri=uri)
            read: Any = (await client.read_resource(uri)).contents[0]
            if '"state":"rejected"' in read.text:
                break


async def test_another_agents_mutation_is_not_heard(gate: Gate) -> None:
    mutation = await _held(gate, "private")
    uris = [
        f"sentinel://mutations/{mutation}",
        "sentinel://stacks",
        *(f"sentinel://mutations/mut_{n}" for n in range(50)),
    ]
    async with mcp_client(gate, "rival") as client, client.listen(resource_subscriptions=uris) as events:
        assert not gate.waits_for(mutation)
        assert not events.honored.resource_subscriptions
    assert len(uris) > MOST_MUTATIONS


async def test_only_so_many_clients_may_listen(desk: Desk, request_by: Any) -> None:
    listening = Listening(desk, most=0)
    unused: Any = None
    with pytest.raises(Overloaded, match="wait_for_decision"):
        await listening.serve(unused, unused, request_by())
    listening.close()
