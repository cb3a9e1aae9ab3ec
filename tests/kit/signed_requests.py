"""Requests signed with botocore and sent as raw bytes, so that a test can change any part before or after signing."""

import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from gateway.core.http.strict_parsers import cbor_value

FORM = "application/x-www-form-urlencoded; charset=utf-8"
MOTIVE = {"x-sentinel-intent": "availability", "x-sentinel-motivation": "incident; evidence=A-1"}
_CODE = re.compile(rb"<Code>([^<]*)</Code>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP response."""

    status: int
    """0 if the connection was closed without a response."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    closed: bool = True
    """Whether the server closed the connection (or said that it would)."""

    @property
    def code(self) -> str:
        """The AWS error code, in any protocol."""
        kind = self.headers.get("content-type", "")
        if "json" in kind or "cbor" in kind:
            document = json.loads(self.body) if "json" in kind else cbor_value(self.body)
            return str(document.get("__type") or document.get("code"))
        found = _CODE.search(self.body)
        return found[1].decode() if found else ""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """An HTTP request before serialization."""

    method: str = "POST"
    target: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """The value of a header."""
        return next(value for key, value in self.headers if key.lower() == name.lower())

    def with_header(self, name: str, value: str) -> "Wire":
        """A copy with a header replaced or added."""
        kept = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        return replace(self, headers=(*kept, (name, value)))

    def adding(self, name: str, value: str) -> "Wire":
        """A copy with one more header."""
        return replace(self, headers=(*self.headers, (name, value)))

    def editing(self, name: str, edit: Callable[[str], str]) -> "Wire":
        """A copy with an edited header value."""
        return self.with_header(name, edit(self.header(name)))

    @property
    def raw(self) -> bytes:
        """The bytes to send. The connection is closed after the response."""
        lengths = () if self.method == "GET" and not self.body else (("Content-Length", str(len(self.body))),)
        fields = (*self.headers, *lengths, ("Connection", "close"))
        head = f"{self.method} {self.target} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
        return head.encode("latin-1") + b"\r\n" + self.body


def _sign(auth: Any, request: Any, timestamp: str) -> None:
    """Does what `SigV4Auth.add_auth` does, with a given timestamp."""
    request.context["timestamp"] = timestamp
    auth._modify_request_before_signing(request)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    auth._inject_signature_to_request(request, auth.signature(text, request))


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Signs for one key, service and region. `url` is the URL of the gateway."""

    url: str
    key_id: str
    secret: str
    service: str = "autoscaling"
    region: str = "us-east-1"

    def signed(
        self,
        *,
        method: str = "POST",
        target: str = "/",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        at: datetime | None = None,
        payload: str = "",
    ) -> Wire:
        """A signed request. `payload` is the value of `x-amz-content-sha256`, used as given; `at` is the stated time of signing."""
        request = AWSRequest(method=method, url=self.url + target, data=body, headers={**(headers or {})})
        if payload:
            request.headers["x-amz-content-sha256"] = payload
        timestamp = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
        auth = SigV4Auth(Credentials(self.key_id, self.secret), self.service, self.region)
        _sign(auth, request, timestamp)
        return Wire(method=method, target=target, headers=(("Host", self._host), *request.headers.items()), body=body)

    def presigned(self, *, method: str = "GET", target: str) -> Wire:
        """A presigned request, with the signature in the query."""
        request = AWSRequest(method=method, url=self.url + target)
        SigV4QueryAuth(Credentials(self.key_id, self.secret), self.service, self.region).add_auth(request)
        parts = urlsplit(request.url)
        return Wire(method=method, target=f"{parts.path}?{parts.query}", headers=(("Host", self._host),))

    @property
    def _host(self) -> str:
        return urlsplit(self.url).netloc


def talk(url: str, raw: bytes, *, hang_up: bool = False, seconds: float = 300) -> Answer:
    """Send bytes to the gateway and read until it closes the connection or `seconds` pass without data. `hang_up` closes our side first."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=seconds) as connection:
        connection.sendall(raw)
        if hang_up:
            connection.shutdown(socket.SHUT_WR)
        received, closed = b"", True
        try:
            while part := connection.recv(65536):
                received += part
        except TimeoutError:
            closed = False
        except ConnectionResetError:
            pass
    return _answer(received, closed)


def _answer(received: bytes, closed: bool) -> Answer:
    head, _, body = received.partition(b"\r\n\r\n")
    if not head:
        return Answer(status=0, closed=closed)
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answer(
        status=int(status.split(" ")[1]),
        headers=headers,
        body=body,
        closed=closed or headers.get("connection") == "close",
    )
