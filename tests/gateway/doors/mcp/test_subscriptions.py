"""A client that listens hears of its own mutations, and of no other's."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types import SubscriptionFilter, SubscriptionsListenRequestParams

from gateway.core.errors import Overloaded
from gateway.doors.mcp.subscriptions import MOST_MUTATIONS, MOST_OF_AN_ACTOR, Subscriptions
from gateway.doors.mcp.tool_call import McpPorts
from tests.kit.gate import Gate
from tests.kit.mcp import call, mcp_client

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


async def _held(gate: Gate, name: str) -> str:
    motive = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
    parameters = {"ReplayName": name}
    given = {"service": "events", "operation": "CancelReplay", "parameters": parameters, "motive": motive}
    return str((await call(gate, "propose_mutation", given)).structured_content["mutation_id"])


def _reject(gate: Gate, mutation: str) -> None:
    url = f"{gate.url}/v1/mutations/{mutation}/reject"
    assert httpx.post(url, headers=gate.bearer("human"), json={"reason": "No."}, timeout=300).status_code == 200


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


async def test_only_so_many_clients_may_listen(ports: McpPorts, request_by: Any) -> None:
    listening = Subscriptions(ports, most=0)
    unused: Any = None
    with pytest.raises(Overloaded, match="wait_for_decision"):
        await listening.serve(unused, unused, request_by())
    listening.close()


class _Client:
    """A client that listens, as the SDK hands it to the handler."""

    request_id = 1

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.acknowledged = asyncio.Event()
        self.session = self

    async def send_notification(self, notification: Any, *, related_request_id: Any) -> None:
        assert related_request_id == self.request_id
        self.told.append(notification)
        self.acknowledged.set()


class _Ring:
    """A key ring with one key, which may end."""

    revoked = False

    async def find(self, key_id: str) -> Any:
        assert key_id
        return SimpleNamespace(ended=lambda _now: self.revoked)


def _listens(ports: McpPorts, ring: _Ring, *, key_seconds: float) -> Subscriptions:
    async def visible_records(_caller: Any, _query: Any) -> Sequence[object]:
        await asyncio.sleep(0)
        return [object()]

    context: Any = ports.api
    context.keys, context.visible_records = ring, visible_records
    return Subscriptions(ports, most=100, key_seconds=key_seconds)


def _about(*uris: str) -> SubscriptionsListenRequestParams:
    return SubscriptionsListenRequestParams(notifications=SubscriptionFilter(resource_subscriptions=list(uris) or None))


async def test_a_stream_ends_with_its_key(ports: McpPorts, request_by: Any) -> None:
    ring, client = _Ring(), _Client()
    serving: Any = _listens(ports, ring, key_seconds=0.001).serve(client, _about(), request_by())  # type: ignore[arg-type]
    stream = asyncio.ensure_future(serving)
    await client.acknowledged.wait()
    assert not stream.done()
    ring.revoked = True
    await asyncio.wait_for(stream, 300)


async def test_a_revoked_key_hears_nothing_more(ports: McpPorts, request_by: Any) -> None:
    ring, client = _Ring(), _Client()
    listening = _listens(ports, ring, key_seconds=300)
    serving: Any = listening.serve(client, _about("sentinel://mutations/mut_1"), request_by())  # type: ignore[arg-type]
    stream = asyncio.ensure_future(serving)
    await client.acknowledged.wait()
    ring.revoked = True
    ports.api.wakeups.wake("mut_1")
    await asyncio.wait_for(stream, 300)
    assert len(client.told) == 1, "only the acknowledgement"
    assert "mut_1" not in ports.api.wakeups._waiting


async def test_no_caller_takes_the_room_of_all(ports: McpPorts, request_by: Any) -> None:
    """All come at the same moment, so that each could find room before the others are counted."""
    listening = _listens(ports, _Ring(), key_seconds=300)
    about = _about("sentinel://mutations/mut_1")
    made: list[Any] = [listening.serve(_Client(), about, request_by()) for _ in range(3 * MOST_OF_AN_ACTOR)]  # type: ignore[arg-type]
    streams = [asyncio.ensure_future(each) for each in made]
    for _ in range(50):
        await asyncio.sleep(0)
    refused = [each for each in streams if each.done() and isinstance(each.exception(), Overloaded)]
    assert len(refused) == 2 * MOST_OF_AN_ACTOR
    listening.close()
    await asyncio.gather(*streams, return_exceptions=True)


async def test_a_stream_that_could_not_hear_is_refused(ports: McpPorts, request_by: Any) -> None:
    """Waiting is limited for each actor: a stream beyond that would be acknowledged, and silent for ever."""
    listening = _listens(ports, _Ring(), key_seconds=300)
    uris = [f"sentinel://mutations/mut_{number}" for number in range(MOST_MUTATIONS)]
    clients = [_Client(), _Client()]
    first: list[Any] = [listening.serve(each, _about(*uris), request_by()) for each in clients]  # type: ignore[arg-type]
    streams = [asyncio.ensure_future(each) for each in first]
    await asyncio.gather(*(each.acknowledged.wait() for each in clients))
    with pytest.raises(Overloaded):
        await listening.serve(_Client(), _about(*uris), request_by())  # type: ignore[arg-type]
    listening.close()
    await asyncio.gather(*streams, return_exceptions=True)
