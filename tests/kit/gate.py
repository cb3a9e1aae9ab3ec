"""A complete gateway in a thread, in front of a scripted AWS: the real doors, checks, policy and ledger."""

import asyncio
import functools
import shutil
import socket
import sys
import threading
import traceback
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

import boto3
import uvicorn
from botocore.config import Config
from sqlalchemy import delete, update

from gateway.app.running import running
from gateway.core.model.approval import HoldState
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.circuit_breaker import BreakerState
from gateway.core.model.verdict import Mode
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.settings import (
    DataPlaneSettings,
    PolicySettings,
    ReconcileSettings,
    RoleSettings,
    ServerSettings,
    Settings,
    StackSettings,
    UpstreamSettings,
)
from gateway.core.settings.console import ConsoleSettings
from gateway.core.settings.exports import ExportSettings
from gateway.core.settings.notices import ChatSettings, WebhookSettings
from gateway.core.settings.run_task import RunTaskSettings
from gateway.core.settings.signals import SignalSourceSettings
from gateway.core.settings.telemetry import TelemetrySettings
from gateway.core.times import SystemClock
from gateway.doors.timeouts import TimeoutProtocol
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import BUDGETS, CLAIMS, HOLDS, VALUES
from gateway.ledger.store.transaction import Transaction
from gateway.policy.bundle import SHIPPED, RunningEngine, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.replay import Objection, Replayed, replay
from gateway.policy.replay_contracts import ContractReplay
from gateway.policy.sources import shipped
from tests.kit.upstream import UpstreamStub

STACK = Path(__file__).parent.parent / "cases" / "stacks" / "kafka"
ASG = "kafka-consumer-processor-asg"
T = TypeVar("T")
_FORGET = (
    Statement(delete(VALUES)),
    Statement(delete(CLAIMS).where(CLAIMS.c.ended_at.is_not(None))),
    Statement(delete(HOLDS).where(HOLDS.c.state == HoldState.OPEN.value)),
)
_IDLE_SECONDS = 300
"""How long it keeps an idle connection. Clients of tests keep theirs too, and on a busy machine rest for about the 5 s after which uvicorn closes them:
a call that was sent just then had no answer."""
_CLOSE = Statement(update(BUDGETS).values(in_a_row=0, state=BreakerState.CLOSED.value, until="", trial=""))

KEYS: dict[str, tuple[ActorKind, tuple[str, ...]]] = {
    "agent": (ActorKind.AGENT, ()),
    "rival": (ActorKind.AGENT, ()),
    "human": (ActorKind.HUMAN, ("approver",)),
    "pipeline": (ActorKind.PIPELINE, ()),
    "service": (ActorKind.SERVICE, ()),
    "reconciler": (ActorKind.SERVICE, ("reconciler",)),
}


@functools.cache
def _patient_engine() -> Embedded:
    """The policies of every gate, with a deadline for machines with much to do; one instance for all tests of a process."""
    return Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=10_000, memory_mb=64)


async def _others(records: Sequence[Record], engine: RunningEngine, contracts: ContractReplay) -> list[str]:
    """The decisions that do not replay to themselves: not every word of an objection is compared, but what it is about is.

    Contracts are judged again where code and states are those of then.
    """
    found, code = [], contracts.stacks.revision
    for record in records:
        body: Any = record.body
        for judge in (None, contracts) if body.decision.code == code else (None,):
            done = await replay(record, engine, judge)
            if isinstance(done, Replayed) and (done.flipped or _about(done.old) != _about(done.new)):
                found.append(f"{done.mutation} {done.call}, contracts {judge is not None}: {done.old} → {done.new}")
    return found


def _about(objections: tuple[Objection, ...]) -> set[tuple[str, ...]]:
    return {(each.rule, each.verdict.value, each.address, each.attribute) for each in objections}


def _forget(transaction: Transaction) -> None:
    for statement in _FORGET:
        transaction.change(statement, {})


def _close(transaction: Transaction) -> None:
    transaction.change(_CLOSE, {})


