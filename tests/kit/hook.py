"""A receiver of webhooks on loopback, which answers as it is told: with a status, never, without an end, or not in HTTP."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

_CHUNK = b"x" * 65536


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body as JSON."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass
class HookStub:
    """The receiver."""

    behaviour: str = "200"
    """A status, with headers after a blank (`503 Retry-After: 7`), or: silent, endless, drip, garbage, drop."""
    refuses: set[str] = field(default_factory=set)
    """Ids that get 400 whatever the behaviour is."""
    bodies: dict[str, bytes] = field(default_factory=dict)
    """What is said with a status, by the path of the request."""
    received: list[Received] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    """Set once a sender has gone away from an answer without an end."""
    closing: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        """The ids of what arrived, in order."""
        return [each.headers["webhook-id"] for each in list(self.received)]


class _Handler(socketserver.StreamRequestHandler):
    stub: HookStub

    def handle(self) -> None:
        """Read one request, answer, and close the connection."""
        line = self.rfile.readline().decode("latin-1").split()
        headers: dict[str, str] = {}
        while (header := self.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", "0")))
        if len(line) < 2:
            return
        self.stub.received.append(Received(path=line[1], headers=headers, body=body))
        refused = headers.get("webhook-id") in self.stub.refuses
        with contextlib.suppress(OSError):
            self._answer("400" if refused else self.stub.behaviour, self.stub.bodies.get(line[1], b""))

    def _answer(self, behaviour: str, said: bytes) -> None:
        match behaviour.partition(" ")[0]:
            case "silent":
                self.stub.closing.wait(300)
            case "endless":
                self._endless(b"HTTP/1.1 200 OK\r\n\r\n", _CHUNK)
            case "drip":
                self._endless(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n")
            case "garbage":
                self.wfile.write(b"\x00\xff not HTTP\r\n\r\n")
            case "drop":
                return
            case status:
                more = behaviour.partition(" ")[2]
                head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(said)}\r\n" + (f"{more}\r\n" if more else "")
                self.wfile.write(f"{head}\r\n".encode() + said)

    def _endless(self, head: bytes, part: bytes) -> None:
        try:
            self.wfile.write(head)
            while not self.stub.closing.is_set():
                self.wfile.write(part)
        finally:
            self.stub.ended.set()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def receiving(stub: HookStub) -> Iterator[HookStub]:
    """The stub, listening until the block ends."""
    handler = type("Handler", (_Handler,), {"stub": stub})
    with _Server(("127.0.0.1", 0), handler) as server:
        stub.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield stub
        finally:
            stub.closing.set()
            server.shutdown()
            thread.join(300)
