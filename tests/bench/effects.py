"""What it costs to know what a call does: `python -m tests.bench.effects [rounds]`. Prints one JSON object per figure.

Calls by hand-made rows, and by derived ones that know every attribute or only the resource, against the stack of the case `kafka`. The floor
is the same call without any row. Memory is that of a process that is asked about every operation with a derived row, of every service.
"""

import gc
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gateway.core.derived_rows import DIRECTORY, AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import Basis, Call, EffectAction
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.effects.registry import SERVICES
from gateway.effects.resolver import EffectResolver
from gateway.effects.schema import read_schemas
from gateway.terraform.stacks import Stacks
from tests.bench.figure import quantile, show

KAFKA = Path(__file__).parents[1] / "cases" / "stacks" / "kafka"
ROW = DerivedRow(
    service="shards",
    operation="ModifyShard",
    resource_type="aws_sqs_queue",
    actions=frozenset({EffectAction.SET}),
    origin=Origin.TRACED,
    confidence=Confidence.ATTRIBUTES,
    identity={"Queue": AttributeSource(attribute="id")},
    attributes={
        "Delay": AttributeSource(attribute="delay_seconds"),
        "Retention": AttributeSource(attribute="message_retention_seconds"),
    },
)
"""A row of an operation that AWS does not have, on a type that the stack has."""
ROWS = (ROW, replace(ROW, operation="TouchShard", confidence=Confidence.RESOURCE))


def main(rounds: int) -> None:
    """All figures."""
    stacks = Stacks.load([StackSettings(name="kafka", path=KAFKA)], default_mode=Mode.ENFORCE)
    _start(stacks)
    resolver = EffectResolver(stacks, rows=lambda _, operation: [row for row in ROWS if row.operation == operation])
    url = str((stacks.recorded("aws_sqs_queue.shard[1]") or {})["id"])
    call = Call(service="shards", operation="Unknown", parameters={"Queue": url, "Delay": 7, "Retention": 3600})
    hand = Call(
        service="sqs",
        operation="SetQueueAttributes",
        parameters={"QueueUrl": url, "Attributes": {"DelaySeconds": "7", "MessageRetentionPeriod": "3600"}},
    )
    floor = quantile(_timed(rounds, lambda: resolver.effects(call, quiet=True)), 0.5)
    for name, basis, each in (
        ("hand", Basis.HAND, hand),
        ("derived", Basis.DERIVED, replace(call, operation="ModifyShard")),
        ("resource", Basis.RESOURCE, replace(call, operation="TouchShard")),
    ):
        assert resolver.explain(each).basis is basis, (name, resolver.explain(each).reason)
        times = _timed(rounds, lambda each=each: resolver.effects(each, quiet=True))  # type: ignore[misc]
        show(f"effects.{name}.p50", quantile(times, 0.5), "us", floor=floor, n=rounds)
        show(f"effects.{name}.p99", quantile(times, 0.99), "us", n=rounds)
    _memory()


def _timed(rounds: int, work: Callable[[], object]) -> list[float]:
    """Microseconds of each round; the first tenth is warm-up and left out."""
    times = []
    for _ in range(rounds + rounds // 10):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1e6)
    return times[rounds // 10 :]


def _start(stacks: Stacks) -> None:
    """What the resolver adds to a start. The floor reads the schemas of the hand-made tables, which an eager start would do."""
    types = {
        name for table in SERVICES.values() for row in table.values() for name in (row.resource_type, *row.other_types)
    }
    eager = _timed(5, lambda: read_schemas(types))
    show("effects.start", quantile(_timed(5, lambda: EffectResolver(stacks)), 0.5) / 1e3, "ms", floor=quantile(eager, 0.5) / 1e3, n=5)  # fmt: skip


def _memory() -> None:
    """In a process of its own: the names of the operations, which come by its input, are the only thing that the figure has to do without."""
    named = [
        f"{path.name.removesuffix('.json')} {operation}"
        for path in DIRECTORY.iterdir()
        if path.name.endswith(".json")
        for operation in dict.fromkeys(re.findall(r'^\{"operation": "(\w+)"', path.read_text(), re.MULTILINE))
    ]
    command = [sys.executable, "-m", "tests.bench.effects", "--asked"]
    done = subprocess.run(command, input="\n".join(named), check=True, capture_output=True, text=True)
    show("effects.memory", float(done.stdout), "MB", n=len(named))


def _asked(named: Sequence[str]) -> None:
    """Print the MB that a process gains while it is asked about these operations."""
    stacks = Stacks.load([StackSettings(name="kafka", path=KAFKA)], default_mode=Mode.ENFORCE)
    resolver = EffectResolver(stacks)
    resolver.effects(Call(service="sqs", operation="PurgeQueue", parameters={"QueueUrl": "x"}), quiet=True)
    before = _resident()
    for name in named:
        service, _, operation = name.partition(" ")
        names = {
            path: "x"
            for row in resolver.explain(Call(service=service, operation=operation)).rows
            for path in row.identity
        }
        resolver.effects(Call(service=service, operation=operation, parameters=names), quiet=True)
    gc.collect()
    print(_resident() - before)


def _resident() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6


if __name__ == "__main__":
    if sys.argv[1:] == ["--asked"]:
        _asked(sys.stdin.read().splitlines())
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
