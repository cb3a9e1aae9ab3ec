"""A request that takes its time goes on only as long as its caller has a key, and nobody stops what it is about."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, SentinelError, Stopped
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.stop import Reach, Stop, StopScope
from gateway.line.standing import Standing, WatchedUpload

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
CALLER = Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTLS")
STOP = Stop(id="stp_1", scope=StopScope.STACK, name="shop", by="ops", reason="found odd", at=BEGAN)


class Now:
    """A clock that goes on by as much for each piece of an upload."""

    def __init__(self) -> None:
        self.at = BEGAN

    def now(self) -> datetime:
        """The time."""
        return self.at


class Body:
    """An upload of three pieces, at some seconds from each other."""

    length, sha256, trailer, failure = 3, "", "", None

    def __init__(self, clock: Now, seconds: float) -> None:
        self.clock = clock
        self.seconds = seconds
        self.complete = False

    async def parts(self) -> AsyncIterator[bytes]:
        """The pieces."""
        for piece in (b"a", b"b", b"c"):
            self.clock.at += timedelta(seconds=self.seconds)
            self.complete = piece == b"c"
            yield piece

    def trailers(self) -> Sequence[tuple[str, str]]:
        """None."""
        return ()


def _standing(clock: Now, *, ended: bool = False, stops: Sequence[Stop] = ()) -> Standing:
    async def find(_: str) -> Any:
        return SimpleNamespace(ended=lambda _: ended)

    async def standing_stops() -> Sequence[Stop]:
        return stops

    keys: Any = SimpleNamespace(find=find)
    ledger: Any = SimpleNamespace(stops=standing_stops)
    return Standing(keys=keys, stops=ledger, clock=clock)


async def _sent(standing: Standing, clock: Now, seconds: float, reach: Reach) -> tuple[list[bytes], WatchedUpload]:
    async def check(since: datetime) -> None:
        await standing.require(CALLER, reach, since)

    upload = WatchedUpload(Body(clock, seconds), check, clock=clock, since=BEGAN)
    pieces: list[bytes] = []
    with suppress(SentinelError):
        async for piece in upload.parts():
            pieces.append(piece)  # noqa: PERF401  what came before an error counts
    return pieces, upload


async def test_an_upload_that_nothing_ends_arrives_whole() -> None:
    clock = Now()
    pieces, upload = await _sent(_standing(clock, stops=[STOP]), clock, 60, Reach(stacks=frozenset({"other"})))
    assert (pieces, upload.complete, upload.failure) == ([b"a", b"b", b"c"], True, None)


@pytest.mark.parametrize(("seconds", "sent"), [(60, []), (2, [b"a"])])
async def test_an_upload_ends_with_its_key_before_its_last_piece(seconds: float, sent: list[bytes]) -> None:
    clock = Now()
    pieces, upload = await _sent(_standing(clock, ended=True), clock, seconds, Reach())
    assert (pieces, upload.complete, type(upload.failure)) == (sent, False, NotAllowed)


async def test_a_wider_stop_ends_an_upload_too() -> None:
    clock = Now()
    pieces, upload = await _sent(_standing(clock, stops=[STOP]), clock, 60, Reach(stacks=frozenset({"shop"})))
    assert (pieces, upload.complete, type(upload.failure)) == ([], False, Stopped)


async def test_what_arrives_at_once_costs_no_look() -> None:
    clock = Now()
    pieces, _ = await _sent(_standing(clock, ended=True, stops=[STOP]), clock, 0.1, Reach(any_stack=True))
    assert pieces == [b"a", b"b", b"c"]
