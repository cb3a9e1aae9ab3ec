"""A gateway in a process of its own, in front of a simulated AWS, and its ledger: for tests that kill processes."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

import boto3
import httpx

from gateway.core.model.verdict import Mode
from gateway.core.ports import Key, RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.times import SystemClock
from gateway.identity.master_key import master_key
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.forked import Forked, python_m
from tests.kit.gate import KEYS, STACK
from tests.kit.up import free_port

T = TypeVar("T")
_READY_SECONDS = 300.0
_ONE = threading.Lock()
"""A new ledger is migrated by Alembic, whose context is that of the process."""


@dataclass
class GateProcess(AbstractContextManager["GateProcess"]):
    """`sentinel serve`. It can be killed and started again, on the same port and ledger."""

    data: Path
    aws: str
    """URL of the simulated AWS."""
    lease_seconds: float = 2.0
    mode: Mode = Mode.ENFORCE
    stack: StackSettings = field(default_factory=lambda: StackSettings(name="kafka", path=STACK))
    port: int = field(default_factory=free_port)
    keys: dict[str, Key] = field(default_factory=dict)
    process: Forked | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> Settings:
        """Its settings."""
        return Settings(
            data=self.data,
            upstream=UpstreamSettings(simulated=self.aws),
            stacks=(self.stack,),
        )

    def __enter__(self) -> Self:
        self.data.mkdir(exist_ok=True)
        self.ledger(self._issue)
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> Self:
        """Start it and wait until it is ready."""
        environment = {
            **os.environ,
            "SENTINEL_DATA": str(self.data),
            "SENTINEL_SERVER__PORT": str(self.port),
            "SENTINEL_SERVER__LEASE_SECONDS": str(self.lease_seconds),
            "SENTINEL_UPSTREAM__SIMULATED": self.aws,
            "SENTINEL_MODE": self.mode.value,
            "SENTINEL_STACKS": json.dumps([self.stack.model_dump(mode="json", exclude_defaults=True)]),
        }
        with (self.data / "gateway.log").open("a") as log:
            self.process = python_m("gateway", "serve", environment=environment, output=log, errors=log)
        deadline = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            assert self.process.poll() is None, "the gateway ended"
            assert time.monotonic() < deadline, "the gateway was never ready"
            time.sleep(0.1)
        return self

    def kill(self) -> None:
        """`kill -9`."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def ledger(self, work: Callable[[SqlLedger], Awaitable[T]]) -> T:
        """What `work` returns with the ledger open."""

        async def opened() -> T:
            async with open_sealed_ledger(self.settings) as ledger:
                return await work(ledger)

        with _ONE:
            return asyncio.run(opened())

    def records(self, stage: Stage) -> list[Record]:
        """The records of a stage, oldest first."""
        query = RecordQuery(stage=stage, newest_first=False, limit=1000)
        return list(self.ledger(lambda ledger: ledger.records(query)))

    def client(self, service: str, actor: str, motivation: str) -> Any:
        """A boto3 client that sends its calls to the gateway, for availability."""
        key = self.keys[actor]
        client = boto3.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=key.id,
            aws_secret_access_key=key.secret,
        )
        headers = {"x-sentinel-intent": "availability", "x-sentinel-motivation": motivation}
        client.meta.events.register("before-call", lambda params, **_: params["headers"].update(headers))
        return client

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    async def _issue(self, ledger: SqlLedger) -> None:
        ring = SqlKeyRing(ledger, master=master_key("", self.data), clock=SystemClock())
        for actor, (kind, roles) in KEYS.items():
            self.keys[actor] = await ring.issue(actor=actor, kind=kind, roles=roles, lasts=timedelta(days=1))
