"""Several gateways on one ledger: `python -m tests.bench replicas [--records N] [--filled DATA]`, one JSON object a figure.

How late the other gateway knows what ended at one; what two gateways on PostgreSQL, and two workers on one port, do beside one; the room that a mutation
takes; and how long a gateway needs to be ready after kill -9 with N records, and its processor time.
"""

import argparse
import asyncio
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg
import structlog

from gateway.app.running import running
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Verdict
from gateway.core.ports import Key
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store.database import sqlite_file
from gateway.ledger.store.tables import METADATA
from tests.bench.cores import can_limit, limited
from tests.bench.figure import quantile, show
from tests.bench.keepalive import ask_all, at_once
from tests.bench.line import changes
from tests.bench.processes import ROOT, Process, family, server, spent, stub
from tests.bench.records import append_records
from tests.bench.stack import write_stack
from tests.kit import nouns
from tests.kit.stores import Cluster, running_cluster
from tests.kit.up import free_port

CALLERS: Final = 16
ROUNDS: Final = 5
EACH: Final = 60
FEW: Final = 8
MANY: Final = 32
"""Callers, so that the system gives each worker about as many connections."""
WARM: Final = 2
PART: Final = 0.2
"""Of a core."""
_BATCH: Final = 500
_ATTEMPTS: Final = count(1)
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("late", "scale", "room", "recovery"))
    parser.add_argument("--filled", type=Path, help="a data directory with the records of the recovery, which is kept")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with running_cluster() as cluster, tempfile.TemporaryDirectory() as directory, stub() as aws:
        here = Path(directory)
        if arguments.only in (None, "late"):
            asyncio.run(_late(here / "late", cluster.new_ledger(), aws))
        if arguments.only in (None, "scale"):
            _scale(here / "scale", cluster, aws)
        if arguments.only in (None, "room"):
            _room(here / "room", cluster, aws)
        if arguments.only in (None, "recovery"):
            _recovery(here / "recovery", cluster, aws, arguments.records, arguments.filled)


# How late the other gateway knows ------------------------------------------------------------------------------------


async def _late(directory: Path, url: str, aws: Process) -> None:
    write_stack(directory / "stack", CALLERS)
    settings = Settings(
        data=directory / "data",
        ledger=url,
        upstream=UpstreamSettings(simulated=f"http://127.0.0.1:{aws.port}"),
        stacks=(StackSettings(name="bench", path=directory / "stack"),),
    )
    async with AsyncExitStack() as stack:
        doors = [
            await stack.enter_async_context(_client(await stack.enter_async_context(running(settings))))
            for _ in range(2)
        ]
        ledgers = [await stack.enter_async_context(open_sealed_ledger(settings)) for _ in range(2)]
        ring = SqlKeyRing(ledgers[0], master=master_key_of(settings), clock=SystemClock())
        boss = await ring.issue(actor="boss", kind=ActorKind.HUMAN, roles=("operator", "approver"))
        for name, measure in {"key": _key, "stop": _stop, "claim": _claim, "attempt": _attempt}.items():
            waits = [await measure(doors, ring, boss) for _ in range(ROUNDS)]
            show(f"replicas.late.{name}.max", max(waits), "s", n=ROUNDS)
        for name, spend in {"approval": _approval, "budget": _budget}.items():
            waits = [await spend(ledgers[0], ledgers[1]) for _ in range(ROUNDS)]
            show(f"replicas.late.{name}.max", max(waits), "s", n=ROUNDS)


def _client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", timeout=300)


async def _ask(door: httpx.AsyncClient, key: Key, group: int, **headers: str) -> httpx.Response:
    parameters = {"AutoScalingGroupName": f"group-{group}", "DesiredCapacity": 5 + next(_ATTEMPTS) % 2}
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": parameters,
        "motive": {"intent": "availability", "motivation": "routine"},
    }
    return await door.post(
        "/v1/mutations", json=body, headers={"Authorization": f"Bearer {key.id}.{key.secret}", **headers}
    )


