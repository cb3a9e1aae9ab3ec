"""A request as it arrived: nothing is decoded, and the first of repeated headers is returned."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from gateway.aws.door.uploads import UploadBody
from gateway.core.model.inbound import Inbound, is_bound
from gateway.identity.signed_body import PlainCheck


async def _nothing() -> bytes:
    return b""


def _inbound(target: str) -> Inbound:
    headers = (("x-a", "1"), ("x-a", "2"))
    return Inbound(method="GET", target=target, headers=headers, read_body=_nothing, received_at=datetime.now(UTC))


def test_path_and_query_stay_undecoded() -> None:
    inbound = _inbound("/a%2Fb/../c?x=%20&y=?")
    assert (inbound.path, inbound.query) == ("/a%2Fb/../c", "x=%20&y=?")


def test_a_target_without_query_has_an_empty_one() -> None:
    assert _inbound("/").query == ""


def test_headers_are_found_by_lower_case_name() -> None:
    assert _inbound("/").header("x-a") == "1"
    assert _inbound("/").header("x-b") is None


async def _upload_nothing() -> AsyncIterator[bytes]:
    yield b""


@pytest.mark.parametrize(("sha256", "bound"), [("a" * 64, True), ("", False)])
def test_only_a_signed_hash_fixes_the_content(sha256: str, *, bound: bool) -> None:
    assert is_bound(UploadBody(_upload_nothing(), PlainCheck(""), length=1, sha256=sha256)) is bound
