"""Doubles of the ports that authenticators use, and a factory for requests."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.errors import NotFound
from gateway.core.model.caller import ActorKind
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Motive
from gateway.core.ports import Key, Revoked

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Ring:
    """A key ring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, Key] = {}

    def add(self, key_id: str, secret: str, **changes: object) -> Key:
        key = replace(Key(id=key_id, secret=secret, actor="agent-scaler", kind=ActorKind.AGENT), **changes)  # type: ignore[arg-type]  # tests know
        self.held[key_id] = key
        return key

    async def find(self, key_id: str) -> Key | None:
        return self.held.get(key_id)

    async def issue(
        self,
        *,
        actor: str,
        kind: ActorKind,
        roles: tuple[str, ...] = (),
        on_behalf_of: str = "",
        motive: Motive | None = None,
        motive_only: bool = False,
        lasts: timedelta | None = None,
        session_of: str = "",
    ) -> Key:
        return self.add(
            f"{'SNTS' if session_of else 'SNTL'}{len(self.held):016}",
            "issued",
            actor=actor,
            kind=kind,
            roles=roles,
            on_behalf_of=on_behalf_of,
            motive=motive,
            motive_only=motive_only,
            expires_at=NOW + lasts if lasts else None,
        )

    async def assume(self, wanted: Key, *, lasts: timedelta) -> Key:
        return await self.issue(actor=wanted.actor, kind=wanted.kind, lasts=lasts)

    async def revoke(self, key_id: str, *, distrust: bool = True) -> Revoked:
        if key_id not in self.held:
            raise NotFound(f"There is no key {key_id}.")
        self.held[key_id] = replace(self.held[key_id], revoked=True)
        return Revoked()

    async def standing(self) -> Sequence[Key]:
        return tuple(self.held.values())


class Fixed:
    """A clock that shows a settable time."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


class Reader:
    """A request body that records whether it was read."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.read = False

    async def __call__(self) -> bytes:
        self.read = True
        return self.body


@pytest.fixture
def ring() -> Ring:
    return Ring()


@pytest.fixture
def clock() -> Fixed:
    return Fixed()


@pytest.fixture
def inbound_of() -> Callable[..., Inbound]:
    def make(
        method: str = "GET",
        target: str = "/",
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        read_body: Callable[[], Awaitable[bytes]] | None = None,
    ) -> Inbound:
        return Inbound(
            method=method,
            target=target,
            headers=tuple((name.lower(), value) for name, value in headers),
            read_body=read_body or Reader(body),
            received_at=NOW,
        )

    return make