async def _until(holds: Callable[[], Awaitable[bool]]) -> float:
    """Seconds until it holds, from now."""
    began = time.perf_counter()
    while not await holds():  # noqa: ASYNC110  the other gateway tells nobody when it knows
        await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def _agent(ring: SqlKeyRing) -> Key:
    return await ring.issue(actor=f"agent-{next(_ATTEMPTS)}", kind=ActorKind.AGENT, lasts=timedelta(hours=1))


async def _key(doors: list[httpx.AsyncClient], ring: SqlKeyRing, _: Key) -> float:
    key = await _agent(ring)
    await _ask(doors[1], key, 0)
    await ring.revoke(key.id)

    async def refused() -> bool:
        return (await _ask(doors[1], key, 0)).status_code == 401

    return await _until(refused)


async def _stop(doors: list[httpx.AsyncClient], ring: SqlKeyRing, boss: Key) -> float:
    key = await _agent(ring)
    await _ask(doors[1], key, 1)
    authorized = {"Authorization": f"Bearer {boss.id}.{boss.secret}"}
    body = {"scope": "actor", "name": key.actor, "reason": "bench"}
    (await doors[0].post("/v1/stops", json=body, headers=authorized)).raise_for_status()

    async def refused() -> bool:
        return (await _ask(doors[1], key, 1)).status_code == 403

    return await _until(refused)


async def _claim(doors: list[httpx.AsyncClient], ring: SqlKeyRing, _: Key) -> float:
    """The other gateway refuses or holds a rival's change of what was claimed at one."""
    holder, rival, group = await _agent(ring), await _agent(ring), 2 + next(_ATTEMPTS) % (CALLERS - 2)
    assert (await _ask(doors[0], holder, group)).status_code in (200, 202, 403, 409)

    async def contested() -> bool:
        return (await _ask(doors[1], rival, group)).status_code != 200

    return await _until(contested)


async def _attempt(doors: list[httpx.AsyncClient], _: SqlKeyRing, boss: Key) -> float:
    """The other gateway answers the same attempt with what one did."""
    headers = {"Authorization": f"Bearer {boss.id}.{boss.secret}", "Idempotency-Key": f"once-{next(_ATTEMPTS)}"}
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": "group-1", "DesiredCapacity": 5},
        "motive": {"intent": "availability", "motivation": "routine"},
    }
    first = (await doors[0].post("/v1/mutations", json=body, headers=headers)).json()
    began = time.perf_counter()
    again = (await doors[1].post("/v1/mutations", json=body, headers=headers)).json()
    assert (again["mutation"]["id"], again["decision"]) == (first["mutation"]["id"], None), again
    return time.perf_counter() - began


_HUMAN: Final = Caller(actor="boss", kind=ActorKind.HUMAN, key_id="SNTLBENCH", roles=("approver",))


def _mutation(actor: str) -> Mutation:
    return nouns.mutation(nouns.effect(f"aws_sqs_queue.q{next(_ATTEMPTS)}", "delay", 1), caller=nouns.caller(actor))


async def _approval(one: SqlLedger, other: SqlLedger) -> float:
    """An approval that was used at one ledger is not there at the other."""
    held, now = _mutation(f"held-{next(_ATTEMPTS)}"), datetime.now(UTC)
    facts = replace(nouns.facts(*nouns.subjects(held.effects)), now=now)
    await one.record_decision(held, facts, nouns.decision(Verdict.HOLD))
    given = await one.approve(held.id, approver=_HUMAN, at=now, lasts=timedelta(hours=1))
    again = replace(held, id=_mutation("x").id)
    await one.record_decision(again, facts, nouns.decision(Verdict.ALLOW, approval=given.id))

    async def spent() -> bool:
        view = await other.view(
            addresses=[held.effects[0].address],
            actor=held.caller.actor,
            call_digest=held.call.digest,
            now=now,
            flip_window=timedelta(days=1),
        )
        return view.approval is None

    return await _until(spent)


