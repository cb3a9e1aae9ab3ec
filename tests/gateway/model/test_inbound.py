"""A request as it arrived: nothing is decoded, and the first of repeated headers is returned."""

from datetime import UTC, datetime

from gateway.model.inbound import Inbound


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
