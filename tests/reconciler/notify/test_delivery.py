"""Deliveries from a real ledger to a receiver on loopback: each once, in the order of their mutation, whatever fails in between."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.core.errors import LedgerUnavailable
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.core.settings.notices import WebhookSettings
from gateway.ledger.ledger import SqlLedger
from reconciler.notify.delivery import ReceiverWorker, open_workers
from reconciler.notify.receivers import WebhookReceiver
from tests.kit.bodies import sample_record
from tests.kit.doubles import FixedClock
from tests.kit.hook import HookStub
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@dataclass
class MovingClock:
    """A clock that a test moves."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def now(self) -> datetime:
        """Its time."""
        return self.at


@dataclass
class Direct:
    """Runs a batch in this process; it can end between sending and recording."""

    worker: ReceiverWorker | None = None
    dies: bool = False
    batches: int = 0

    async def deliver(self, name: str, outbox: Mapping[str, Json], keys: Sequence[tuple[int, int]]) -> None:
        """Send, and record."""
        assert self.worker is not None
        assert name == self.worker.receiver.name
        self.batches += 1
        attempted = await self.worker.send(keys)
        if self.dies:
            self.dies = False
            raise LedgerUnavailable("The disk is full, so nothing was recorded.")
        await self.worker.record(outbox, attempted)


@dataclass
class Scene:
    """One receiver, and what delivers to it."""

    stub: HookStub
    ledger: SqlLedger
    clock: MovingClock = field(default_factory=MovingClock)
    direct: Direct = field(default_factory=Direct)
    settings: dict[str, Any] = field(default_factory=dict)

    def start(self) -> None:
        """A process without a memory of the one before."""
        given = {
            "name": "ops",
            "url": self.stub.url,
            "secret": SECRET,
            "private_addresses": ["127.0.0.0/8"],
            "retry_seconds": [5, 60],
            "timeout_seconds": 60,
            **self.settings,
        }
        receiver = WebhookReceiver(settings=WebhookSettings.model_validate(given))
        self.direct.worker = ReceiverWorker(receiver=receiver, ledger=self.ledger, clock=self.clock)

    async def rounds(self, most: int = 100) -> int:
        """Deliver until nothing is due; how many attempts were made."""
        assert self.direct.worker is not None
        tried = 0
        for _ in range(most):
            made = await self.direct.worker.run_once(self.direct)
            tried += made
            if not made:
                break
        return tried

    async def change(self) -> str:
        """Record a change that is decided and settled."""
        made = await record_mutation(self.ledger, [(effect(f"aws_sqs_queue.{new_id('q')}", "delay_seconds", 1), 0)])
        return made.id

    async def results(self) -> list[dict[str, Any]]:
        """What the records say of the attempts, oldest first."""
        records = await self.ledger.records(RecordQuery(stage=Stage.NOTIFIED, newest_first=False, limit=1000))
        found: Any = [result for record in records for result in record.body.members["results"]]
        return list(found)

    def told(self) -> list[tuple[str, str]]:
        """(type, mutation) of what arrived."""
        documents = [each.document for each in self.stub.received]
        return [(each["type"], each["data"]["mutation_id"]) for each in documents]


@pytest.fixture
async def scene(stub: HookStub, ledger: SqlLedger) -> Scene:
    """A receiver that has begun."""
    made = Scene(stub, ledger)
    made.start()
    await made.rounds()
    return made


async def test_a_new_receiver_is_told_what_is_recorded_from_then_on(ledger: SqlLedger, stub: HookStub) -> None:
    scene = Scene(stub, ledger)
    await scene.change()
    scene.start()
    assert await scene.rounds() == 0
    mutation = await scene.change()
    assert await scene.rounds() == 2
    assert scene.told() == [("mutation.decided", mutation), ("mutation.settled", mutation)]


async def test_what_came_of_it_is_recorded_and_the_ledger_stays_intact(scene: Scene) -> None:
    await scene.change()
    await scene.rounds()
    results = await scene.results()
    assert [(each["type"], each["state"], each["status"], each["attempt"]) for each in results] == [
        ("mutation.decided", "delivered", 200, 1),
        ("mutation.settled", "delivered", 200, 1),
    ]
    assert await scene.ledger.verify()


