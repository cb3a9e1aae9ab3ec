"""The receivers: what each is told, how that is signed, and one POST to those that answer, are slow, have no end, redirect, or are where nothing may be sent."""

import asyncio
import base64
import ipaddress
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from gateway.core.errors import SettingsInvalid
from gateway.core.records.record import Stage
from gateway.core.settings.notices import WebhookSettings
from gateway.notices.content import notice_of
from reconciler.notify.receivers import Post, PostAnswer, WebhookReceiver
from tests.kit.hold_records import HELD, held_record
from tests.kit.hold_records import record as record_of
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()


def hook(**given: object) -> WebhookReceiver:
    settings = {"name": "ops", "url": "https://ops.example/", "secret": SECRET, **given}
    return WebhookReceiver(settings=WebhookSettings.model_validate(settings))


def test_a_webhook_is_the_same_at_each_attempt_but_for_its_time() -> None:
    record = held_record()
    notice = notice_of(record)
    assert notice is not None
    now = datetime.now(UTC)
    [first], [second] = (hook().sendings(notice, record, at) for at in (now, now.replace(year=now.year + 1)))
    assert (first.body, first.path) == (second.body, "")
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == notice.id
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert Webhook(SECRET).verify(first.body, dict(first.headers))["data"]["mutation_id"] == HELD
    assert not hook().ends_cards(record)


def test_without_a_secret_nothing_is_made() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    with pytest.raises(SettingsInvalid, match="no secret now"):
        hook(secret="", secret_env="NOT_SET_HERE").sendings(notice, held_record(), datetime.now(UTC))


def test_filters_are_those_of_the_settings() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    assert hook().fits(notice)
    assert not hook(stacks=["other"]).fits(notice)
    assert (hook().name, hook(retry_seconds=[1, 2]).schedule) == ("ops", (1, 2))


LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


@pytest.fixture
def stub() -> Iterator[HookStub]:
    with receiving(HookStub()) as made:
        yield made


async def _sent(url: str, *, allowed: bool = True, seconds: float = 300.0) -> PostAnswer:
    post = Post(url, networks=LOOPBACK if allowed else [], seconds=seconds)
    return await post.send(b'{"a": 1}', {"content-type": "application/json", "webhook-id": "rec_1_a"})


async def test_it_is_sent_once_with_its_headers(stub: HookStub) -> None:
    assert await _sent(stub.url) == PostAnswer(status=200)
    [received] = stub.received
    assert (received.path, received.body, received.headers["webhook-id"]) == ("/hook", b'{"a": 1}', "rec_1_a")
    assert "cookie" not in received.headers


@pytest.mark.parametrize(
    ("behaviour", "answer"),
    [
        ("204", PostAnswer(status=204)),
        ("500", PostAnswer(status=500, error="It answered 500.")),
        ("503 Retry-After: 7", PostAnswer(status=503, error="It answered 503.", retry_after=7)),
        ("503 Retry-After: 999999", PostAnswer(status=503, error="It answered 503.", retry_after=86_400)),
        ("429 Retry-After: -1", PostAnswer(status=429, error="It answered 429.")),
    ],
)
async def test_the_status_counts(stub: HookStub, behaviour: str, answer: PostAnswer) -> None:
    stub.behaviour = behaviour
    assert await _sent(stub.url) == answer


async def test_a_redirect_is_not_followed(stub: HookStub) -> None:
    with receiving(HookStub()) as other:
        stub.behaviour = f"307 Location: {other.url}"
        answer = await _sent(stub.url)
        assert (answer.status, answer.error) == (307, "It answered 307; redirects are not followed.")
        assert not other.received


async def test_an_answer_without_an_end_is_not_waited_for(stub: HookStub) -> None:
    stub.behaviour = "endless"
    assert await _sent(stub.url) == PostAnswer(status=200)
    assert await asyncio.to_thread(stub.ended.wait, 300)


@pytest.mark.parametrize("behaviour", ["silent", "drip"])
async def test_a_receiver_that_never_answers_is_left(stub: HookStub, behaviour: str) -> None:
    stub.behaviour = behaviour
    answer = await _sent(stub.url, seconds=0.3)
    assert answer.status == 0
    assert answer.error


@pytest.mark.parametrize("behaviour", ["garbage", "drop"])
async def test_what_is_not_http_is_a_failure(stub: HookStub, behaviour: str) -> None:
    stub.behaviour = behaviour
    answer = await _sent(stub.url)
    assert (answer.status, "could not be reached, or its answer is not HTTP" in answer.error) == (0, True)
    assert "127.0.0.1" not in answer.error


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0"],
)
async def test_this_machine_is_not_reached_by_any_of_its_names(stub: HookStub, host: str) -> None:
    answer = await _sent(f"http://{host}:{stub.port}/hook", allowed=False)
    assert answer.status == 0
    assert "nothing was sent" in answer.error or "InvalidUrl" in answer.error
    assert not stub.received


@pytest.mark.parametrize(
    "url", ["https://169.254.169.254/latest/meta-data", "https://[fd00:ec2::254]/", "https://10.0.0.1/"]
)
async def test_private_addresses_are_not_reached_over_https(url: str) -> None:
    assert "not one of the public internet" in (await _sent(url, allowed=False)).error


async def test_nobody_listens() -> None:
    answer = await _sent("http://127.0.0.1:9/secret-path")
    assert answer.status == 0
    assert "secret-path" not in answer.error


def test_a_receiver_is_told_what_it_wants() -> None:
    held = notice_of(held_record())
    denied = notice_of(held_record(decision={"verdict": "deny", "carried_out": False, "findings": []}))
    settled = notice_of(record_of(Stage.SETTLED, {"outcome": "applied"}))
    assert held is not None
    assert denied is not None
    assert settled is not None
    told = {
        "all": hook(),
        "type": hook(events=["mutation.held"]),
        "stack": hook(stacks=["sh*"]),
        "other stack": hook(stacks=["kafka"]),
        "actor": hook(actors=["agent-*"]),
        "other actor": hook(actors=["bob"]),
        "verdict": hook(verdicts=["allow"]),
    }
    fits = {name: [each.fits(notice) for notice in (held, denied, settled)] for name, each in told.items()}
    assert fits == {
        "all": [True, True, True],
        "type": [True, False, False],
        "stack": [True, True, True],
        "other stack": [False, False, False],
        "actor": [True, True, True],
        "other actor": [False, False, False],
        "verdict": [True, False, True],
    }