async def _budget(one: SqlLedger, other: SqlLedger) -> float:
    """What was charged at one ledger is charged at the other."""
    actor, now = f"spender-{next(_ATTEMPTS)}", datetime.now(UTC)
    bucket = {"most": 10, "seconds": 3600, "cost": 1, "when_sent": False}
    change = _mutation(actor)
    facts = replace(nouns.facts(*nouns.subjects(change.effects)), now=now)
    await one.record_decision(change, facts, nouns.decision(obligations={"budgets": {"hour": bucket}}))

    async def charged() -> bool:
        return bool((await other.used(now))[actor].levels)

    return await _until(charged)


# Two beside one ------------------------------------------------------------------------------------------------------


def _scale(directory: Path, cluster: Cluster, aws: Process) -> None:
    stack = directory / "stack"
    write_stack(stack, MANY)
    if can_limit():
        _scale_of_parts(directory, cluster, aws, stack)
    one, cost = _rate(directory / "one", stack, cluster.new_ledger(), aws, gateways=1)
    two, cost_of_two = _rate(directory / "two", stack, cluster.new_ledger(), aws, gateways=2)
    show("replicas.postgresql.gateways_2", two, "mutations/s", floor=one, n=CALLERS * EACH)
    show("replicas.postgresql.gateways_2.cpu", cost_of_two, "ms", floor=cost, n=CALLERS * EACH)
    for name, new in (("sqlite", str), ("postgresql", cluster.new_ledger)):
        single, cost = _rate(directory / f"{name}-1", stack, new(), aws, workers=1)
        double, cost_of_two = _rate(directory / f"{name}-2", stack, new(), aws, workers=2)
        show(f"replicas.{name}.workers_2", double, "mutations/s", floor=single, n=CALLERS * EACH)
        show(f"replicas.{name}.workers_2.cpu", cost_of_two, "ms", floor=cost, n=CALLERS * EACH)


def _scale_of_parts(directory: Path, cluster: Cluster, aws: Process, stack: Path) -> None:
    """The same where each process has a part of a core: then neither the load nor the database is what limits the rate, however few cores there are."""
    rate = partial(_rate, rounds=1, each=FEW, callers=MANY, cores=PART)
    one, _ = rate(directory / "part-1", stack, cluster.new_ledger(), aws, gateways=1)
    two, _ = rate(directory / "part-2", stack, cluster.new_ledger(), aws, gateways=2)
    show("replicas.postgresql.gateways_2.of_parts", two, "mutations/s", floor=one, n=MANY * FEW)
    for name, new in (("sqlite", str), ("postgresql", cluster.new_ledger)):
        single, _ = rate(directory / f"{name}-part-1", stack, new(), aws, workers=1)
        double, _ = rate(directory / f"{name}-part-2", stack, new(), aws, workers=2)
        show(f"replicas.{name}.workers_2.of_parts", double, "mutations/s", floor=single, n=MANY * FEW)


def _rate(
    directory: Path,
    stack: Path,
    url: str,
    aws: Process,
    *,
    gateways: int = 1,
    workers: int = 1,
    rounds: int = 3,
    each: int = EACH,
    callers: int = CALLERS,
    cores: float | None = None,
) -> tuple[float, float]:
    """Mutations a second in the best of the rounds, and the processor time of the gateways per mutation in milliseconds.

    With `cores`, each process of the gateways has that part of a core once it is warm.
    """
    with ExitStack() as running_now:
        served, agent = _served(running_now, directory, stack, url, aws, gateways=gateways, workers=workers)
        _at_once(served, agent, WARM, callers)
        if cores is not None:
            running_now.enter_context(limited(sorted(family(served)), cores))
        best, before = 0.0, spent(served)
        for _ in range(rounds):
            best = max(best, callers * each / _at_once(served, agent, each, callers))
        return best, (spent(served) - before) / (rounds * callers * each) * 1e3


