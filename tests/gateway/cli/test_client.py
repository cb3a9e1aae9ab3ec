"""The API client, including errors, no response, and responses of other servers."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gateway.cli.client import ApiRefused, ApiUnreachable, CliIdentity, call_api, mutation_path
from gateway.core.errors import Malformed
from tests.kit.gate import Gate
from tests.kit.up import ROOT

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@contextmanager
def answering(status: int, body: bytes, *, location: str = "") -> Iterator[tuple[CliIdentity, list[str]]]:
    """A server that always sends the same response; yields its identity and the requested paths."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            if not status:
                return  # hang up
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield CliIdentity(url=f"http://127.0.0.1:{server.server_port}", token="a.b"), requested
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def records(identity: CliIdentity) -> dict[str, Any]:
    return asyncio.run(call_api(identity, "GET", "/records", member="records"))


NOT_OURS = {
    "a web page": (200, b"<html>Sign in</html>"),
    "nothing": (200, b""),
    "other JSON": (200, b'{"hello": "world"}'),
    "a list": (200, b'["records"]'),
    "an error of a proxy": (502, b"Bad gateway"),
    "ours, but not with success": (500, b'{"records": []}'),
    "not text": (200, b"\xff\xfe\x00"),
}


@pytest.mark.parametrize(("status", "body"), NOT_OURS.values(), ids=NOT_OURS)
def test_a_response_of_another_server_is_an_error(status: int, body: bytes) -> None:
    with answering(status, body) as (identity, _), pytest.raises(ApiUnreachable, match="is not Sentinel's API"):
        records(identity)


def test_a_redirect_is_not_followed_with_the_token() -> None:
    with (
        answering(200, b'{"records": []}') as (other, requested),
        answering(307, b"", location=other.url) as (identity, _),
        pytest.raises(ApiUnreachable, match=r"not Sentinel's API \(status 307\)"),
    ):
        records(identity)
    assert requested == []


def test_no_response() -> None:
    with answering(200, b"") as (identity, _):
        pass
    with pytest.raises(ApiUnreachable, match=r"No response from .* Is the gateway running"):
        records(identity)


def test_a_connection_that_breaks_off_says_that_the_change_may_have_happened() -> None:
    with (
        answering(0, b"") as (identity, _),
        pytest.raises(ApiUnreachable, match="check its outcome with `sentinel records`"),
    ):
        records(identity)


def test_the_error_text_of_the_api_is_kept() -> None:
    problem = b'{"code": "not_found", "detail": "There is none."}'
    with answering(404, problem) as (identity, _), pytest.raises(ApiRefused) as refused:
        records(identity)
    assert (str(refused.value), refused.value.status, refused.value.document["code"]) == (
        "There is none.",
        404,
        "not_found",
    )


def test_a_list_of_mistakes_becomes_a_sentence() -> None:
    mistakes = (
        b'{"detail": [{"loc": ["query", "limit"], "msg": "Too large"}, {"loc": ["body", "lasts"], "msg": "Wrong"}]}'
    )
    with (
        answering(422, mistakes) as (identity, _),
        pytest.raises(ApiRefused, match=r"^limit: Too large; lasts: Wrong\.$"),
    ):
        records(identity)


@pytest.mark.parametrize(
    "wrong", ["", "mut_", "mut_x/../../keys", "../records", "mut_" + "0" * 25 + "?", "MUT_" + "0" * 26]
)
def test_an_invalid_mutation_id_never_becomes_a_path(wrong: str) -> None:
    with pytest.raises(Malformed, match="is not a mutation id"):
        mutation_path(wrong, "approve")


def test_the_paths_of_a_mutation() -> None:
    assert mutation_path("mut_" + "0" * 26) == "/mutations/mut_" + "0" * 26
    assert mutation_path("mut_" + "0" * 26, "approve").endswith("0/approve")


@pytest.mark.parametrize("secret", ["wrong", "x" * 200])
def test_a_wrong_token_is_refused_in_a_sentence(
    secret: str, gate: Gate, document: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_URL", gate.url)
    monkeypatch.setenv("SENTINEL_TOKEN", f"{gate.keys['human'].id}.{secret}")
    code, reply = document("records")
    assert (code, reply["status"], reply["code"]) == (1, 401, "not_authenticated")


def test_without_a_gateway_a_command_says_so(document: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("SENTINEL_TOKEN", "a.b")
    code, reply = document("records")
    assert (code, reply["code"]) == (1, "api_unreachable")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Commands heed interrupts, also where a shell started the tests in the background and so told them to ignore these."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_one_interrupt_ends_a_command_though_the_gateway_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        command = subprocess.Popen(
            [sys.executable, "-m", "gateway", "records"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "SENTINEL_TOKEN": "a.b",
                 "SENTINEL_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"},
        )  # fmt: skip
        asked, _ = silent.accept()
        with asked:
            asked.recv(1)
            command.send_signal(signal.SIGINT)
            out, err = command.communicate(timeout=600)  # the gateway's answer is awaited for sixteen minutes
    assert (out, "Traceback" in err) == ("", False)
    assert command.returncode not in {0, -signal.SIGINT}
