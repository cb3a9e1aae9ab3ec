"""Notices survive `kill -9` of the reconciler: none is lost, and what was answered is not sent again once DBOS knows it."""

import asyncio
import base64
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from dbos import DBOS

from gateway.core.model.ids import new_id
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from reconciler.notify.delivery import ReceiverWorker, open_workers
from reconciler.notify.workflow import NoticeWorkflow
from reconciler.workflows import durable
from tests.kit.fork_server import ForkServer
from tests.kit.hook import HookStub, receiving
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.reconciler.notify.notify_child import POINTS

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]
T = TypeVar("T")


@pytest.fixture(scope="module")
def forks() -> Iterator[ForkServer]:
    with ForkServer("tests.reconciler.notify.notify_child") as made:
        yield made


class Scene:
    """One ledger, one receiver, and processes that come and go."""

    def __init__(self, store: str, data: Path, stub: HookStub, forks: ForkServer) -> None:
        self.settings = Settings(data=data, ledger=store)
        self.stub = stub
        self._forks = forks

    def deliver(self, dies: str = "never") -> int:
        """Run a process; its exit code, or the signal that ended it as a negative number."""
        return self._forks.run(self.settings.ledger, str(self.settings.data), self.stub.url, SECRET, dies)

    def ledger(self, work: Callable[[SqlLedger], Awaitable[T]]) -> T:
        """Do something with the ledger."""

        async def run() -> T:
            async with open_sealed_ledger(self.settings) as ledger:
                return await work(ledger)

        return asyncio.run(run())

    def change(self, count: int) -> None:
        """Record changes, each decided and settled."""

        async def record(ledger: SqlLedger) -> None:
            for _ in range(count):
                await record_mutation(ledger, [(effect(f"aws_sqs_queue.{new_id('q')}", "delay_seconds", 1), 0)])

        self.ledger(record)

    def delivered(self) -> list[str]:
        """The ids that the ledger says were delivered."""
        records = self.ledger(lambda ledger: ledger.records(RecordQuery(stage=Stage.NOTIFIED, newest_first=False)))
        results: Any = [result for record in records for result in record.body.members["results"]]
        return [result["id"] for result in results if result["state"] == "delivered"]


@pytest.fixture
def scene(store_url: str, tmp_path: Path, stub: HookStub, forks: ForkServer) -> Scene:
    """On SQLite with DBOS in a file of its own, and on PostgreSQL with DBOS in the same database, as the reconciler has it."""
    made = Scene(store_url, tmp_path, stub, forks)
    assert made.deliver() == 0  # begins
    made.change(3)
    return made


@pytest.mark.parametrize("point", sorted(POINTS))
def test_killed_anywhere_everything_arrives_and_is_recorded_once(scene: Scene, point: str) -> None:
    assert scene.deliver(point) == -signal.SIGKILL
    assert scene.deliver() == 0
    assert len(set(scene.stub.ids)) == 6
    assert sorted(scene.delivered()) == sorted(set(scene.stub.ids))
    if point in ("reading", "sending", "recording", "recorded"):
        assert len(scene.stub.ids) == 6  # DBOS had the answers, or nothing was sent
    assert scene.ledger(lambda ledger: ledger.verify())


def test_killed_again_and_again_it_goes_on(scene: Scene) -> None:
    for point in ("sent", "sending", "sent", "recording", "reading"):
        assert scene.deliver(point) == -signal.SIGKILL
    assert scene.deliver() == 0
    assert sorted(scene.delivered()) == sorted(set(scene.stub.ids))
    assert len(set(scene.stub.ids)) == 6


async def _until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not reached():  # noqa: ASYNC110  what other threads do
            await asyncio.sleep(0.01)


def _receivers(ledger: SqlLedger, **urls: str) -> dict[str, ReceiverWorker]:
    hooks = [
        {"name": name, "url": url, "secret": SECRET, "private_addresses": ["127.0.0.0/8"], "timeout_seconds": 60}
        for name, url in urls.items()
    ]
    return dict(open_workers(Settings.model_validate({"webhooks": hooks}), ledger, SystemClock()))


async def test_a_receiver_that_never_answers_holds_up_no_other_and_no_stop(ledger: SqlLedger, tmp_path: Path) -> None:
    with receiving(HookStub(behaviour="silent")) as slow, receiving(HookStub()) as quick:
        receivers = _receivers(ledger, slow=slow.url, quick=quick.url)
        database = f"sqlite:///{tmp_path / 'workflows.db'}"
        stop = asyncio.Event()
        async with durable(
            {}, database=database, key=b"a key for tests", poll_seconds=0.05, receivers=receivers
        ) as runner:
            serving = asyncio.ensure_future(runner.notices.run(0.05, stop))
            await _until(lambda: all(each.outbox.read >= 0 for each in receivers.values()))
            for name in "ab":
                await record_mutation(ledger, [(effect(f"aws_sqs_queue.{name}", "delay_seconds", 1), 0)])
            await _until(lambda: len(quick.received) >= 4 and bool(slow.received))
            await _until(lambda: not receivers["quick"].outbox.open and receivers["quick"].outbox.read > 0)
            kept = await DBOS.list_workflows_async(name="notify", status="SUCCESS")
            stop.set()
            await serving
    assert not kept
    assert len(set(quick.ids)) == 4
    assert len(slow.received) <= 2  # the first of each mutation, still unanswered


async def test_without_receivers_it_ends_with_the_service() -> None:
    stop = asyncio.Event()
    stop.set()
    await NoticeWorkflow({}, poll_seconds=0.05).run(0.05, stop)
