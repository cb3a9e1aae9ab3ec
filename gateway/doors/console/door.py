"""The console as a door of the gateway. Its templates and pages are loaded at the first request: a gateway that nobody visits has none of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from gateway.core.http.asgi import Receive, Scope, Send
from gateway.core.ports import Authenticator, Clock, KeyRing
from gateway.core.settings.console import ConsoleSettings
from gateway.doors.api.health import Readiness
from gateway.doors.router import App
from gateway.doors.shutdown import Stopping
from gateway.ledger.ask.key_ends import EndingKey
from gateway.line.pipeline import Pipeline
from gateway.line.wakeups import ChangedMutations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleParts:
    """The ports and settings of the console."""

    api: App
    pipeline: Pipeline
    authenticator: Authenticator
    keys: KeyRing
    changes: ChangedMutations
    checkouts: Mapping[str, Path]
    """Where the code of each stack is, by its name."""
    readiness: Callable[[], Awaitable[Readiness]]
    """Whether the gateway can do its work, and by which revisions it does."""
    ending_keys: Callable[[], Sequence[EndingKey]]
    """The keys that end soon."""
    clock: Clock
    stopping: Stopping
    cookie_key: bytes = field(repr=False)
    public_url: str
    settings: ConsoleSettings


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
