"""The console as a door of the gateway. Its templates and pages are loaded at the first request: a gateway that nobody visits has none of them."""

import asyncio
from importlib import import_module

from gateway.doors.asgi import Receive, Scope, Send
from gateway.doors.console.parts import ConsoleParts
from gateway.doors.router import App


class ConsoleDoor:
    """The ASGI application for `/console` and all below it."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._site: App | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        site = self._site or await self._load()
        await site(scope, receive, send)

    async def _load(self) -> App:
        async with self._loading:
            if self._site is None:
                module = await asyncio.to_thread(import_module, "gateway.doors.console.site")
                self._site = module.Site(self._parts)
            return self._site