async def test_a_restart_sends_nothing_again(scene: Scene) -> None:
    await scene.change()
    await scene.rounds()
    scene.start()
    assert await scene.rounds() == 0
    assert len(set(scene.stub.ids)) == len(scene.stub.ids) == 2


async def test_of_one_mutation_the_order_holds_and_others_are_not_held_up(scene: Scene) -> None:
    first = await scene.change()
    decided = (await scene.ledger.records(RecordQuery(mutation_id=first, newest_first=False)))[0]
    scene.stub.refuses.add(f"rec_{decided.seq}_{decided.hash[:16]}")
    second = await scene.change()
    await scene.rounds()
    both = {("mutation.decided", first), ("mutation.decided", second)}  # sent at the same time
    assert set(scene.told()[:2]) == both
    assert scene.told()[2:] == [("mutation.settled", second)]
    scene.stub.refuses.clear()
    scene.clock.at += timedelta(seconds=5)
    await scene.rounds()
    assert scene.told()[3:] == [("mutation.decided", first), ("mutation.settled", first)]


async def test_lost_between_sending_and_recording_it_is_sent_again_with_its_id(scene: Scene) -> None:
    await scene.change()
    scene.direct.dies = True
    with pytest.raises(LedgerUnavailable):
        await scene.rounds()
    assert await scene.results() == []
    scene.start()
    await scene.rounds()
    first, again, settled = scene.stub.ids
    assert first == again
    assert settled != again
    assert scene.stub.received[0].body == scene.stub.received[1].body


async def test_a_receiver_that_is_down_loses_nothing(scene: Scene) -> None:
    scene.settings = {"retry_seconds": [5] * 10}
    scene.start()
    scene.stub.behaviour = "503"
    mutations = [await scene.change() for _ in range(3)]
    assert await scene.rounds() == 3
    for _ in range(4):
        scene.clock.at += timedelta(seconds=601)
        assert await scene.rounds() == 1  # one question, not three
    scene.start()
    scene.stub.behaviour = "200"
    scene.stub.received.clear()
    for _ in range(8):
        scene.clock.at += timedelta(seconds=601)
        await scene.rounds()
    assert sorted(scene.told()) == sorted(
        (kind, each) for each in mutations for kind in ("mutation.decided", "mutation.settled")
    )


async def test_what_is_refused_for_good_is_given_up_and_sent_again_when_asked(scene: Scene) -> None:
    scene.stub.behaviour = "422"
    await scene.change()
    for _ in range(6):
        await scene.rounds()
        scene.clock.at += timedelta(seconds=60)
    results = await scene.results()
    assert [each["state"] for each in results] == ["retrying", "retrying", "given_up"] * 2
    scene.stub.behaviour = "200"
    given_up = results[2]
    body = {"receiver": "ops", "seq": given_up["seq"]}
    for receiver in ("ops", "another"):
        asked = sample_record(
            stage=Stage.RESEND_ASKED,
            at=scene.clock.now(),
            mutation_id=new_id("rsd"),
            body={**body, "receiver": receiver},
        )
        await scene.ledger.record_event(asked)
    scene.start()
    await scene.rounds()
    last = (await scene.results())[-1]
    assert (last["id"], last["state"], last["attempt"]) == (given_up["id"], "delivered", 1)
    assert scene.stub.ids[-1] == given_up["id"]
    assert scene.stub.ids.count(given_up["id"]) == 4


async def test_a_record_that_nobody_is_told_of_ends_what_was_asked(scene: Scene) -> None:
    asked = sample_record(
        stage=Stage.RESEND_ASKED,
        at=scene.clock.now(),
        mutation_id=new_id("rsd"),
        body={"receiver": "ops", "seq": 999_999},
    )
    await scene.ledger.record_event(asked)
    assert await scene.rounds() == 1
    assert [each["state"] for each in await scene.results()] == ["given_up"]
    assert await scene.rounds() == 0
    assert not scene.stub.received


