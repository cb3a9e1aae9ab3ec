"""Who visits the console: by the cookie of a sign-in, or by the word of an SSO proxy that the settings name."""

import asyncio
from dataclasses import dataclass, field
from ipaddress import ip_address
from time import monotonic
from typing import Final

from gateway.doors.asgi import Scope
from gateway.doors.console.sealed_cookie import SealedCookie
from gateway.model.caller import ActorKind
from gateway.ports import Clock, Key, KeyRing
from gateway.settings_console import ConsoleSettings

_KEPT_SECONDS: Final = 1.0
"""How long is known which key an actor has. The key itself is looked at for each request."""
_MOST_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who visits, and with which key."""

    key: Key
    by_proxy: bool = False
    """Whether an SSO proxy said so; then there is no sign-out here."""


@dataclass(slots=True, kw_only=True)
class Visitors:
    """Finds out who visits."""

    keys: KeyRing
    clock: Clock
    cookies: SealedCookie
    settings: ConsoleSettings
    _known: dict[str, tuple[float, str]] = field(default_factory=dict)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def visitor(self, scope: Scope) -> Visitor | None:
        """The visitor; None if nobody is signed in, or the key has ended."""
        if (name := self._named_by_proxy(scope)) is not None:
            key = await self.human_key(name)
            return Visitor(key=key, by_proxy=True) if key else None
        key = await self._alive(self.cookies.text(scope))
        return Visitor(key=key) if key else None

    async def human_key(self, name: str) -> Key | None:
        """The newest standing key of the person whom a proxy or an identity provider names; None if no human has one."""
        return await self._alive(await self._key_of(name)) if name else None

    def _named_by_proxy(self, scope: Scope) -> str | None:
        """The name that a trusted proxy gives; empty if it gives several, None if it is no such proxy or gives none."""
        wanted = self.settings.sso_header.encode()
        given = [value for name, value in scope["headers"] if wanted and name == wanted]
        if not given or not self._is_trusted(scope):
            return None
        return given[0].decode("utf-8", "replace").strip() if len(given) == 1 else ""

    def _is_trusted(self, scope: Scope) -> bool:
        client = scope.get("client")
        try:
            peer = ip_address(client[0]) if client else None
        except ValueError:
            return False
        return peer is not None and any(peer in network for network in self.settings.sso_peers)

    async def _key_of(self, actor: str) -> str:
        """The id of the newest standing key that this human has; empty if there is none."""
        async with self._looking:
            kept = self._known.get(actor)
            if kept is not None and monotonic() - kept[0] < _KEPT_SECONDS:
                return kept[1]
            now = self.clock.now()
            found = next(
                (
                    key.id
                    for key in await self.keys.all()
                    if key.actor == actor and key.kind is ActorKind.HUMAN and not key.is_session and not key.ended(now)
                ),
                "",
            )
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[actor] = (monotonic(), found)
            return found

    async def _alive(self, key_id: str) -> Key | None:
        key = await self.keys.find(key_id) if key_id else None
        return key if key is not None and not key.ended(self.clock.now()) else None
