"""The cost of writing one change back: `python -m tests.bench.reconcile [rounds]`, one JSON object per figure.

`name, value, unit, floor, ratio, n`. Real Terraform against a moto server in its own process, on the stack of
`tests/cases/reconcile/fleet`. `reconcile_own` is the whole minus the time in terraform's processes that plan;
`reconcile_whole` is held against one bare `terraform plan` of the same stack, alternating with it. Before that the figures of
`tests.bench.rewrite`: the own work on 300 and 3,000 resources.
"""

import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3

from gateway.terraform.provider_mirror import terraform_environment
from reconciler.model import Wanted
from reconciler.proof.propose import ProofContext, propose
from reconciler.terraform.cli import Terraform
from tests.bench import rewrite
from tests.bench.figure import show

CASE = Path(__file__).parent.parent / "cases" / "reconcile" / "fleet"
GROUP = "aws_autoscaling_group.web"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed(Terraform):
    """Terraform that records how long its plans take."""

    spent: list[float] = field(default_factory=list)

    async def plan(self, root: Path, **options: Any) -> Path | None:
        """As always, timed."""
        began = time.perf_counter()
        try:
            return await Terraform.plan(self, root, **options)
        finally:
            self.spent.append(time.perf_counter() - began)


def main() -> None:
    """Measure and print."""
    rewrite.main()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as directory, _moto() as endpoint:
        asyncio.run(_measure(Path(directory), endpoint, rounds))


async def _measure(directory: Path, endpoint: str, rounds: int) -> None:
    terraform, root = _apply(directory, endpoint)
    client: Any = boto3.client
    group = client("autoscaling", endpoint_url=endpoint, region_name="eu-west-1", **_KEYS)
    bare: list[float] = []
    whole: list[float] = []
    own: list[float] = []
    context = ProofContext(terraform=terraform, root=root, state=root / "terraform.tfstate")
    for value in range(3, 3 + rounds):
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=2)
        began = time.perf_counter()
        await Terraform.plan(terraform, root, state=context.state)
        bare.append(time.perf_counter() - began)
        group.set_desired_capacity(AutoScalingGroupName="web", DesiredCapacity=value)
        terraform.spent.clear()
        began = time.perf_counter()
        proved = await propose(
            context, [Wanted(address=GROUP, attribute="desired_capacity", value=value)], explain=lambda _: ""
        )
        whole.append(time.perf_counter() - began)
        own.append(whole[-1] - sum(terraform.spent))
        if not proved.edited.edits or proved.left:
            sys.exit(f"It did not write the change back: {proved.left}")
    show("reconcile.own.p50", statistics.median(own) * 1000, "ms", n=rounds)
    show("reconcile.whole.p50", statistics.median(whole) * 1000, "ms", floor=statistics.median(bare) * 1000, n=rounds)


_KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


def _apply(directory: Path, endpoint: str) -> tuple[Timed, Path]:
    root = directory / "fleet"
    shutil.copytree(CASE, root)
    base = dict(os.environ) | {name.upper(): value for name, value in _KEYS.items()}
    base |= {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": endpoint}
    environment = terraform_environment(mirror=None, workdir=directory, base=base)
    for argv in (["init"], ["apply", "-auto-approve"], ["apply", "-refresh-only", "-auto-approve"]):
        subprocess.run(["terraform", *argv, "-no-color"], cwd=root, env=environment, check=True, capture_output=True)
    return Timed(environment=environment, workdir=directory / "work", shared_data=root / ".terraform"), root


@contextmanager
def _moto() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _wait(f"{endpoint}/moto-api/data.json")
            yield endpoint
        finally:
            process.terminate()


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310  our own loopback server
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("The simulated AWS did not start.")


if __name__ == "__main__":
    main()
