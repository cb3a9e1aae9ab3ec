"""Every answer has the headers that protect it, and no other site's page can act."""

import asyncio
from typing import Any

import pytest

from gateway.core.http.asgi import send_response
from gateway.doors.console.site import HEADERS, Guard


async def _page(_scope: Any, _receive: Any, send: Any) -> None:
    await send_response(send, 200, [("content-type", "text/html"), ("cache-control", "public")], b"page")


def answer(method: str, *headers: tuple[bytes, bytes]) -> tuple[int, dict[str, str]]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {}

    scope = {"type": "http", "method": method, "headers": list(headers)}
    asyncio.run(Guard(_page)(scope, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_the_policy_lets_in_no_foreign_script_style_or_frame() -> None:
    status, headers = answer("GET")
    assert status == 200
    assert HEADERS.items() <= headers.items()
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "public"


@pytest.mark.parametrize("site", [b"cross-site", b"same-site", b"none", b"", b"SAME-ORIGIN"])
def test_an_act_from_elsewhere_is_refused(site: bytes) -> None:
    status, headers = answer("POST", (b"sec-fetch-site", site))
    assert (status, headers["cache-control"]) == (403, "no-store")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_an_act_needs_the_browser_s_word(method: str) -> None:
    assert answer(method)[0] == 403
    assert answer(method, (b"sec-fetch-site", b"same-origin"), (b"sec-fetch-site", b"same-origin"))[0] == 403
    assert answer(method, (b"sec-fetch-site", b"same-origin"))[0] == 200


def test_a_link_from_elsewhere_opens_a_page() -> None:
    assert answer("GET", (b"sec-fetch-site", b"cross-site"))[0] == 200
