"""Two gateways on one ledger: what is revoked, stopped, claimed or spent at one holds at the other; a paused gateway that wakes does not act late."""

import asyncio
import itertools
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app.running import running
from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.chaos.aws import LoggingAws, carried_out
from tests.chaos.stack import write_stack
from tests.kit.forked import python_m
from tests.kit.signed_requests import Signer
from tests.system import paused_child

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

PEOPLE = {
    "agent": (ActorKind.AGENT, ()),
    "rival": (ActorKind.AGENT, ()),
    "human": (ActorKind.HUMAN, ("approver", "operator")),
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two running gateways."""

    doors: tuple[httpx.AsyncClient, httpx.AsyncClient]
    ledger: SqlLedger
    ring: SqlKeyRing
    keys: dict[str, Key]
    aws: LoggingAws

    async def ask(self, door: int, actor: str, queue: int, value: int, **more: Any) -> httpx.Response:
        """Propose a change of a queue at one of the gateways."""
        body = {
            "service": "sqs",
            "operation": "SetQueueAttributes",
            "parameters": _call(queue, value),
            "motive": {"intent": "availability", "motivation": "routine"},
        }
        key = self.keys[actor]
        headers = {"Authorization": f"Bearer {key.id}.{key.secret}", **more}
        return await self.doors[door].post("/v1/mutations", json=body, headers=headers)


def _call(queue: int, value: int) -> dict[str, Any]:
    url = f"https://sqs.us-east-1.amazonaws.com/123456789012/queue-{queue}"
    return {"QueueUrl": url, "Attributes": {"VisibilityTimeout": str(value)}}


@pytest.fixture
async def pair(store_url: str, tmp_path: Path) -> AsyncIterator[Pair]:
    with LoggingAws(tmp_path / "aws.log") as aws:
        settings = _settings(tmp_path, store_url, aws.port)
        async with (
            running(settings) as first,
            running(settings) as second,
            open_sealed_ledger(settings) as ledger,
            _client(first) as one,
            _client(second) as other,
        ):
            ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
            day = timedelta(days=1)
            keys = {
                name: await ring.issue(actor=name, kind=kind, roles=roles, lasts=day)
                for name, (kind, roles) in PEOPLE.items()
            }
            yield Pair(doors=(one, other), ledger=ledger, ring=ring, keys=keys, aws=aws)


def _settings(directory: Path, ledger: str, port: int) -> Settings:
    stack = write_stack(directory / "stack", directory / "remote.git", 8)
    return Settings(
        data=directory / "data",
        ledger=ledger,
        upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{port}"),
        stacks=(StackSettings(name="queues", path=stack),),
    )


@asynccontextmanager
async def _client(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=300) as client:
        yield client


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(300):
        while not await holds():  # noqa: ASYNC110  the other gateway tells nobody when it has read the ledger
            await asyncio.sleep(0.05)


async def test_what_ends_at_one_gateway_ends_at_the_other(pair: Pair) -> None:
    # A key that was revoked.
    assert (await pair.ask(0, "rival", 0, 1)).status_code == 200
    assert (await pair.ask(1, "rival", 0, 2)).status_code == 200
    await pair.ring.revoke(pair.keys["rival"].id)

    # A value of its own each time: until the other gateway knows, a call is carried out.
    values = itertools.count(100)

    async def refused() -> bool:
        return (await pair.ask(1, "rival", 0, next(values))).status_code == 401

    await _until(refused)
    # A claim: the other agent wants the same attribute for the same reason at the other gateway.
    assert (await pair.ask(0, "agent", 1, 10)).status_code == 200
    # The same attempt: its idempotency key is spent everywhere, and the answer is the first one.
    first = await pair.ask(0, "agent", 2, 20, **{"Idempotency-Key": "once"})
    again = await pair.ask(1, "agent", 2, 20, **{"Idempotency-Key": "once"})
    assert first.json()["mutation"]["id"] == again.json()["mutation"]["id"]
    assert (first.status_code, again.status_code, again.json()["decision"]) == (200, 200, None)
    # A stop.
    human = pair.keys["human"]
    stopped = await pair.doors[0].post(
        "/v1/stops",
        json={"scope": "actor", "name": "agent", "reason": "test"},
        headers={"Authorization": f"Bearer {human.id}.{human.secret}"},
    )
    assert stopped.status_code in (200, 201), stopped.text

    async def is_stopped() -> bool:
        return (await pair.ask(1, "agent", 3, next(values))).status_code == 403

    await _until(is_stopped)
    assert (await pair.ask(1, "agent", 3, 30)).status_code == 403
    carried = [each.value for each in carried_out(pair.aws.log)]
    assert sorted(carried) == sorted({*carried})
    assert 30 not in carried
    await pair.ledger.verify()


async def test_a_signed_request_counts_once_at_both(pair: Pair) -> None:
    key = pair.keys["human"]
    signer = Signer(url="http://localhost", key_id=key.id, secret=key.secret, service="sqs")
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": "AmazonSQS.SetQueueAttributes",
        "x-sentinel-intent": "availability",
        "x-sentinel-motivation": "routine",
    }
    wire = signer.signed(headers=headers, body=json.dumps(_call(4, 44)).encode())
    answers = await asyncio.gather(
        *(door.post("/", headers=list(wire.headers), content=wire.body) for door in pair.doors * 3)
    )
    assert sum(answer.status_code == 200 and "idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert [each.value for each in carried_out(pair.aws.log)] == [44]


async def test_of_a_hundred_same_attempts_at_both_one_is_sent(pair: Pair) -> None:
    asked = [pair.ask(number % 2, "agent", 5, 55, **{"Idempotency-Key": "the same"}) for number in range(100)]
    answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} <= {200, 409, 429}
    assert [each.value for each in carried_out(pair.aws.log)] == [55]


async def test_a_gateway_that_was_paused_before_it_sent_does_not_act_late(tmp_path: Path) -> None:
    """It is stopped after the decision is stored and wakes later than it may send: nothing is sent, and its record says so."""
    with LoggingAws(tmp_path / "aws.log") as aws:
        settings = _settings(tmp_path, "", aws.port)
        settings.data.mkdir()
        async with open_sealed_ledger(settings) as ledger:
            ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
            key = await ring.issue(actor="human", kind=ActorKind.HUMAN, lasts=timedelta(days=1))
        process = await asyncio.to_thread(
            python_m, paused_child.__name__, settings.model_dump_json(), key.id, key.secret, environment=os.environ
        )
        try:
            await asyncio.to_thread(process.wait_until_stopped)
            async with open_sealed_ledger(settings) as ledger:
                # Its lease has run out, and another process marks what it left.
                assert await ledger.recover(datetime.now(UTC) + timedelta(hours=1)) == 1
                process.send_signal(signal.SIGCONT)
                assert await asyncio.to_thread(process.wait, 300) == 0
                settled = await ledger.records(RecordQuery(stage=Stage.SETTLED, newest_first=False))
                assert [each.body.members["outcome"] for each in settled] == ["in_doubt", "failed"]
                assert await ledger.claims() == ()
        finally:
            process.kill()
            process.wait()
        assert carried_out(aws.log) == []
