"""A connection to PostgreSQL that is cut at a commit, and a server that dies there: the ledger and the line find out what was stored."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg
import pytest

from gateway.app.running import running
from gateway.core.errors import LedgerUnavailable
from gateway.core.model.caller import ActorKind
from gateway.core.model.inbound import Refusal
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store import writer
from tests.chaos.aws import LoggingAws, carried_out
from tests.chaos.faults.proxy import Fault, FaultProxy
from tests.chaos.stack import write_stack
from tests.kit.stores import KEYS, Cluster, running_cluster, running_standby

pytestmark = [pytest.mark.system, pytest.mark.postgres, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]


@dataclass
class Served:
    """A primary with a standby that every commit waits for, and a proxy that leads to the primary."""

    primary: Cluster
    standby: Cluster
    proxy: FaultProxy
    url: str

    def fail_over(self) -> None:
        """The primary dies, the standby takes over, and the address leads there."""
        self.primary.crash()
        self.standby.promote()
        # A server that waits for a standby of its own would confirm nothing.
        with psycopg.connect(
            host=str(self.standby.directory), user="sentinel", dbname="postgres", autocommit=True
        ) as asked:
            asked.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            asked.execute("SELECT pg_reload_conf()")
        self.proxy.lead_to(self.standby.socket)
        self.proxy.clear()

    async def met(self) -> None:
        """Wait until a commit has met the fault."""
        async with asyncio.timeout(300):
            while not self.proxy.asked:  # noqa: ASYNC110  the proxy tells nobody
                await asyncio.sleep(0.02)


@pytest.fixture
def served() -> Iterator[Served]:
    with running_cluster() as primary, running_standby(primary) as standby, FaultProxy(primary.socket) as proxy:
        name = primary.new_ledger().partition("@/")[2].partition("?")[0]
        yield Served(primary, standby, proxy, f"postgresql+psycopg://sentinel@127.0.0.1:{proxy.port}/{name}")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a server takes longer to be promoted than callers would wait."""
    monkeypatch.setattr(writer, "FIND_OUT_SECONDS", 300.0)


@asynccontextmanager
async def _ledger(served: Served) -> AsyncIterator[SqlLedger]:
    async with open_ledger(served.url, KEYS) as ledger:
        await _refuse(ledger, "before")
        yield ledger
        await ledger.verify()


async def _refuse(ledger: SqlLedger, reason: str) -> None:
    await ledger.record_refusal(
        Refusal(at=datetime.now(UTC), reason=reason, code="not_authenticated", peer=f"10.0.0.{len(reason)}")
    )


async def _reasons(ledger: SqlLedger) -> list[str]:
    return [record.body.members["reason"] for record in await ledger.records(RecordQuery(newest_first=False))]


async def _at_a_commit(served: Served, fault: Fault, act: Awaitable[None], then: Callable[[], None]) -> None:
    served.proxy.fault(fault, only=b"COMMIT")
    acting = asyncio.ensure_future(act)
    await served.met()
    await asyncio.to_thread(then)
    await acting


async def test_the_answer_to_a_commit_is_lost(served: Served) -> None:
    async with _ledger(served) as ledger:
        await _at_a_commit(served, Fault.APPLY_THEN_CUT, _refuse(ledger, "stored once"), served.proxy.clear)
        await _refuse(ledger, "after")
        assert await _reasons(ledger) == ["before", "stored once", "after"]


async def test_a_commit_does_not_arrive(served: Served) -> None:
    async with _ledger(served) as ledger:
        with pytest.raises(LedgerUnavailable, match=r"Nothing was stored"):
            await _at_a_commit(served, Fault.RESET, _refuse(ledger, "lost"), served.proxy.clear)
        await _refuse(ledger, "after")
        assert await _reasons(ledger) == ["before", "after"]


async def test_the_server_dies_after_a_commit_and_its_standby_is_asked(served: Served) -> None:
    async with _ledger(served) as ledger:
        await _at_a_commit(served, Fault.APPLY_THEN_CUT, _refuse(ledger, "stored once"), served.fail_over)
        await _refuse(ledger, "after")
        assert await _reasons(ledger) == ["before", "stored once", "after"]


async def test_nobody_can_be_asked(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "FIND_OUT_SECONDS", 0.1)
    async with _ledger(served) as ledger:
        with pytest.raises(
            LedgerUnavailable, match=r"Whether this was stored is not known: look for it once the ledger answers"
        ):
            await _at_a_commit(served, Fault.APPLY_THEN_CUT, _refuse(ledger, "perhaps"), lambda: None)
        served.proxy.clear()
        assert await _reasons(ledger) == ["before", "perhaps"]


@pytest.mark.parametrize("fault", [Fault.APPLY_THEN_CUT, Fault.RESET])
async def test_a_change_across_a_fail_over_is_sent_once_or_not_at_all(
    served: Served, fault: Fault, tmp_path: Path
) -> None:
    with LoggingAws(tmp_path / "aws.log") as aws:
        settings = Settings(
            data=tmp_path / "data",
            ledger=served.url,
            upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{aws.port}"),
            stacks=(StackSettings(name="queues", path=write_stack(tmp_path / "stack", tmp_path / "remote.git", 2)),),
        )
        async with running(settings) as app, open_sealed_ledger(settings) as ledger:
            key = await SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock()).issue(
                actor="human", kind=ActorKind.HUMAN
            )
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=600) as client:

                async def ask(value: int) -> int:
                    body = {
                        "service": "sqs",
                        "operation": "SetQueueAttributes",
                        "parameters": {
                            "QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/queue-1",
                            "Attributes": {"VisibilityTimeout": str(value)},
                        },
                        "motive": {"intent": "availability", "motivation": "routine"},
                    }
                    headers = {"Authorization": f"Bearer {key.id}.{key.secret}"}
                    return (await client.post("/v1/mutations", json=body, headers=headers)).status_code

                assert await ask(1) == 200
                served.proxy.fault(fault, only=b"COMMIT")
                asking = asyncio.ensure_future(ask(2))
                await served.met()
                await asyncio.to_thread(served.fail_over)
                status = await asking
                async with asyncio.timeout(300):
                    while await ask(3) != 200:  # noqa: ASYNC110  until the gateway has found the new server
                        await asyncio.sleep(0.1)
            values = [each.value for each in carried_out(aws.log)]
            assert values in ([1, 2, 3], [1, 3])
            assert (2 in values) == (status == 200), status
            decided = await ledger.records(RecordQuery(stage=Stage.DECIDED))
            settled = await ledger.records(RecordQuery(stage=Stage.SETTLED))
            carried = [each for each in decided if each.body.members["decision"]["carried_out"]]
            assert len({each.mutation_id for each in settled}) == len(carried)
            await ledger.verify()
