"""Finds the visitor of the console, by the sealed cookie of a sign-in or by the header of an SSO proxy that the settings name."""

import asyncio
import base64
import hmac
from dataclasses import dataclass, field
from ipaddress import ip_address
from time import monotonic
from typing import Final

from gateway.core.http.asgi import Scope
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Clock, Key, KeyRing
from gateway.core.settings.console import ConsoleSettings


def key_id_in(text: str) -> str:
    """The id of the key that the text of a session's cookie names; empty if it names none."""
    return text.partition("-")[0]


_LONGEST: Final = 4096
"""Characters of a Cookie header that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCookie:
    """Makes and reads the cookie of one name. Its text can be read by anyone who has it, so no secret belongs there."""

    key: bytes = field(repr=False)
    """Derived from the master key, so every gateway on the ledger reads the cookies of the others."""
    https: bool
    """Whether browsers reach the console by https, as `public_url` says."""
    name: str = "sentinel-console"
    purpose: str = "session"
    """The seal of one purpose is no seal of another."""

    def set_header(self, text: str, seconds: int, scope: Scope) -> str:
        """The Set-Cookie header that gives the text, in answer to this request. It must have neither a dot nor what no cookie may have."""
        return self._header(f"{text}.{self._seal(text)}", seconds, scope)

    def text_of(self, key: Key) -> str:
        """What the cookie of a session says: which key it is, and that it is as it was. The secret covers actor, kind and roles, so a key that
        is given other ones in the database loses the session.
        """
        mac = hmac.digest(self.key, f"sentinel console key\0{key.id}\0{key.secret}".encode(), "sha256")
        return f"{key.id}-{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"

    def clear_header(self, scope: Scope) -> str:
        """The Set-Cookie header that takes it away."""
        return self._header("", 0, scope)

    def text(self, scope: Scope) -> str:
        """The text of the request's cookie; empty without one that was made here."""
        value = _cookie(scope, self._name(secure=self._secure(scope)))
        text, _, seal = value.partition(".")
        return text if hmac.compare_digest(self._seal(text).encode(), seal.encode()) else ""

    def _seal(self, text: str) -> str:
        mac = hmac.digest(self.key, f"sentinel console {self.purpose}\0{text}".encode(), "sha256")
        return base64.urlsafe_b64encode(mac).decode().rstrip("=")

    def _secure(self, scope: Scope) -> bool:
        return self.https or scope.get("scheme") == "https"

    def _header(self, value: str, seconds: int, scope: Scope) -> str:
        secure = self._secure(scope)
        # The prefix __Host- keeps other hosts of the domain from setting it; browsers accept it only with Secure and Path=/.
        path = "; Path=/; Secure" if secure else "; Path=/console"
        return f"{self._name(secure=secure)}={value}{path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"

    def _name(self, *, secure: bool) -> str:
        return f"__Host-{self.name}" if secure else self.name


def _cookie(scope: Scope, name: str) -> str:
    """The value of a cookie that was sent once; empty else."""
    text = ";".join(value.decode("latin-1") for header, value in scope["headers"] if header == b"cookie")
    if len(text) > _LONGEST:
        return ""
    pairs = [part.strip().partition("=") for part in text.split(";")]
    found = [value for given, _, value in pairs if given == name]
    return found[0] if len(found) == 1 else ""


_KEPT_SECONDS: Final = 1.0
"""How long is known which key an actor has. The key itself is looked at for each request."""
_MOST_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A visitor and their key."""

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
        text = self.cookies.text(scope)
        key = await self._alive(key_id_in(text))
        return Visitor(key=key) if key and hmac.compare_digest(self.cookies.text_of(key), text) else None

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
                    for key in await self.keys.standing()
                    if key.actor == actor and key.kind is ActorKind.HUMAN and not key.ended(now)
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
