"""The reconciler's put-back in a process of its own (see `tests.kit.fork_server`) that kills itself at one point: looking, leaving, sending, sent or
recorded; or `never`.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3

from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from reconciler.changes.backlog import Backlog
from reconciler.drift.put_backs.gateway_api import GatewayApi
from reconciler.drift.put_backs.put_back import PutBacks
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refresh import Refreshed
from reconciler.workflows import Worker, durable
from tests.kit.gate import ASG

GROUP = "aws_autoscaling_group.kafka_consumer"
POINTS = {
    "looking": (PutBacks, "look", False),
    "leaving": (PutBacks, "leave", False),
    "sending": (PutBacks, "send", False),
    "sent": (GatewayApi, "put_back", True),
}
"""Where the process can die: class, method, and whether after the method's work."""


@dataclass(frozen=True)
class Live:
    """The group in the simulated AWS."""

    url: str

    async def __call__(self, targets: list[str]) -> Refreshed:
        group = await asyncio.to_thread(self.group)
        return Refreshed(read=frozenset(targets), objects={GROUP: group})

    def group(self) -> dict[str, Any]:
        """Its attributes as the provider reads them."""
        client = boto3.client(
            "autoscaling",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="simulated",
            aws_secret_access_key="simulated",
        )
        [found] = client.describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])["AutoScalingGroups"]
        return {
            "desired_capacity": found["DesiredCapacity"],
            "min_size": found["MinSize"],
            "max_size": found["MaxSize"],
        }


def _dying(method: Callable[..., Awaitable[Any]], *, after: bool) -> Callable[..., Awaitable[Any]]:
    async def die(*arguments: Any) -> Any:
        if after:
            await method(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


async def main(places: dict[str, str], key: tuple[str, str], dies: str, rounds: int) -> None:
    """Put back what is due, or die; at the latest end after so many rounds."""
    if dies in POINTS:
        owner, name, after = POINTS[dies]
        setattr(owner, name, _dying(getattr(owner, name), after=after))
    async with open_sealed_ledger(Settings(data=Path(places["data"]))) as ledger:
        gateway = GatewayApi(url=places["gate"], key_id=key[0], key_secret=key[1])
        worker = _worker(ledger, gateway, Live(places["aws"]))
        async with durable(
            {"kafka": worker}, database=places["database"], key=b"a key for tests", poll_seconds=0.05
        ) as runner:
            for _ in range(rounds):
                await worker.put_back(runner)
                if not await ledger.time_boxes():
                    return
                await asyncio.sleep(0.05)


def _worker(ledger: SqlLedger, gateway: GatewayApi, live: Live) -> Worker:
    nowhere = Path("nowhere")
    line = Line(
        stack="kafka",
        source=nowhere,
        state=None,
        branch="sentinel/kafka",
        worktree=nowhere,
        terraform=Terraform(environment={}, workdir=nowhere, executable="no-terraform-here"),
        queries=ledger,
        commands=ledger,
        clock=SystemClock(),
        declared_cache=DeclaredCache(),
    )
    putting_back = PutBacks(
        stack="kafka",
        ledger=ledger,
        clock=SystemClock(),
        read_live=live,
        gateway=gateway,
        patience=timedelta(0),
    )
    return Worker(line=line, backlog=Backlog(stack="kafka"), putting_back=putting_back)
