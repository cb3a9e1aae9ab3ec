"""Row 5. What was in doubt stayed in doubt: its attributes were locked for good, although the 409 promised otherwise, and a second
gateway on the same ledger marked the first one's live calls as in doubt.

What must hold: only the calls of a gateway that no longer lives become in doubt. A read-back settles them by the live values, as
applied or as failed, or leaves them to a human, who can settle them with a reason. Nothing is ever sent twice, wherever a process
is killed.
"""

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.app.running import running
from gateway.core.model.caller import ActorKind
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import InDoubt
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import open_ledger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.terraform.refresh import Refreshed
from tests.gateway.attacks import gateway_child, reconciler_child
from tests.gateway.attacks.gateway_child import POINTS
from tests.gateway.attacks.reconciler_child import GROUP as WEB
from tests.gateway.attacks.reconciler_child import Tomorrow
from tests.kit.fork_server import ForkServer
from tests.kit.forked import Forked, python_m
from tests.kit.gate import ASG, STACK, Gate
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import KEYS
from tests.kit.up import free_port
from tests.kit.upstream import UpstreamStub

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

ROOT = Path(__file__).parents[3]
GROUP = "aws_autoscaling_group.kafka_consumer"
SIX = {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}
PROPOSAL = {
    "service": "autoscaling",
    "operation": "SetDesiredCapacity",
    "parameters": SIX,
    "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
}


def _settings(directory: Path, port: int) -> Settings:
    return Settings(
        data=directory / "data",
        upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{port}"),
        stacks=(StackSettings(name="kafka", path=STACK),),
    )


def _reading(gate: Gate, value: Any, **members: Any) -> ReadBack:
    """A read-back tomorrow that finds this value."""

    async def live(targets: list[str]) -> Refreshed:
        return Refreshed(read=frozenset(targets), objects={GROUP: {"desired_capacity": value}})

    given: dict[str, Any] = {
        "ledger": gate.ledger,
        "queries": gate.ledger,
        "clock": Tomorrow(),
        "concerns": lambda stack: stack == "kafka",
        "read_live": live,
        "first_look": timedelta(0),
        "settle_after": timedelta(minutes=16),
    }
    return ReadBack(**(given | members))


def _settle(gate: Gate, read_back: ReadBack) -> list[DoubtAnswer]:
    async def settle() -> list[DoubtAnswer]:
        answers = []
        for doubt in await read_back.due():
            verdict = await read_back.look(doubt.mutation_id)
            await read_back.settle(doubt.mutation_id, verdict)
            answers.append(verdict.answer)
        return answers

    return gate.run(settle())


def _cut(gate: Gate, capacity: int = 6) -> ClientError:
    """A call whose reply is lost."""
    gate.upstream.behaviour = "cut"
    with pytest.raises(ClientError) as caught:
        gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=capacity)
    gate.upstream.behaviour = "ok"
    # SDKs repeat 500, 502, 503 and 504, and never 409.
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 409
    return caught.value


# A second gateway ---------------------------------------------------------------------------------------------------


def test_a_second_gateway_on_the_same_ledger_leaves_a_live_call_alone(gate: Gate) -> None:
    gate.upstream.behaviour = "wait"
    gate.upstream.arrived.clear()
    gate.upstream.release.clear()
    replies: list[Any] = []
    client = gate.client("autoscaling")
    caller = threading.Thread(target=lambda: replies.append(client.set_desired_capacity(**SIX)))
    caller.start()

    async def second() -> int:
        await gate.upstream.arrived.wait()
        async with running(_settings(gate.directory, gate.upstream.port)):
            return len(await gate.ledger.in_doubt())

    try:
        assert gate.run(second()) == 0
        assert gate.records()[-1].stage is Stage.DECIDED
    finally:
        gate.run(_set(gate.upstream.release))
        caller.join(300)
    assert replies
    assert gate.records()[-1].body.members["outcome"] == "applied"
    assert gate.upstream.asked == ["SetDesiredCapacity"]


