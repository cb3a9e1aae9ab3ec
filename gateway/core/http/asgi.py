"""Converts an ASGI scope to an `Inbound`, reads its body up to a limit, and sends complete responses."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from gateway.core.errors import BodyTooLarge, Malformed
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Door
from gateway.core.ports import Clock
from gateway.core.quick_init import maker

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

BODY_FOLLOWS = "sentinel.body_follows"
"""A member of the start of a response whose body is sent at once: our server writes both together, every other ignores it."""
_DOOR = "sentinel.door"
_FIELDS = "sentinel.fields"
"""Members of a scope that only this process can set: no header becomes one."""
_inbound = maker(Inbound)
_DIGITS = 19
"""A longer Content-Length is no length; the server itself refuses it."""


def from_door(scope: Scope, door: Door) -> Scope:
    """The scope of a request to the API that another door makes for a person."""
    return {**scope, _DOOR: door}


def door_of_scope(scope: Scope) -> Door:
    """The door through which a request to the API came in: another one that passed it on, else the API itself."""
    return Door(scope.get(_DOOR, Door.API))


class RequestBody:
    """The body of one request, read at most once."""

    def __init__(
        self,
        receive: Receive,
        limit: int,
        *,
        declared: int = 0,
        limit_of_large: Callable[[], Awaitable[int]] | None = None,
        settings: tuple[str, str] = ("", ""),
        passed: Callable[[int], None] | None = None,
    ) -> None:
        """`declared` is the Content-Length. `limit_of_large` is asked once, for a body over `limit`: what limit this request has.
        `settings` are the names of the settings that both limits come from, for the refusal. `passed` is told the size of each piece
        that was read and is not kept.
        """
        self._receive = receive
        self._limit = limit
        self._declared = declared
        self._limit_of_large = limit_of_large
        self._settings = settings
        self._passed = passed
        self._ended = False
        self._bytes: bytes | None = None

    async def read(self) -> bytes:
        """The whole body. Raises `errors.BodyTooLarge`, and `errors.Malformed` if the client disconnected before its end."""
        if self._bytes is not None:
            return self._bytes
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            part: bytes = message.get("body", b"")
            if len(part) <= self._limit and self._declared <= self._limit:
                self._bytes = part
                return part
        self._bytes = await self._whole(message)
        return self._bytes

    async def _whole(self, message: Message) -> bytes:
        """The body whose first message this is."""
        parts: list[bytes] = []
        size = 0
        while True:
            if message["type"] == "http.disconnect":
                raise Malformed("The client hung up before its request was complete; nothing was sent.")
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > self._limit and await self._is_too_large(size):
                raise BodyTooLarge(self._limit, self._settings[0])
            # What will be refused is read, so that the client is there for the answer, and not kept.
            if self._declared <= self._limit or not await self._is_too_large(self._declared):
                parts.append(part)
            if not message.get("more_body"):
                break
            message = await self._receive()
        if self._declared > self._limit and await self._is_too_large(self._declared):
            raise BodyTooLarge(self._limit, self._settings[0])
        return b"".join(parts)

    async def parts(self, limit: int, setting: str) -> AsyncIterator[bytes]:
        """The body in pieces, as they arrive; none is kept.

        Raises `errors.BodyTooLarge`, and `errors.Malformed` if the client disconnected before its end.
        """
        size = 0
        while not self._ended:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._ended = True
                raise Malformed(
                    "The client hung up before its upload was complete; AWS stores nothing of it.",
                    aws_code="IncompleteBody",
                )
            self._ended = not message.get("more_body")
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise BodyTooLarge(limit, setting)
            yield part
            if self._passed is not None:
                self._passed(len(part))

    async def discard(self, limit: int) -> None:
        """Read what is left of the body, up to `limit` bytes: a client that is still sending does not see an answer."""
        while not self._ended and limit > 0:
            message = await self._receive()
            size = len(message.get("body", b""))
            limit -= size
            if self._passed is not None:
                self._passed(size)
            self._ended = message["type"] == "http.disconnect" or not message.get("more_body")

    def forget(self) -> None:
        """The request is answered. What asks for its limit refers to it, so all of it would wait for the garbage collector: 60 objects of a
        read, in memory that is then used in turn and never near.
        """
        self._limit_of_large = None

    async def _is_too_large(self, size: int) -> bool:
        if size > self._limit and self._limit_of_large is not None:
            ask, self._limit_of_large = self._limit_of_large, None
            larger = await ask()
            if larger > self._limit:
                self._limit, self._settings = larger, self._settings[::-1]
        return size > self._limit


def declared_length(scope: Scope) -> int:
    """The Content-Length of a request whose head was checked; 0 if it states none."""
    length = fields_of(scope).get(b"content-length", b"")
    return int(length) if 0 < len(length) < _DIGITS else 0


def fields_of(scope: Scope) -> Mapping[bytes, bytes]:
    """The headers of a request by name, the first one if it was sent more than once. Kept in the scope: each step looks at some."""
    headers = scope["headers"]
    kept: tuple[object, Mapping[bytes, bytes]] | None = scope.get(_FIELDS)
    if kept is None or kept[0] is not headers:  # a copy of a scope may have other headers
        kept = scope[_FIELDS] = headers, dict(reversed(headers))
    return kept[1]


def inbound_of(scope: Scope, body: RequestBody, clock: Clock, bucket: str | None = "") -> Inbound:
    """The request as it arrived. Uses the raw path, because in `scope["path"]` an encoded `%2F` has become `/`."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    target = raw.partition(b"?")[0] + (b"?" + query if query else b"")
    client = scope.get("client")
    return _inbound(
        method=scope["method"],
        target=target.decode("latin-1"),
        headers=tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]),
        read_body=body.read,
        received_at=clock.now(),
        scheme=scope.get("scheme", "http"),
        peer=client[0] if client else "",
        bucket=bucket,
    )


async def send_response(send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    """Send one complete response."""
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw, BODY_FOLLOWS: True})
    await send({"type": "http.response.body", "body": body})
