"""Keeps what AWS answers to a browser from acting as the console, which has the same origin.

A browser opens presigned URLs and sends forms, and it runs the scripts of a page that it opens. Anyone who may write to a bucket can make one.
"""

from collections.abc import Sequence
from typing import Final

from gateway.core.http.asgi import Message, Send
from gateway.core.model.inbound import Inbound

_NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_SANDBOX: Final = (b"content-security-policy", b"sandbox")
"""A page in a sandbox has an origin of its own, without cookies, and runs no script."""
_REPLACED: Final = frozenset(
    {
        b"clear-site-data",
        b"content-security-policy",
        b"service-worker-allowed",
        b"set-cookie",
        b"x-content-type-options",
    }
)
"""What would speak for the whole origin, or take the place of ours."""
_OPENED_APART: Final = frozenset({b"application/pdf"})
"""Browsers open these in a viewer of its own, which a sandbox would close; their scripts do not have the origin."""


def for_client(inbound: Inbound, send: Send) -> Send:
    """`send`, confined where a browser may have asked: one that opens an address or sends a form cannot add the header of a signature."""
    return confined(send) if "authorization" not in inbound.by_name else send


def confined(send: Send) -> Send:
    """`send`, with headers that give a page of the answer no rights at this origin."""

    async def confining(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send({**message, "headers": _headers(message.get("headers", ()))})
        else:
            await send(message)

    return confining


def _headers(given: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in given if name.lower() not in _REPLACED]
    kinds = [value.partition(b";")[0].strip().lower() for name, value in kept if name.lower() == b"content-type"]
    apart = len(kinds) == 1 and kinds[0] in _OPENED_APART
    return [*kept, _NOSNIFF, *(() if apart else (_SANDBOX,))]