async def _set(event: asyncio.Event) -> None:
    event.set()


# The doubt ends -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("live", "answer", "claims"),
    [("before", DoubtAnswer.FAILED, 0), ("other", DoubtAnswer.HUMAN, 1), ("asked", DoubtAnswer.APPLIED, 1)],
)
def test_what_is_in_doubt_is_settled_by_what_is_live(gate: Gate, live: str, answer: DoubtAnswer, claims: int) -> None:
    error = _cut(gate, 7)
    assert "is not sent again" in error.response["Error"]["Message"]
    effects: Any = gate.records(stage=Stage.DECIDED)[-1].body.members["effects"]
    values = {"before": effects[0]["before"], "other": 9, "asked": 7}
    assert values["before"] != 7
    assert _settle(gate, _reading(gate, values[live])) == [answer]
    assert len(gate.run(gate.ledger.claims())) == claims
    assert gate.upstream.asked == ["SetDesiredCapacity"]
    if answer is DoubtAnswer.HUMAN:
        mutation = error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
        assert _settle(gate, _reading(gate, 7)) == []
        done = _by_hand(gate, mutation, "human", {"outcome": "failed", "reason": "Looked at the group: it is at 9."})
        assert done.status_code == 200, done.text
    assert gate.run(gate.ledger.in_doubt()) == ()


def test_after_it_was_found_out_a_rival_may_change_the_attribute(gate: Gate) -> None:
    _cut(gate, 7)
    with pytest.raises(ClientError):
        gate.client("autoscaling", "rival").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    effects: Any = gate.records(stage=Stage.DECIDED, actor="agent")[-1].body.members["effects"]
    _settle(gate, _reading(gate, effects[0]["before"] if effects[0]["before"] != 7 else 7))
    gate.release_all()
    gate.client("autoscaling", "rival").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=8)
    assert gate.upstream.asked == ["SetDesiredCapacity", "SetDesiredCapacity"]


def _by_hand(gate: Gate, mutation: str, actor: str, body: Any) -> httpx.Response:
    return httpx.post(f"{gate.url}/v1/mutations/{mutation}/settle", json=body, headers=gate.bearer(actor))


HANDS: dict[str, tuple[str, Any, int]] = {
    "the agent whose call it is": ("agent", {"outcome": "failed", "reason": "free it"}, 403),
    "a rival": ("rival", {"outcome": "failed", "reason": "free it"}, 403),
    "a pipeline": ("pipeline", {"outcome": "applied", "reason": "so"}, 403),
    "no reason": ("human", {"outcome": "failed"}, 400),
    "a blank reason": ("human", {"outcome": "failed", "reason": "  "}, 400),
    "a reason that steers a terminal": ("human", {"outcome": "failed", "reason": "\x1b[2J"}, 400),
    "another outcome": ("human", {"outcome": "in_doubt", "reason": "x"}, 400),
    "a member that forges a name": ("human", {"outcome": "failed", "reason": "x", "actor": "eve"}, 400),
}


@pytest.mark.parametrize("case", HANDS.values(), ids=HANDS.keys())
def test_nobody_else_and_nothing_less_settles_it_by_hand(gate: Gate, case: tuple[str, Any, int]) -> None:
    mutation = _cut(gate).response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    actor, body, status = case
    assert _by_hand(gate, mutation, actor, body).status_code == status
    assert len(gate.run(gate.ledger.in_doubt())) == 1
    assert _by_hand(gate, mutation, "human", {"outcome": "applied", "reason": "seen"}).status_code == 200
    assert _by_hand(gate, mutation, "human", {"outcome": "failed", "reason": "seen"}).status_code == 403


