"""One outbound request without an event loop, for commands and threads: the standard library's client is imported in a tenth of the time of aiohttp."""

import http.client
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from gateway.core.outbound.response import HttpResponse, NoAnswer, NotSent, ResponseTooLong


def blocking_request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes | None = None,
    connect_seconds: float,
    wait_seconds: float,
    most_bytes: int,
) -> HttpResponse:
    """The response to one request, sent once; a redirect is a response like any other. `wait_seconds` limits each wait for bytes.

    Raises `NotSent` if no byte was sent, otherwise `NoAnswer` (also `ResponseTooLong`).
    """
    try:
        parts = urlsplit(url)
        connection = _connection(parts.scheme, parts.hostname or "", parts.port, connect_seconds)
    except (http.client.InvalidURL, ValueError) as error:
        raise NotSent(type(error).__name__) from None
    try:
        try:
            connection.connect()
        except OSError as error:
            raise NotSent(str(error) or type(error).__name__) from error
        connection.sock.settimeout(wait_seconds)
        try:
            connection.request(
                method,
                f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}",
                body=body,
                headers=dict(headers),
            )
            reply = connection.getresponse()
            content = reply.read(most_bytes + 1)
            if reply.length and len(content) <= most_bytes:
                raise NoAnswer("the connection ended before the response did")
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(type(error).__name__) from error
        head = HttpResponse(status=reply.status, headers=tuple(reply.getheaders()), body=b"")
        if len(content) > most_bytes:
            raise ResponseTooLong(most_bytes, head)
        return HttpResponse(status=head.status, headers=head.headers, body=content)
    finally:
        connection.close()


def _connection(scheme: str, host: str, port: int | None, seconds: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port or 443, timeout=seconds, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port or 80, timeout=seconds)
