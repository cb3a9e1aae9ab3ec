"""Malformed HTTP (cases 41 to 49; `test_bad_inputs.py` has the first ones), through uvicorn and httptools as `sentinel serve` runs them.

uvicorn answers some of these requests itself. Then any error status but 500 is accepted, as long as the connection ends and nothing is
sent to AWS. Elsewhere: slow headers (47) in `tests/gateway/doors/test_timeouts.py`; targets with `..` and `//` (45), which are refused for
all services but S3, in `test_request_head.py` and `test_sigv4.py`. Not tested: an absolute-form target (45), which RFC 9112 3.2.2 requires
every server to accept; its host is ignored, like every host that a client names.
"""

import re
from collections.abc import Callable, Iterator

import pytest

from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Answer, Signer, Wire, talk

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

FIELDS = f"Action=SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName={ASG}&DesiredCapacity=6".encode()
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(FIELDS), FIELDS)
SMUGGLED = b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"
_STATUS_LINE = re.compile(r"HTTP/\d\.\d \d{3}")
"""Of a response; the sentences of the gateway name the version, too."""


@pytest.fixture(autouse=True)
def nothing_asked(gate: Gate) -> Iterator[None]:
    """Each test sees only what it sends, and nothing may be sent on."""
    gate.upstream.asked.clear()
    yield
    gate.release_all()


def _wire(gate: Gate, target: str = "/") -> Wire:
    key = gate.keys["agent"]
    signer = Signer(url=gate.url, key_id=key.id, secret=key.secret)
    return signer.signed(target=target, headers={"content-type": FORM, **MOTIVE}, body=FIELDS)


def _raw(gate: Gate, *framing: str, body: bytes = FIELDS, line: str = "POST / HTTP/1.1", end: str = "\r\n") -> bytes:
    """The signed request with a request line, framing and line ends of our own."""
    fields = [f"{name}: {value}" for name, value in _wire(gate).headers]
    return end.join([line, *fields, *framing, "", ""]).encode("latin-1") + body