def test_a_live_call_cannot_be_settled_by_hand(gate: Gate) -> None:
    applied = gate.client("autoscaling").set_desired_capacity(**SIX)
    mutation = applied["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    assert _by_hand(gate, mutation, "human", {"outcome": "failed", "reason": "I want it back"}).status_code == 403


@pytest.mark.parametrize("outcome", ["applied", "failed"])
def test_the_same_key_sends_nothing_whatever_a_human_said(gate: Gate, outcome: str) -> None:
    headers = {**gate.bearer("agent"), "Idempotency-Key": f"row-5-{outcome}"}
    gate.upstream.behaviour = "cut"
    first = httpx.post(f"{gate.url}/v1/mutations", json=PROPOSAL, headers=headers)
    gate.upstream.behaviour = "ok"
    mutation = first.json()["mutation"]["id"]
    assert f"sentinel settle {mutation}" in first.json()["detail"]
    _by_hand(gate, mutation, "human", {"outcome": outcome, "reason": "seen"})
    again = httpx.post(f"{gate.url}/v1/mutations", json=PROPOSAL, headers=headers)
    assert again.status_code == 409
    assert "seen" in again.json()["detail"]
    assert "claims stand" not in again.json()["detail"]
    assert gate.upstream.asked == ["SetDesiredCapacity"]


# Killed -------------------------------------------------------------------------------------------------------------


@pytest.fixture
async def upstream() -> AsyncIterator[UpstreamStub]:
    stub = UpstreamStub()
    runner = await stub.start()
    yield stub
    await runner.cleanup()


@contextmanager
def _gateway(settings: Settings, *command: str) -> Iterator[tuple[Forked, str]]:
    port = free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SENTINEL_DATA": str(settings.data),
        "SENTINEL_SERVER__PORT": str(port),
        "SENTINEL_SERVER__LEASE_SECONDS": "1",
        "SENTINEL_UPSTREAM__SIMULATED": settings.upstream.simulated,
        "SENTINEL_STACKS": json.dumps([{"name": "kafka", "path": str(STACK)}]),
    }
    process = python_m(*command, environment=environment)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


async def _propose(client: httpx.AsyncClient, key: Key) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key.id}.{key.secret}", "Idempotency-Key": "k1"}
    return await client.post("/v1/mutations", json=PROPOSAL, headers=headers)