def _served(
    stack_of: ExitStack, directory: Path, stack: Path, url: str, aws: Process, *, gateways: int, workers: int
) -> tuple[list[Process], Key]:
    settings = Settings(data=directory / "data", ledger=url)
    agent = asyncio.run(_issued(settings))
    ports = [free_port() for _ in range(gateways)]
    return [
        stack_of.enter_context(_gateway(directory, stack, url, aws, port=port, workers=workers)) for port in ports
    ], agent


async def _issued(settings: Settings) -> Key:
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        return await ring.issue(actor="agent", kind=ActorKind.AGENT, lasts=timedelta(days=1))


@contextmanager
def _gateway(directory: Path, stack: Path, url: str, aws: Process, *, port: int, workers: int) -> Iterator[Process]:
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(_config(directory, stack, url, aws, port))]
    with server([*command, *(("--workers", str(workers)) if workers > 1 else ())], port, "/readyz") as process:
        yield process


def _config(directory: Path, stack: Path, url: str, aws: Process, port: int, *, lease: int = 30) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / f"sentinel-{port}.toml"
    config.write_text(
        f'data = "{directory / "data"}"\nledger = "{url}"\n[server]\nport = {port}\nlease_seconds = {lease}\n'
        f'[upstream]\nsimulated = "http://127.0.0.1:{aws.port}"\n[[stacks]]\nname = "bench"\npath = "{stack}"\n'
    )
    return config


def _at_once(served: list[Process], agent: Key, each: int = EACH, callers: int = CALLERS) -> float:
    """The seconds that it takes."""
    ports = [served[number % len(served)].port for number in range(callers)]
    return at_once(
        [(port, [*islice(changes(agent, f"group-{number}")(port), each)]) for number, port in enumerate(ports)]
    )


def _room(directory: Path, cluster: Cluster, aws: Process) -> None:
    stack = directory / "stack"
    write_stack(stack, CALLERS)
    for name, url in (("sqlite", ""), ("postgresql", cluster.new_ledger())):
        grown, spent = _stored(directory / f"{name}-room", stack, url, aws)
        show(f"replicas.{name}.stored_per_mutation", grown, "KB", n=CALLERS * EACH)
        show(f"replicas.{name}.stays_per_mutation", grown - spent, "KB", n=CALLERS * EACH)


def _stored(directory: Path, stack: Path, url: str, aws: Process) -> tuple[float, float]:
    """Kilobytes (10^3 bytes) that the ledger grows by with each mutation, indexes included; of these, those of signatures, which leave in an hour."""
    with ExitStack() as running_now:
        served, agent = _served(running_now, directory, stack, url, aws, gateways=1, workers=1)
        _at_once(served, agent)
        before = _sizes(directory, url)
        _at_once(served, agent)
        grown, spent = (
            (now - then) / (CALLERS * EACH) / 1e3 for now, then in zip(_sizes(directory, url), before, strict=True)
        )
        return grown, spent


def _sizes(directory: Path, url: str) -> tuple[int, int]:
    """Bytes of the whole ledger, and of the spent signatures."""
    if not url:
        path = sqlite_file(Settings(data=directory / "data").ledger_url)
        assert path is not None
        told = subprocess.run([sys.executable, "-c", _SIGNATURES, str(path)], check=True, capture_output=True)
        return path.stat().st_size, int(told.stdout)
    asked = "SELECT pg_database_size(current_database()), pg_total_relation_size('spent_signatures')"
    with psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as connection:
        whole, spent = connection.execute(asked).fetchone() or (0, 0)
        return int(whole), int(spent)


_SIGNATURES: Final = """
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
of = "SELECT name FROM sqlite_master WHERE tbl_name = 'spent_signatures'"
print(c.execute(f"SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN ({of})").fetchone()[0])
"""


# After kill -9 -------------------------------------------------------------------------------------------------------


