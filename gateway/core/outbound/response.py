"""The response to an outbound request, and the failures that say whether the request may have been sent."""

import json
from collections.abc import AsyncIterable
from dataclasses import dataclass, replace
from typing import Any

from gateway.core.quick_init import quick_init


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A complete response, whatever its status."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """As received (latin-1 text). The client towards AWS removes hop-by-hop fields."""
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header by its lower-case name; empty if it is absent."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    def document(self) -> Any:
        """The body as JSON; None if it is not JSON, or nested too deeply to be read. The reader of the body limits its size."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class OutboundFailure(Exception):
    """A request without a complete response. The text never holds the URL, which may be a secret."""


class NotSent(OutboundFailure):
    """No connection was established, so no byte of the request was sent."""


class AddressRefused(NotSent, OSError):
    """The host's address is one that the guard of the client refuses."""


class NoAnswer(OutboundFailure):
    """Bytes may have been sent, and no complete reply arrived."""


class ResponseOverdue(NoAnswer):
    """The time of the whole exchange passed."""


class ResponseTooLong(NoAnswer):
    """The body has more bytes than the caller reads. The head is known."""

    def __init__(self, most_bytes: int, head: HttpResponse) -> None:
        super().__init__(f"more than {most_bytes} bytes")
        self.head = head
        """The response without its body."""


async def whole_response(head: HttpResponse, parts: AsyncIterable[bytes], most_bytes: int) -> HttpResponse:
    """The response with its body, whose parts are read to the end: a part is what has arrived, not what was asked for.

    Raises `ResponseTooLong`.
    """
    read: list[bytes] = []
    size = 0
    async for part in parts:
        size += len(part)
        if size > most_bytes:
            raise ResponseTooLong(most_bytes, head)
        read.append(part)
    return replace(head, body=b"".join(read))
