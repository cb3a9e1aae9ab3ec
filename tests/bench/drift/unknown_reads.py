"""Answers reads that the simulated AWS does not know as AWS does where there is nothing: an empty reply in the service's protocol.

The provider reads tags, policies and the like of everything it makes. Without an answer it gives up a resource that is there.
"""

import io
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

_KNOWN = {"ValidateStateMachineDefinition": b'{"result": "OK", "diagnostics": []}'}
"""Replies of which the provider expects more."""
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_READS = ("List", "Get", "Describe", "BatchGet")


def answering_reads(application: Application) -> Application:
    """The WSGI application, with an empty reply in place of its page for an operation that it does not know."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        said: list[Any] = []
        try:
            reply = b"".join(application(environ, lambda *status: said.append(status)))
        except NotImplementedError:
            if (empty := _empty(environ, body)) is None:
                raise
        else:
            unknown = said[0][0].startswith("404") and reply[:15].lower() == b"<!doctype html>"
            empty = _empty(environ, body) if unknown else None
        if empty is None:
            start(*said[0])
            return [reply]
        kind, text = empty
        start("200 OK", [("Content-Type", kind), ("Content-Length", str(len(text)))])
        return [text]

    return answer


def _empty(environ: dict[str, Any], body: bytes) -> tuple[str, bytes] | None:
    """Type and text of the empty reply to a read; None for any other request."""
    if target := environ.get("HTTP_X_AMZ_TARGET", ""):
        operation = target.rpartition(".")[2]
        reply = _KNOWN.get(operation, b"{}" if operation.startswith(_READS) else None)
        return None if reply is None else ("application/x-amz-json-1.1", reply)
    form = parse_qs(body.decode(errors="replace")) if "x-www-form-urlencoded" in environ.get("CONTENT_TYPE", "") else {}
    if action := form.get("Action", [""])[0]:
        xml = f"<{action}Response><{action}Result/></{action}Response>"
        return ("text/xml", xml.encode()) if action.startswith(_READS) else None
    named = environ["PATH_INFO"].rpartition("/")[2].lower().startswith(tuple(name.lower() for name in _READS))
    return ("application/json", b"{}") if environ["REQUEST_METHOD"] == "GET" or named else None