async def _ready(process: Forked, client: httpx.AsyncClient) -> None:
    while True:
        assert process.poll() is None, "the gateway ended"
        try:
            if (await client.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def _killed(settings: Settings, point: str) -> AsyncIterator[Key]:
    """A gateway that died at this point of a mutation; the key of its actor."""
    settings.data.mkdir(parents=True)
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        key = await ring.issue(actor="agent", kind=ActorKind.AGENT, lasts=timedelta(days=1))
    with _gateway(settings, gateway_child.__name__, point) as (process, url):
        async with httpx.AsyncClient(base_url=url, timeout=300) as client:
            await _ready(process, client)
            with pytest.raises(httpx.TransportError):
                await _propose(client, key)
        assert await asyncio.to_thread(process.wait, 300) == -signal.SIGKILL
    yield key


SENT = {"deciding": 0, "decided": 0, "sending": 0, "sent": 1, "settling": 1, "settled": 1}
SAMPLE = "sent"
"""The point where most can go wrong: AWS has the call, and the ledger has no outcome. `tests/chaos` kills at all of them, with more under way."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [pytest.param(each, marks=pytest.mark.long if each != SAMPLE else ()) for each in POINTS]
)
async def test_a_gateway_killed_anywhere_sends_once_at_most_and_the_truth_is_found(
    point: str, upstream: UpstreamStub, tmp_path: Path
) -> None:
    settings = _settings(tmp_path, upstream.port)
    async with _killed(settings, point) as key, open_sealed_ledger(settings) as ledger:
        assert upstream.asked.count("SetDesiredCapacity") == SENT[point]
        await asyncio.sleep(1.1)  # the lease runs out
        doubts = await ledger.recover(datetime.now(UTC))
        assert doubts == (point not in {"deciding", "settled"})

        async def live(targets: list[str]) -> Refreshed:
            value = 6 if upstream.asked else 4
            return Refreshed(read=frozenset(targets), objects={GROUP: {"desired_capacity": value}})

        read_back = ReadBack(ledger=ledger, queries=ledger, clock=Tomorrow(), concerns=lambda _: True, read_live=live,
                             first_look=timedelta(0), settle_after=timedelta(minutes=16))  # fmt: skip
        for doubt in await read_back.due():
            await read_back.settle(doubt.mutation_id, await read_back.look(doubt.mutation_id))
        assert await ledger.in_doubt() == ()
        expected = [] if point == "deciding" else ["applied" if SENT[point] else "failed"]
        assert [each.body.members["outcome"] for each in await ledger.records(RecordQuery(stage=Stage.SETTLED))][
            :1
        ] == expected
        await ledger.verify()
        async with running(settings) as app:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=300) as client:
                again = await _propose(client, key)
        assert again.status_code == (200 if point in {"deciding", "settled"} else 409)
        assert upstream.asked.count("SetDesiredCapacity") == max(SENT[point], point == "deciding")


@pytest.fixture(scope="module")
def reconciler() -> Iterator[ForkServer]:
    """Reconcilers, each in a process of its own."""
    with ForkServer(reconciler_child.__name__) as forks:
        yield forks


@pytest.mark.slow
@pytest.mark.parametrize("live", [6, 2])
@pytest.mark.parametrize("point", ["reading", "read", "settling", "settled"])
async def test_a_reconciler_killed_anywhere_settles_once(
    point: str, live: int, reconciler: ForkServer, tmp_path: Path
) -> None:
    url, database = f"sqlite:///{tmp_path / 'ledger.db'}", f"sqlite:///{tmp_path / 'workflows.db'}"
    async with open_ledger(url, KEYS) as ledger:
        await record_mutation(
            ledger, [(effect(WEB, "desired_capacity", 6), 2)], outcome=InDoubt(reason="cut off"), stack="shop"
        )
    assert reconciler.run(url, database, point, live) == -signal.SIGKILL
    assert reconciler.run(url, database, point, live) in {-signal.SIGKILL, 0}
    assert reconciler.run(url, database, "never", live) == 0
    assert reconciler.run(url, database, "never", live) == 0
    async with open_ledger(url, KEYS) as ledger:
        settled = await ledger.records(RecordQuery(stage=Stage.SETTLED, newest_first=False))
        assert [record.body.members["outcome"] for record in settled] == [
            "in_doubt",
            "applied" if live == 6 else "failed",
        ]
        assert len(await ledger.claims()) == (live == 6)
        await ledger.verify()


# What no value shows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "made",
    [
        effect(GROUP, "*", None, action=EffectAction.INVOKE),
        effect(GROUP, "desired_capacity", 6, declared=False),
        effect(GROUP, "secret", {"sha256": "x"}, sensitive=True),
        effect("aws_db_instance.x", "size", 6),
    ],
    ids=["an action", "an undeclared resource", "a secret", "a change that AWS may carry out later"],
)
def test_what_no_value_shows_is_left_to_a_human_once(gate: Gate, made: Any) -> None:
    async def live(targets: list[str]) -> Refreshed:
        return Refreshed(read=frozenset(targets), objects={targets[0]: {"size": 4}})

    outcome = InDoubt(reason="cut off")
    mutation = gate.run(record_mutation(gate.ledger, [(made, 4)], outcome=outcome, stack="kafka"))
    assert _settle(gate, _reading(gate, 0, read_live=live)) == [DoubtAnswer.HUMAN]
    assert _settle(gate, _reading(gate, 0, read_live=live)) == []
    outcomes = [record.body.members for record in gate.records(mutation_id=mutation.id, stage=Stage.SETTLED)]
    assert [body.get("left_to_human", False) for body in outcomes] == [False, True]
    assert _by_hand(gate, mutation.id, "human", {"outcome": "failed", "reason": "seen"}).status_code == 200