async def test_filters_hold_and_a_quiet_position_is_recorded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reconciler.notify.delivery._QUIET", 4)
    scene.settings = {"name": "quiet", "stacks": ["other"]}
    scene.start()
    for _ in range(3):
        await scene.change()
        await scene.rounds()
    assert not scene.stub.received
    records = await scene.ledger.records(RecordQuery(stage=Stage.NOTIFIED, newest_first=False))
    quiet = [record for record in records if record.body.members["receiver"] == "quiet"]
    assert len(quiet) == 2
    assert quiet[1].body.members["read"] == quiet[1].seq - 1


async def test_of_a_long_quiet_time_no_start_reads_more_than_a_part_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.notify.delivery._QUIET", 4)
    monkeypatch.setattr("reconciler.notify.delivery._PAGE", 2)
    scene.settings = {"name": "quiet", "stacks": ["other"]}
    scene.start()
    await scene.rounds()
    for _ in range(9):
        await scene.change()
    assert await scene.rounds() > 2
    records = await scene.ledger.records(RecordQuery(stage=Stage.NOTIFIED, newest_first=False))
    positions: list[Any] = [
        record.body.members["read"] for record in records if record.body.members["receiver"] == "quiet"
    ]
    assert max(later - sooner for sooner, later in pairwise(positions)) <= 5
    assert positions[-1] >= 18


async def test_of_a_flood_only_so_many_are_kept_in_mind(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reconciler.notify.outbox.MOST_OPEN", 4)
    mutations = [await scene.change() for _ in range(10)]
    scene.stub.behaviour = "503"
    assert await scene.rounds() == 2
    assert scene.direct.worker is not None
    await scene.direct.worker.resume()
    assert len(scene.direct.worker.outbox.open) == 4
    scene.stub.behaviour = "200"
    scene.stub.received.clear()
    for _ in range(4):
        scene.clock.at += timedelta(seconds=601)
        await scene.rounds()
    assert {each for _, each in scene.told()} == set(mutations)
    assert len(scene.stub.ids) == len(set(scene.stub.ids)) == 20


async def test_no_secret_and_no_url_is_recorded(scene: Scene) -> None:
    scene.settings = {"url": "http://127.0.0.1:9/secret-path"}
    scene.start()
    await scene.change()
    await scene.rounds()
    [result] = await scene.results()
    assert result["state"] == "retrying"
    text = str([record.body for record in await scene.ledger.records(RecordQuery(stage=Stage.NOTIFIED))])
    assert "secret-path" not in text
    assert SECRET not in text


async def test_what_fails_is_logged_without_a_url_and_tried_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.notify.delivery._PAUSE", 0.0)
    failures: list[Exception] = [
        LedgerUnavailable("The disk is full."),
        RuntimeError("https://ops.example/secret-path"),
    ]
    stop = asyncio.Event()
    assert scene.direct.worker is not None

    async def deliver(name: str, outbox: Mapping[str, Json], keys: Sequence[tuple[int, int]]) -> None:
        if failures:
            raise failures.pop(0)
        await Direct.deliver(scene.direct, name, outbox, keys)
        stop.set()

    monkeypatch.setattr(scene.direct, "deliver", deliver)
    mutation = await record_mutation(scene.ledger, [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)], outcome=None)
    with capture_logs() as logs:
        async with asyncio.timeout(300):
            await scene.direct.worker.run(scene.direct, 0.01, stop)
    assert [(each["event"], each["error"]) for each in logs] == [
        ("notices_wait", "The disk is full."),
        ("notices_broke", "RuntimeError"),
    ]
    assert scene.told() == [("mutation.decided", mutation.id)]


def _names(**given: Any) -> list[str]:
    nothing: Any = None
    return list(open_workers(Settings.model_validate(given), nothing, FixedClock()))


def test_nobody_is_told_by_default() -> None:
    assert _names() == []


def test_each_webhook_and_the_chat_has_its_worker() -> None:
    hooks = [{"name": name, "url": "https://a.example", "secret": SECRET} for name in ("ops", "audit")]
    slack = {"signing_secret": "s" * 32, "team": "T1"}
    assert _names(webhooks=hooks, chat={"slack": slack}) == ["ops", "audit"]
    slack["webhook_url"] = "https://hooks.slack.com/services/x"
    assert _names(webhooks=hooks, chat={"slack": slack}) == ["ops", "audit", "chat-slack"]