def _recovery(directory: Path, cluster: Cluster, aws: Process, records: int, filled: Path | None) -> None:
    """From exec until ready, with so many records and mutations in flight, beside a small ledger; and the processor time until then.

    The records are written once, to SQLite, and copied to PostgreSQL. `filled` keeps the data directory with them: it is made if it is not there,
    and used again else.
    """
    stack = directory / "stack"
    write_stack(stack, CALLERS)
    data = filled or directory / "filled"
    if not data.is_dir():
        asyncio.run(_fill(Settings(data=data), records))
    for name, new in (("sqlite", str), ("postgresql", cluster.new_ledger)):
        small = _after_kill(directory / f"{name}-small", stack, new(), aws)
        large = directory / f"{name}-large"
        url = new()
        _copy_ledger(data, large / "data", url)
        for figure, value, floor in zip(
            ("", ".with_a_core", ".cpu"), _after_kill(large, stack, url, aws), small, strict=True
        ):
            show(f"replicas.{name}.recovery{figure}", value, "s", floor=floor, n=records)


async def _fill(settings: Settings, records: int) -> None:
    async with open_sealed_ledger(settings) as ledger:
        for start in range(0, records, _BATCH):
            await ledger.write(partial(append_records, start=start, count=min(_BATCH, records - start)))


def _copy_ledger(data: Path, to: Path, url: str) -> None:
    """Copy a data directory with its ledger in SQLite; with a URL the ledger's rows to there, where a row by itself takes a round trip for each."""
    shutil.copytree(data, to, ignore=shutil.ignore_patterns("ledger.db*") if url else None)
    if not url:
        return
    path = sqlite_file(Settings(data=data).ledger_url)
    assert path is not None
    with (
        closing(sqlite3.connect(path)) as read,
        psycopg.connect(url.replace("postgresql+psycopg", "postgresql")) as write,
    ):
        for table in METADATA.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            copied = f"CREATE TEMPORARY TABLE copied ON COMMIT DROP AS SELECT {names} FROM {table.name} LIMIT 0"  # noqa: S608  the tables are ours
            write.execute(copied.encode())
            with write.cursor().copy(f"COPY copied ({names}) FROM STDIN".encode()) as rows:
                for row in read.execute(f"SELECT {names} FROM {table.name}"):  # noqa: S608  the same
                    rows.write_row(row)
            # A new ledger has a row already that says how bodies may be stored.
            added = f"INSERT INTO {table.name} ({names}) SELECT {names} FROM copied ON CONFLICT DO NOTHING"  # noqa: S608  the same
            write.execute(added.encode())
            write.commit()


def _after_kill(directory: Path, stack: Path, url: str, aws: Process) -> tuple[float, float, float]:
    """The medians of three kills under load: seconds until the next gateway is ready, these without those in which it waited for a core, and its
    processor seconds.
    """
    agent = asyncio.run(_issued(Settings(data=directory / "data", ledger=url)))
    seconds, running_seconds, costs = [], [], []
    for _ in range(3):
        port = free_port()
        config = _config(directory, stack, url, aws, port, lease=2)
        argv = [sys.executable, "-m", "gateway", "serve", "--config", str(config)]
        first = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _until_ready(port)
        try:
            asyncio.run(_killed_under_load(first, port, agent))
        finally:
            first.kill()
            first.wait()
        with server(argv, port, "/readyz") as again:
            seconds.append(again.ready_seconds)
            running_seconds.append(again.ready_seconds - again.waited_seconds)
            costs.append(again.cpu_seconds)
    return quantile(seconds, 0.5), quantile(running_seconds, 0.5), quantile(costs, 0.5)


async def _killed_under_load(process: subprocess.Popen[bytes], port: int, agent: Key) -> None:
    asking = asyncio.ensure_future(_asked(port, agent))
    await asyncio.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    await asking


async def _asked(port: int, agent: Key) -> None:
    requests = [
        [r for r, _ in zip(changes(agent, f"group-{number}")(port), range(EACH), strict=False)]
        for number in range(CALLERS)
    ]
    await asyncio.gather(*(ask_all(port, each) for each in requests), return_exceptions=True)


def _until_ready(port: int) -> None:
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.02)


if __name__ == "__main__":
    main()
