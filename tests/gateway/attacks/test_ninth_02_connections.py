"""A stranger filled the memory of a gateway over one connection: 54 MB of short headers took 1.4 GB, 30 MB of pipelined requests 2 GB.

uvicorn collects a head without a limit, and queues every request that comes before the answers to those before it. It also adds the fields
after a body to the headers, and tells a request that is being served nothing of its client's end if another one waits behind it: the six
streams of a person in the console stayed taken for ever. What must hold: `gateway/doors/bounded_protocol.py`, whose own tests are exact.
"""

import re
import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from gateway.doors.bounded_protocol import MOST_WAITING
from gateway.doors.console.pulse import MOST_OF_A_VISITOR
from tests.kit.console import visitor
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GET = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


def _connected(gate: Gate) -> socket.socket:
    parts = urlsplit(gate.url)
    connection = socket.create_connection((parts.hostname, parts.port))
    connection.settimeout(300)
    return connection


def _answers(connection: socket.socket, *, most: int) -> bytes:
    """What comes until the connection ends, or until there are so many answers."""
    received = b""
    with suppress(ConnectionError):
        while received.count(b"HTTP/1.1 ") < most and (data := connection.recv(65_536)):
            received += data
    return received


def test_a_client_that_sends_ahead_is_not_kept_in_memory(gate: Gate) -> None:
    with _connected(gate) as connection, suppress(ConnectionError):
        connection.sendall(GET * (20 * MOST_WAITING))
        assert _answers(connection, most=20 * MOST_WAITING).count(b"HTTP/1.1 ") < 20 * MOST_WAITING
        assert connection.recv(1) == b""


def test_a_few_requests_in_one_piece_are_answered(gate: Gate) -> None:
    with _connected(gate) as connection:
        connection.sendall(GET * 50)
        assert _answers(connection, most=50).count(b"HTTP/1.1 200 ") == 50


def test_an_endless_head_is_refused_before_its_time_is_up(gate: Gate) -> None:
    with _connected(gate) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        with pytest.raises(ConnectionError):
            connection.sendall(b"a:b\r\n" * 3_000_000)  # more than the buffers of both ends hold


def test_the_places_of_a_person_who_left_are_free_again(gate: Gate) -> None:
    person = visitor(gate, "human")
    cookie = "; ".join(f"{each.name}={each.value}" for each in person.cookies.jar)
    stream = (
        f"GET /console/feed/stream?after=0 HTTP/1.1\r\nHost: {urlsplit(gate.url).netloc}\r\nCookie: {cookie}\r\n\r\n"
    )
    for _ in range(MOST_OF_A_VISITOR):
        with _connected(gate) as connection:
            connection.sendall(stream.encode())
            assert re.match(rb"HTTP/1.1 200", connection.recv(1_000))
            connection.sendall(GET)
    ends = time.monotonic() + 300
    while True:
        with httpx.stream("GET", f"{gate.url}/console/feed/stream?after=0", headers={"cookie": cookie}) as answer:
            if answer.status_code == 200 or time.monotonic() > ends:
                assert answer.status_code == 200
                return
        time.sleep(0.1)
