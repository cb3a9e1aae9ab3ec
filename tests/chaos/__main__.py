"""Kill gateways and reconcilers at every point by the thousand: `python -m tests.chaos [CYCLES] [--database sqlite|postgresql] [--seed N]`.

One JSON object at the end, and a line for each thing that must not be; then it exits with 1. `--record FILE` appends the object to a file.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from tests.bench.figure import quantile
from tests.chaos.cycle import Seen, compare, cycles, play
from tests.chaos.world import World, forks, world
from tests.kit.fork_server import ForkServer
from tests.kit.stores import running_cluster

_IN_A_WORLD: Final = 36
"""Cycles on one ledger, before all of it is compared and the next one begins."""


@dataclass
class Run:
    """What came of the cycles so far."""

    cycles: int = 0
    kills: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    points: Counter[str] = field(default_factory=Counter)

    def take(self, name: str, seen: Seen) -> None:
        """Count a cycle."""
        self.cycles += 1
        self.kills += seen.kills
        if seen.seconds:
            self.seconds.append(seen.seconds)
        self.points.update(name.split("+"))
        for problem in seen.problems:
            self.say(problem)

    def say(self, problem: str) -> None:
        """Note what must not be."""
        self.problems.append(problem)
        print(problem, flush=True)


def main() -> int:
    """Play the cycles; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cycles", type=int, nargs="?", default=180)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    run, began = Run(), time.monotonic()
    with forks() as servers:
        for number in range(0, arguments.cycles, _IN_A_WORLD):
            with _new_world(servers, arguments.database) as one:
                count = min(_IN_A_WORLD, arguments.cycles - number)
                asyncio.run(_play(one, run, count, arguments.seed + number))
            line = json.dumps(_told(run, arguments, time.monotonic() - began))
            print(line, flush=True)
            if arguments.record is not None:
                _keep(arguments.record, line, first=number == 0)
    return int(bool(run.problems))


@contextmanager
def _new_world(servers: ForkServer, database: str) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="sentinel-chaos-") as directory:
        if database == "sqlite":
            with world(Path(directory) / "world", servers) as one:
                yield one
        else:
            with running_cluster() as cluster, world(Path(directory) / "world", servers, cluster.new_ledger()) as one:
                yield one


async def _play(one: World, run: Run, count: int, seed: int) -> None:
    for cycle in islice(cycles(count, seed=seed), count):
        run.take(cycle.name, await play(one, cycle))
    if one.run(write_back=True) != 0:
        run.say("the last write-back did not end")
    for problem in await compare(one):
        run.say(problem)


def _told(run: Run, arguments: argparse.Namespace, seconds: float) -> dict[str, object]:
    return {
        "name": f"chaos.{arguments.database}",
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": arguments.seed,
        "cycles": run.cycles,
        "kills": run.kills,
        "problems": len(run.problems),
        "recovered_p50_s": round(quantile(run.seconds, 0.5), 2),
        "recovered_max_s": round(max(run.seconds), 2),
        "seconds": round(seconds),
        "points": dict(sorted(run.points.items())),
    }


def _keep(record: Path, line: str, *, first: bool) -> None:
    """Append the line, in place of the last one if that is this run's."""
    lines = record.read_text().splitlines() if record.exists() else []
    record.write_text("\n".join([*(lines if first else lines[:-1]), line]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