@dataclass
class Gate:
    """One running gateway."""

    directory: Path
    mode: Mode = Mode.ENFORCE
    upstream: UpstreamStub = field(default_factory=UpstreamStub)
    keys: dict[str, Key] = field(default_factory=dict)
    url: str = ""
    server: ServerSettings = field(default_factory=ServerSettings)
    data_plane: DataPlaneSettings = field(default_factory=DataPlaneSettings)
    """Of the stack."""
    signals: tuple[SignalSourceSettings, ...] = ()
    run_task: RunTaskSettings = field(default_factory=RunTaskSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    webhooks: tuple[WebhookSettings, ...] = ()
    policy: PolicySettings = field(default_factory=PolicySettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    exports: tuple[ExportSettings, ...] = ()
    reconcile: ReconcileSettings = field(default_factory=ReconcileSettings)
    account: str = ""
    assume_role: str = ""
    """Of the connection to AWS."""
    session_per_mutation: bool = False
    roles: tuple[RoleSettings, ...] = ()
    more_stacks: tuple[StackSettings, ...] = ()
    """Besides the copy of the case's."""
    listening: socket.socket | None = None
    """What it listens on, if the settings must know its address before it starts; default: a free port."""
    data: Path | None = None
    """Another gateway's data directory, to share its ledger; default: one of its own."""
    replays: bool = True
    """Whether all its decisions are replayed at its end; not where a million stand that no gateway made."""
    _clients: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stack = self.directory / "stack"
        shutil.copytree(STACK, self.stack)
        self._loop: asyncio.AbstractEventLoop
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(300), "the gateway did not start"
        if self._failure:
            self._thread.join(300)
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        flips = self._flips()
        if not self._failure:
            self._server.should_exit = True
        self._thread.join(300)
        assert not self._thread.is_alive(), f"the gateway did not stop; it waits here:\n{self._waiting()}"
        assert not flips, f"these decisions, replayed under the same policies, are others: {flips}"

    def _flips(self) -> list[str]:
        """The decisions that do not replay to themselves under what decided them: none, in every test with a gate."""
        if self._failure or not self.replays or not self._thread.is_alive() or self.policy != PolicySettings():
            return []
        application: Any = self.app._app
        contracts = ContractReplay(stacks=application.state.ports.replays.stacks.snapshot())
        others, before = [], 0
        while True:
            query = RecordQuery(stage=Stage.DECIDED, before_seq=before, limit=500)
            records = self.run(self.ledger.records(query))
            # On the loop of the gateway: a browser of the tests has one running in this thread.
            others += self.run(_others(records, _patient_engine(), contracts))
            if len(records) < query.limit:
                return others
            before = records[-1].seq

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the gateway and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(300)

    def records(self, **query: Any) -> list[Record]:
        """Records, oldest first."""
        return list(self.run(self.ledger.records(RecordQuery(newest_first=False, limit=1000, **query))))

    def release_all(self) -> None:
        """Release every open claim, and forget the claims, holds and applied values of before, so that the next test starts as the first did."""
        human = Caller(actor="human", kind=ActorKind.HUMAN, key_id=self.keys["human"].id, roles=("approver",))
        for mutation in {claim.mutation_id for claim in self.run(self.ledger.claims())}:
            self.run(self.ledger.release(mutation, caller=human, at=SystemClock().now()))
        self.run(self.ledger.write(_forget))
        self.close_breakers()

    def close_breakers(self) -> None:
        """Forget that actors were refused: tests that share a gate ask more often for what is refused than one actor may."""
        self.run(self.ledger.write(_close))

    def client(
        self,
        service: str,
        actor: str = "agent",
        motive: tuple[str, str] | None = ("availability", "incident; evidence=A-1"),
        **more: Any,
    ) -> Any:
        """A boto3 client that sends its calls to the gateway; the same one for the same arguments, since botocore takes 3 to 20 ms to make one."""
        key = self.keys[actor]
        asked = repr((service, key.id, key.secret, motive, sorted(more.items())))
        if asked not in self._clients:
            self._clients[asked] = self.new_client(service, actor, motive, **more)
        return self._clients[asked]

    def new_client(
        self,
        service: str,
        actor: str = "agent",
        motive: tuple[str, str] | None = ("availability", "incident; evidence=A-1"),
        **more: Any,
    ) -> Any:
        """As `client`, but nobody else's: for a test that changes what happens to its events."""
        key = self.keys[actor]
        client = boto3.client(
            service,
            endpoint_url=self.url,
            region_name=more.pop("region_name", "us-east-1"),
            aws_access_key_id=key.id,
            aws_secret_access_key=more.pop("secret", key.secret),
            config=Config(**{"retries": {"total_max_attempts": 1}, **more}),
        )
        headers = {"x-sentinel-intent": motive[0], "x-sentinel-motivation": motive[1]} if motive else {}

        def add_headers(params: dict[str, Any], **_: Any) -> None:
            # A signature is spent once and names no moment finer than a second, so tests that repeat a call make it unique.
            params["headers"].update(headers, **{"x-test-call": uuid.uuid4().hex})

        client.meta.events.register("before-call", add_headers)
        return client

    def bearer(self, actor: str = "agent") -> dict[str, str]:
        """The header that authenticates an actor at the API."""
        key = self.keys[actor]
        return {"Authorization": f"Bearer {key.id}.{key.secret}"}

    def issue(
        self,
        actor: str,
        *,
        kind: ActorKind = ActorKind.AGENT,
        lasts: timedelta = timedelta(days=1),
        roles: tuple[str, ...] = (),
    ) -> str:
        """Issue a key for a new actor and return its name, for `client` and `bearer`."""
        self.keys[actor] = self.run(self.ring.issue(actor=actor, kind=kind, lasts=lasts, roles=roles))
        return actor

    def waits_for(self, mutation_id: str) -> bool:
        """Whether a request waits for this mutation."""
        application: Any = self.app._app
        return mutation_id in application.state.ports.wakeups._waiting

    def revoke(self, actor: str) -> None:
        """Revoke the actor's key."""
        self.run(self.ring.revoke(self.keys[actor].id))

    def _waiting(self) -> str:
        """Where the tasks of the event loop and the other threads wait; last its own thread, because the end of a long log is what is kept."""
        frames = sys._current_frames()
        own = frames.pop(self._thread.ident or 0, None)
        threads = ["".join(traceback.format_stack(frame)[-3:]) for frame in frames.values()]
        tasks = [f"{each!r}\n{''.join(map(str, each.get_stack()))}" for each in asyncio.all_tasks(self._loop)]
        return "\n\n".join((*threads, *tasks, "".join(traceback.format_stack(own)[-6:])))

    def _run(self) -> None:
        """Serve, and end what is left on the event loop as `sentinel serve` does: what it leaves open, Python would warn about in a later test."""
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            upstream = await self.upstream.start()
            try:
                await self._answer()
            finally:
                await upstream.cleanup()
        except BaseException as error:
            self._failure = error
            self._ready.set()
            raise

    async def _answer(self) -> None:
        settings = Settings(
            data=self.data or self.directory / "data",
            mode=self.mode,
            server=self.server,
            upstream=UpstreamSettings(
                simulated=f"http://127.0.0.1:{self.upstream.port}",
                reply_seconds=300,
                assume_role=self.assume_role,
                session_per_mutation=self.session_per_mutation,
            ),
            signals=self.signals,
            run_task=self.run_task,
            chat=self.chat,
            webhooks=self.webhooks,
            policy=self.policy,
            telemetry=self.telemetry,
            console=self.console,
            exports=self.exports,
            reconcile=self.reconcile,
            roles=self.roles,
            account=self.account,
            stacks=(
                StackSettings(name="kafka", path=self.stack, mode=self.mode, data_plane=self.data_plane),
                *self.more_stacks,
            ),
        )
        async with running(settings) as self.app, open_sealed_ledger(settings) as self.ledger:
            await self._issue(settings, self.ledger)
            self._server = uvicorn.Server(
                uvicorn.Config(
                    self.app,
                    port=0,
                    http=TimeoutProtocol,
                    log_level="error",
                    proxy_headers=False,
                    lifespan="off",
                    timeout_graceful_shutdown=20,
                    timeout_keep_alive=_IDLE_SECONDS,
                )
            )
            self._server.config.load()
            listening = self.listening or self._server.config.bind_socket()
            self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            self._loop.call_soon(self._ready.set)
            await self._server.serve(sockets=[listening])

    async def _issue(self, settings: Settings, ledger: SqlLedger) -> None:
        self.ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        for actor, (kind, roles) in KEYS.items():
            self.keys[actor] = await self.ring.issue(actor=actor, kind=kind, roles=roles, lasts=timedelta(days=1))