LENGTH = f"Content-Length: {len(FIELDS)}"
MALFORMED: dict[str, Callable[[Gate], bytes]] = {
    "41 length and chunks": lambda gate: _raw(gate, LENGTH, "Transfer-Encoding: chunked", body=CHUNKED + SMUGGLED),
    "42 two lengths": lambda gate: _raw(gate, LENGTH, LENGTH),
    "42 two different lengths": lambda gate: _raw(gate, LENGTH, "Content-Length: 3"),
    "42 a list of lengths": lambda gate: _raw(gate, f"{LENGTH},{len(FIELDS)}"),
    "42 a signed length": lambda gate: _raw(gate, "Content-Length: +3"),
    "42 gzip and chunks": lambda gate: _raw(gate, "Transfer-Encoding: gzip, chunked", body=CHUNKED),
    "42 identity": lambda gate: _raw(gate, "Transfer-Encoding: identity"),
    "42 chunks twice": lambda gate: _raw(
        gate, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=CHUNKED
    ),
    "42 chunks in HTTP/1.0": lambda gate: _raw(
        gate, "Transfer-Encoding: chunked", body=CHUNKED, line="POST / HTTP/1.0"
    ),
    "43 bare LF": lambda gate: _raw(gate, LENGTH, end="\n"),
    "43 folded header": lambda gate: _raw(gate, LENGTH, "X-A: b", " c"),
    "43 space before the colon": lambda gate: _raw(gate, LENGTH.replace(":", " :")),
    "44 two hosts": lambda gate: _wire(gate).adding("Host", "other").raw,
    "44 host twice": lambda gate: _wire(gate).adding("Host", _wire(gate).header("Host")).raw,
    "44 no host": lambda gate: _raw(gate, LENGTH).replace(b"Host:", b"X-Host:"),
    "44 host with a path": lambda gate: _wire(gate).with_header("Host", "a/b").raw,
    "44 host with a user": lambda gate: _wire(gate).with_header("Host", "user@a").raw,
    "44 host with a query": lambda gate: _wire(gate).with_header("Host", "a?b").raw,
    "44 host with a fragment": lambda gate: _wire(gate).with_header("Host", "a#b").raw,
    "45 NUL in the path": lambda gate: _wire(gate).raw.replace(b"POST /", b"POST /a\0b", 1),
    "45 encoded NUL in the path": lambda gate: _wire(gate, "/a%00b").raw,
    "45 dot segments": lambda gate: _wire(gate, "/a/../b").raw,
    "45 encoded dot segments": lambda gate: _wire(gate, "/%2e%2e/b").raw,
    "45 double slash": lambda gate: _wire(gate, "//evil.example/").raw,
    "48 HTTP/9.9": lambda gate: _raw(gate, LENGTH, line="POST / HTTP/9.9"),
    "48 HTTP/2 by name": lambda gate: _raw(gate, LENGTH, line="POST / HTTP/2.0"),
    "48 lower-case method": lambda gate: _raw(gate, LENGTH, line="post / HTTP/1.1"),
    "48 unknown method": lambda gate: _raw(gate, LENGTH, line="EXPLODE / HTTP/1.1"),
    "48 no version": lambda _: b"GET /\r\n\r\n",
    "49 TLS": lambda _: bytes.fromhex("16030100c8010000c40303") + bytes(64),
    "49 noise": lambda _: b"\x00\xff" * 64 + b"\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_http_is_refused_and_the_connection_ends(gate: Gate, name: str) -> None:
    answer = talk(gate.url, MALFORMED[name](gate), hang_up=True)
    assert answer.status in (0, 400), answer.text
    assert answer.closed
    assert _STATUS_LINE.search(answer.text) is None, "a second request was answered"
    assert gate.upstream.asked == []


def _refused(gate: Gate, raw: bytes, status: int) -> Answer:
    answer = talk(gate.url, raw)
    assert (answer.status, answer.headers["connection"]) == (status, "close"), answer.text
    assert gate.upstream.asked == []
    return answer


def _large(gate: Gate) -> dict[str, Wire]:
    many = _wire(gate)
    for index in range(5000):
        many = many.adding(f"x-{index}", "")
    some = _wire(gate)
    for index in range(9):
        some = some.adding(f"x-{index}", "a" * 4000)
    return {"one": _wire(gate).adding("x-a", "a" * 65536), "many": many, "together": some}


@pytest.mark.parametrize("which", ["one", "many", "together"])
def test_46_headers_beyond_every_client_are_refused_and_recorded(gate: Gate, which: str) -> None:
    answer = _refused(gate, _large(gate)[which].raw, 431)
    assert answer.code == "RequestHeaderSectionTooLarge"
    assert gate.records(stage=Stage.TURNED_AWAY)[-1].body.members["code"] == "headers_too_large"


def test_46_a_target_beyond_every_client_is_refused(gate: Gate) -> None:
    assert _refused(gate, _wire(gate, "/" + "a" * 8192).raw, 414).code == "RequestUriTooLong"


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "OPTIONS", "PROPFIND"])
def test_48_methods_that_no_api_of_aws_takes_are_refused(gate: Gate, method: str) -> None:
    target = "localhost:443" if method == "CONNECT" else "/"
    key = gate.keys["agent"]
    signed = Signer(url=gate.url, key_id=key.id, secret=key.secret).signed(method=method, headers=MOTIVE)
    raw = signed.raw.replace(f"{method} /".encode(), f"{method} {target}".encode(), 1)
    assert talk(gate.url, raw, hang_up=True).status in (0, 400, 403, 405)
    assert gate.upstream.asked == []


def test_a_websocket_is_refused(gate: Gate) -> None:
    upgrade = (
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert talk(gate.url, upgrade.encode(), hang_up=True).status in (0, 400, 403)


@pytest.mark.parametrize("path", ["/v1/records", "/healthz", "/v1/openapi.json"])
def test_the_api_has_the_same_request_limits(gate: Gate, path: str) -> None:
    answer = _refused(gate, f"GET {path} HTTP/1.1\r\nHost: a@b\r\n\r\n".encode(), 400)
    assert (answer.headers["content-type"], answer.code) == ("application/problem+json", "host")


def test_a_valid_request_passes_in_both_framings(gate: Gate) -> None:
    assert talk(gate.url, _raw(gate, LENGTH, "Connection: close")).status == 200
    body = FIELDS.replace(b"=6", b"=5")
    key = gate.keys["agent"]
    wire = Signer(url=gate.url, key_id=key.id, secret=key.secret).signed(
        headers={"content-type": FORM, **MOTIVE}, body=body
    )
    fields = [*wire.headers, ("Transfer-Encoding", "chunked"), ("Connection", "close")]
    head = "POST / HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "\r\n"
    assert talk(gate.url, head.encode() + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)).status == 200
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2
