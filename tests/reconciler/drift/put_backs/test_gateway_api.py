"""What the gateway answers, and what is no answer."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest

from gateway.core.errors import SettingsInvalid
from reconciler.drift.put_backs.gateway_api import GatewayAnswer, GatewayApi
from reconciler.errors import GatewayUnreachable
from tests.kit.up import free_port

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


class _Handler(BaseHTTPRequestHandler):
    reply: ClassVar[tuple[int, bytes]] = (200, b"{}")
    asked: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.asked.append((self.path, self.headers["Authorization"]))
        status, body = self.reply
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def api() -> Iterator[GatewayApi]:
    """The API of a gateway that says what the test tells it to."""
    _Handler.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield GatewayApi(url=f"http://127.0.0.1:{server.server_port}", key_id="SNTL1", key_secret="s")
    server.shutdown()
    server.server_close()


async def test_it_asks_once_with_the_reconcilers_key(api: GatewayApi) -> None:
    _Handler.reply = (200, b"{}")
    assert (await api.put_back("mut_1")).applied
    assert _Handler.asked == [("/v1/mutations/mut_1/put-back", "Bearer SNTL1.s")]
    assert "secret" not in repr(api)


@pytest.mark.parametrize(
    ("status", "code", "refused", "held"),
    [
        (403, "refused", True, False),
        (422, "aws_refused", True, False),
        (202, "held", False, True),
        (409, "outcome_unknown", False, False),
        (409, "claim_taken", False, False),
        (403, "stopped", False, False),
        (429, "budget_spent", False, False),
        (429, "breaker_open", False, False),
        (404, "not_found", True, False),
    ],
)
async def test_a_refusal_is_told_from_not_now(
    api: GatewayApi, status: int, code: str, refused: bool, held: bool
) -> None:
    _Handler.reply = (status, b'{"code": "%s", "detail": "Because."}' % code.encode())
    answer = await api.put_back("mut_1")
    assert (answer.code, answer.detail, answer.refused, answer.held) == (code, "Because.", refused, held)
    assert not answer.applied


@pytest.mark.parametrize(
    "reply", [(200, b"<html>"), (503, b'{"code": "x"}'), (401, b"{}"), (200, b"[1]"), (302, b""), (500, b"{}")]
)
async def test_anything_else_is_no_answer(api: GatewayApi, reply: tuple[int, bytes]) -> None:
    _Handler.reply = reply
    with pytest.raises(GatewayUnreachable):
        await api.put_back("mut_1")
    assert len(_Handler.asked) == 1


async def test_no_gateway_is_no_answer() -> None:
    with pytest.raises(GatewayUnreachable):
        await GatewayApi(url=f"http://127.0.0.1:{free_port()}", key_id="k", key_secret="s").put_back("mut_1")


async def test_without_a_key_nothing_is_asked(api: GatewayApi) -> None:
    with pytest.raises(SettingsInvalid):
        await GatewayApi(url=api.url, key_id="", key_secret="").put_back("mut_1")
    assert not _Handler.asked


def test_a_stop_is_no_refusal() -> None:
    detail = "Sentinel refused it. [never.stopped] All changes are stopped."
    assert not GatewayAnswer(status=403, code="stopped", detail=detail).refused


def test_the_sentence_of_a_refusal_does_not_make_it_a_stop() -> None:
    detail = "[bound] aws_sqs_queue.never.stopped is not to be changed."
    assert GatewayAnswer(status=403, code="refused", detail=detail).refused


def test_an_answer_is_applied_only_by_its_status() -> None:
    assert not GatewayAnswer(status=202, code="", detail="").applied
