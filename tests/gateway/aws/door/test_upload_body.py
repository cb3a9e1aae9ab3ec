"""The body of an object passes without being kept, and its end is held back until all of it is verified."""

import hashlib
from collections.abc import AsyncIterator

import pytest

from gateway.aws.door.uploads import UploadBody
from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.model.inbound import Upload
from gateway.identity.signed_body import PlainCheck

PIECE = 64 * 1024


async def _source(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_the_last_piece_comes_after_the_check() -> None:
    pieces = [b"one", b"two", b"three"]
    body = UploadBody(_source(*pieces), PlainCheck(hashlib.sha256(b"onetwothree").hexdigest()), length=11)
    seen: list[tuple[bytes, bool]] = [(part, body.complete) async for part in body.parts()]
    assert seen == [(b"one", False), (b"two", False), (b"three", True)]
    assert body.failure is None


async def test_a_changed_body_never_gets_its_end() -> None:
    body = UploadBody(_source(b"one", b"two"), PlainCheck(hashlib.sha256(b"other").hexdigest()), length=6)
    got: list[bytes] = []
    with pytest.raises(NotAuthenticated):
        got.extend([part async for part in body.parts()])
    assert not body.complete
    assert isinstance(body.failure, NotAuthenticated)
    assert b"two" not in got


@pytest.mark.parametrize("pieces", [(b"longer than said",), (b"short",), ()])
async def test_a_body_has_the_length_that_its_head_states(pieces: tuple[bytes, ...]) -> None:
    body = UploadBody(_source(*pieces), PlainCheck(""), length=10)
    with pytest.raises(Malformed, match="its head states 10"):
        _ = [part async for part in body.parts()]
    assert not body.complete


async def test_an_empty_body_is_complete_once_it_is_verified() -> None:
    body: Upload = UploadBody(_source(b""), PlainCheck(hashlib.sha256(b"").hexdigest()), length=0)
    assert [part async for part in body.parts()] == []
    assert body.complete


@pytest.mark.parametrize("number", [10, 1000])
async def test_no_more_than_two_pieces_are_held_however_long_the_object_is(number: int) -> None:
    made = taken = most = 0

    async def source() -> AsyncIterator[bytes]:
        nonlocal made, most
        for _ in range(number):
            made += 1
            most = max(most, made - taken)
            yield bytes(PIECE)

    async for part in UploadBody(source(), PlainCheck(""), length=number * PIECE).parts():
        taken += len(part) // PIECE
    assert (taken, most) == (number, 2)
