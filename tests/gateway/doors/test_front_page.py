"""A browser at `/` sees a page; everything else there is an AWS request."""

from typing import Any

import pytest

from gateway.core.http.asgi import Message
from gateway.doors.front_page import is_browser_at_root, send_front_page

ACCEPT = (b"accept", b"text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")


def _scope(method: str = "GET", path: str = "/", query: bytes = b"", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "query_string": query, "headers": [*headers]}


async def _page(scope: dict[str, Any], public_url: str = "", *, console: bool = False) -> tuple[dict[str, str], str]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await send_front_page(scope, send, public_url, console=console)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return headers, sent[1]["body"].decode()


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        (_scope("GET", "/", b"", ACCEPT), True),
        (_scope("HEAD", "/", b"", ACCEPT), True),
        (_scope("GET", "/", b""), False),
        (_scope("GET", "/", b"", (b"accept", b"*/*")), False),
        (_scope("GET", "/bucket", b"", ACCEPT), False),
        (_scope("GET", "/", b"Action=DescribeVpcs", ACCEPT), False),
        (_scope("POST", "/", b"", ACCEPT), False),
    ],
)
def test_only_a_browser_at_the_root_sees_it(scope: dict[str, Any], *, shown: bool) -> None:
    assert is_browser_at_root(scope) is shown


async def test_the_page_says_what_this_is_and_where_to_go() -> None:
    headers, page = await _page(_scope("GET", "/", b"", ACCEPT, (b"host", b"127.0.0.1:8484")))
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-length"] == str(len(page))
    for needed in ("/v1/docs", "README.md", "AWS_ENDPOINT_URL=http://127.0.0.1:8484", "/readyz"):
        assert needed in page


async def test_nothing_on_it_can_run() -> None:
    headers, page = await _page(_scope("GET", "/", b"", ACCEPT, (b"host", b"h")))
    assert "<script" not in page
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


async def test_the_public_url_is_shown_escaped() -> None:
    _, page = await _page(_scope("GET", "/", b"", (b"host", b"h")), 'https://a"<b>')
    assert "https://a&quot;&lt;b&gt;" in page


async def test_a_head_request_gets_no_body() -> None:
    headers, page = await _page(_scope("HEAD", "/", b"", ACCEPT))
    assert page == ""
    assert int(headers["content-length"]) > 500


async def test_the_console_is_named_where_there_is_one() -> None:
    _, page = await _page(_scope("GET", "/", b"", ACCEPT), console=True)
    assert 'href="/console"' in page
    assert "/console" not in (await _page(_scope("GET", "/", b"", ACCEPT)))[1]
