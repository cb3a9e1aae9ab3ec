"""Listening for changes of mutations: a client names those it waits for, and is told when something about one is recorded, by any gateway."""

import asyncio
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult

from gateway.doors.mcp.desk import Desk, ToolRequest
from gateway.doors.mcp.pages import mutation_of
from gateway.errors import Overloaded
from gateway.model.caller import Caller
from gateway.ports import RecordQuery

MOST_MUTATIONS: Final = 20
"""Mutations that one stream can be about."""


class Listening:
    """The streams that are open. Each is of one caller, who hears only of mutations that it may see."""

    def __init__(self, desk: Desk, *, most: int) -> None:
        """`most` streams may be open at once."""
        self._desk = desk
        self._most = most
        self._open: set[ListenHandler] = set()

    async def serve(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams, request: ToolRequest
    ) -> SubscriptionsListenResult:
        """Serve one stream until the client hangs up or the gateway stops. Raises `errors.Overloaded`."""
        if len(self._open) >= self._most:
            raise Overloaded("Too many clients listen already; ask with wait_for_decision, or again later.")
        wanted = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))[:MOST_MUTATIONS]
        heard = [uri for uri in wanted if await self._may_hear(request.caller, uri)]
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus, max_subscriptions=1)
        self._open.add(handler)
        watching = [asyncio.ensure_future(self._watch(bus, uri, request.caller)) for uri in heard]
        try:
            honoured = SubscriptionFilter(resource_subscriptions=heard or None)
            return await handler(context, params.model_copy(update={"notifications": honoured}))
        finally:
            self._open.discard(handler)
            for each in watching:
                each.cancel()

    def close(self) -> None:
        """End every stream: the gateway stops."""
        for handler in list(self._open):
            handler.close()

    async def _may_hear(self, caller: Caller, uri: str) -> bool:
        mutation = mutation_of(uri)
        if mutation is None:
            return False
        query = RecordQuery(mutation_id=mutation, limit=1, newest_first=False)
        return bool(await self._desk.context.visible_records(caller, query))

    async def _watch(self, bus: InMemorySubscriptionBus, uri: str, caller: Caller) -> None:
        """Tell the stream of every record about one mutation, until cancelled."""
        with self._desk.context.wakeups.waiting(mutation_of(uri) or "", caller.actor) as event:
            while True:
                await event.wait()
                event.clear()
                await bus.publish(ResourceUpdated(uri=uri))
