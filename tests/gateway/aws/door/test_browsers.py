"""What a browser opens at the door of AWS gets headers of ours, and none of AWS's that speak for the origin."""

import asyncio
from typing import Any

import pytest

from gateway.aws.door.browsers import confined

SANDBOX = (b"content-security-policy", b"sandbox")
NOSNIFF = (b"x-content-type-options", b"nosniff")


def _sent(*headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    async def answer() -> None:
        confining = confined(send)
        await confining({"type": "http.response.start", "status": 200, "headers": list(headers)})
        await confining({"type": "http.response.body", "body": b"a"})

    asyncio.run(answer())
    assert [message["type"] for message in messages] == ["http.response.start", "http.response.body"]
    assert (messages[0]["status"], messages[1]["body"]) == (200, b"a")
    found: list[tuple[bytes, bytes]] = messages[0]["headers"]
    return found


@pytest.mark.parametrize(
    "kind", [b"text/html", b"image/svg+xml", b"application/xml", b"text/xml; charset=utf-8", b"x/y"]
)
def test_what_could_be_a_page_is_in_a_sandbox(kind: bytes) -> None:
    kept = [(b"Content-Type", kind), (b"ETag", b"1")]
    assert _sent(*kept) == [*kept, NOSNIFF, SANDBOX]


def test_what_does_not_say_what_it_is_or_says_it_twice_is_too() -> None:
    assert SANDBOX in _sent()
    assert SANDBOX in _sent((b"content-type", b"application/pdf"), (b"content-type", b"text/html"))


def test_a_document_with_a_viewer_of_its_own_is_shown() -> None:
    found = _sent((b"content-type", b"application/pdf"))
    assert (SANDBOX in found, NOSNIFF in found) == (False, True)


@pytest.mark.parametrize(
    "name",
    [
        b"Set-Cookie",
        b"content-security-policy",
        b"Service-Worker-Allowed",
        b"clear-site-data",
        b"X-Content-Type-Options",
    ],
)
def test_aws_does_not_speak_for_the_origin(name: bytes) -> None:
    assert _sent((name, b"x")) == [NOSNIFF, SANDBOX]
