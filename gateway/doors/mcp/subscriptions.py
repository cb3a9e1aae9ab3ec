"""Streams that tell a client when any gateway records something about a mutation that the client waits for."""

import asyncio
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult

from gateway.core.errors import Overloaded
from gateway.core.model.caller import Caller
from gateway.core.ports import RecordQuery
from gateway.doors.mcp.resources import mutation_of
from gateway.doors.mcp.tool_call import McpPorts, ToolRequest
from gateway.identity.caller import KEY_SECONDS, still_in

MOST_MUTATIONS: Final = 20
"""Mutations that one stream can be about."""
MOST_OF_AN_ACTOR: Final = 8
"""Streams of one actor, so that none takes the room of all."""


class Subscriptions:
    """The streams that are open. Each is of one caller, who hears only of mutations that it may see."""

    def __init__(self, ports: McpPorts, *, most: int, key_seconds: float = KEY_SECONDS) -> None:
        """`most` streams may be open at once."""
        self._ports = ports
        self._most = most
        self._key_seconds = key_seconds
        self._open: dict[ListenHandler, str] = {}

    async def serve(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams, request: ToolRequest
    ) -> SubscriptionsListenResult:
        """Serve one stream until the client hangs up, its key ends or the gateway stops. Raises `errors.Overloaded`."""
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus, max_subscriptions=1)
        self._take_room(handler, request.caller.actor)
        watching: list[asyncio.Future[None]] = []
        try:
            with ExitStack() as waiting:
                wanted = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))[:MOST_MUTATIONS]
                heard = [uri for uri in wanted if await self._may_hear(request.caller, uri)]
                for uri in heard:
                    event = waiting.enter_context(self._waiting(uri, request.caller))
                    watching.append(asyncio.ensure_future(self._watch(bus, handler, uri, event, request.caller)))
                watching.append(asyncio.ensure_future(self._end_with_key(handler, request.caller)))
                honoured = SubscriptionFilter(resource_subscriptions=heard or None)
                return await handler(context, params.model_copy(update={"notifications": honoured}))
        finally:
            del self._open[handler]
            for each in watching:
                each.cancel()

    def close(self) -> None:
        """End every stream: the gateway stops."""
        for handler in list(self._open):
            handler.close()

    def _take_room(self, handler: ListenHandler, actor: str) -> None:
        """Count the stream before anything is awaited, so that many at the same moment do not all find room."""
        if len(self._open) >= self._most or list(self._open.values()).count(actor) >= MOST_OF_AN_ACTOR:
            raise Overloaded("Too many clients listen already; ask with wait_for_decision, or again later.")
        self._open[handler] = actor

    async def _may_hear(self, caller: Caller, uri: str) -> bool:
        mutation = mutation_of(uri)
        if mutation is None:
            return False
        query = RecordQuery(mutation_id=mutation, limit=1, newest_first=False)
        return bool(await self._ports.api.visible_records(caller, query))

    def _waiting(self, uri: str, caller: Caller) -> AbstractContextManager[asyncio.Event]:
        return self._ports.api.wakeups.waiting(mutation_of(uri) or "", caller.actor)

    async def _watch(
        self, bus: InMemorySubscriptionBus, handler: ListenHandler, uri: str, event: asyncio.Event, caller: Caller
    ) -> None:
        """Tell the stream of every record about one mutation, until cancelled, or until the caller's key has ended."""
        while True:
            await event.wait()
            event.clear()
            if not await self._is_in(caller):
                handler.close()
                return
            await bus.publish(ResourceUpdated(uri=uri))

    async def _end_with_key(self, handler: ListenHandler, caller: Caller) -> None:
        """End the stream once the caller's key has ended: else it would hold its place as long as its client likes."""
        while True:
            if not await self._is_in(caller):
                handler.close()
                return
            await asyncio.sleep(self._key_seconds)

    async def _is_in(self, caller: Caller) -> bool:
        return await still_in(self._ports.api.keys, self._ports.api.clock, caller)
