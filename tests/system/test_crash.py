"""The gateway is killed between two steps: the sent call is recorded, nothing is sent twice, and the next start reports the unknown outcome."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Record
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.identity.master_key import master_key
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.forked import Forked, python_m
from tests.kit.gate import ASG, STACK
from tests.kit.up import free_port
from tests.kit.upstream import UpstreamStub

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]

LEASE_SECONDS = 2
BODY = {
    "service": "autoscaling",
    "operation": "SetDesiredCapacity",
    "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 6},
    "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
}


def _settings(directory: Path, upstream: UpstreamStub) -> Settings:
    return Settings(
        data=directory / "data",
        upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{upstream.port}"),
        stacks=(StackSettings(name="kafka", path=STACK),),
    )


async def _issue(settings: Settings) -> Key:
    settings.data.mkdir()
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key("", settings.data), clock=SystemClock())
        return await ring.issue(actor="agent", kind=ActorKind.AGENT, lasts=timedelta(days=1))


async def _records(settings: Settings) -> tuple[list[Record], bool]:
    """The records of mutations (issued keys are records, too), and whether every record verifies."""
    async with open_sealed_ledger(settings) as ledger:
        records = await ledger.records(RecordQuery(newest_first=False))
        verified = await ledger.verify() == len(records)
        return [record for record in records if record.mutation_id], verified


@contextmanager
def _gateway(settings: Settings) -> Iterator[tuple[Forked, str]]:
    """A gateway process that is ready; killed at the end if it still runs."""
    port = free_port()
    environment = {
        **os.environ,
        "SENTINEL_DATA": str(settings.data),
        "SENTINEL_SERVER__PORT": str(port),
        "SENTINEL_SERVER__LEASE_SECONDS": str(LEASE_SECONDS),
        "SENTINEL_UPSTREAM__SIMULATED": settings.upstream.simulated,
        "SENTINEL_STACKS": json.dumps([{"name": "kafka", "path": str(STACK)}]),
    }
    process = python_m("gateway", "serve", environment=environment)
    try:
        _wait_until_ready(process, f"http://127.0.0.1:{port}")
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_until_ready(process: Forked, url: str) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert process.poll() is None, "the gateway ended"
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the gateway was never ready")


async def _propose(url: str, key: Key, idempotency_key: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key.id}.{key.secret}", "Idempotency-Key": idempotency_key}
    async with httpx.AsyncClient(timeout=300) as client:
        return await client.post(f"{url}/v1/mutations", json=BODY, headers=headers)


@pytest.mark.long
async def test_killed_while_aws_works_it_is_in_doubt_and_never_sent_again(tmp_path: Path) -> None:
    upstream = UpstreamStub(behaviour="slow")
    runner = await upstream.start()
    settings = _settings(tmp_path, upstream)
    key = await _issue(settings)
    with _gateway(settings) as (process, url):
        asking = asyncio.ensure_future(_propose(url, key, "k1"))
        await upstream.arrived.wait()
        process.send_signal(signal.SIGKILL)
        with pytest.raises(httpx.TransportError):
            await asking
    records, _ = await _records(settings)
    assert [record.stage for record in records] == ["decided"]

    upstream.behaviour = "ok"
    with _gateway(settings) as (_, url):
        again = await _propose(url, key, "k1")
        while again.json()["code"] == "concurrent_request":  # until the lease of the killed gateway has run out
            await asyncio.sleep(0.2)
            again = await _propose(url, key, "k1")
        other = await _propose(url, key, "k2")
    assert (again.status_code, again.json()["code"]) == (409, "outcome_unknown")
    assert other.status_code in (200, 403, 409)
    records, verified = await _records(settings)
    assert [record.stage for record in records][:2] == ["decided", "settled"]
    assert records[1].body.members["outcome"] == "in_doubt"
    assert verified
    assert upstream.asked.count("SetDesiredCapacity") == 1 + (other.status_code == 200)
    await runner.cleanup()


async def test_after_sigterm_it_finishes_the_running_call(tmp_path: Path) -> None:
    upstream = UpstreamStub(behaviour="slow")
    runner = await upstream.start()
    settings = _settings(tmp_path, upstream)
    key = await _issue(settings)
    with _gateway(settings) as (process, url):
        asking = asyncio.ensure_future(_propose(url, key, "k1"))
        await upstream.arrived.wait()
        process.send_signal(signal.SIGTERM)
        reply = await asking
        await asyncio.to_thread(process.wait, 30)
    assert reply.json()["outcome"]["outcome"] == "applied"
    records, _ = await _records(settings)
    assert [record.stage for record in records] == ["decided", "settled"]
    await runner.cleanup()
