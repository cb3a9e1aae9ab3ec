"""What protects every page: which requests are let in, and the headers of every answer."""

from collections.abc import Mapping
from typing import Final

from gateway.doors.asgi import Message, Receive, Scope, Send, send_response
from gateway.doors.router import App

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""On every answer of the console."""
_SAFE: Final = frozenset({"GET", "HEAD"})
_FOREIGN: Final = (
    "This form did not come from a page of this console, so nothing was changed. Open the console by https, or on this machine by "
    "http://localhost, in a browser that sends Sec-Fetch-Site, and send the form again."
)


class Guard:
    """An ASGI application in front of the pages."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse one that another site's page made."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                own = {**HEADERS, "cache-control": "no-store"}
                more = [(name.encode(), value.encode()) for name, value in own.items() if name.encode() not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        if scope["method"] in _SAFE or _from_here(scope):
            await self._app(scope, receive, guarded)
            return
        body = _FOREIGN.encode()
        headers = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body)))]
        await send_response(guarded, 403, headers, body)


def _from_here(scope: Scope) -> bool:
    """Whether a page of this origin made the request. Browsers say so, and no page can change what they say."""
    values = [value for name, value in scope["headers"] if name == b"sec-fetch-site"]
    return values == [b"same-origin"]
