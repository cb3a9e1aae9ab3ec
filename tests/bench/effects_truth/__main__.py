"""Checks effects against the truth: `python -m tests.bench.effects_truth [service …]` (`make effects-truth`). `README.md` says how.

Exit code 1 if a certain row missed or invented something, or if a row named the wrong resource.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from tests.bench.drift.world import simulated_aws
from tests.bench.effects_truth.judge import Mistake, Score, certain, judge
from tests.bench.effects_truth.play import Played, play, staged
from tests.bench.effects_truth.seeds import read_seed, seed_names
from tests.bench.effects_truth.table import table, told


def main() -> int:
    """Play the services, print the table."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    services = arguments.services or seed_names()
    waiting = [name for name in services if arguments.again or not _kept(arguments.out, name).exists()]
    if waiting and not arguments.judge:
        _play(waiting, arguments.out, rounds=arguments.rounds, jobs=arguments.jobs)
    kept = [path for name in services if (path := _kept(arguments.out, name)).exists()]
    results = [_result(msgspec.json.decode(path.read_bytes(), type=Played)) for path in kept]
    print(f"\n{table(results)}")
    (arguments.out / "result.json").write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    wrong = [mistake for result in results for mistake in result["wrong"]]
    for mistake in wrong:
        print(told(mistake))
    return int(bool(wrong))


def _kept(out: Path, service: str) -> Path:
    return out / f"{service}.played.json"


def _play(services: Sequence[str], out: Path, *, rounds: int | None, jobs: int) -> None:
    """Play the services, `jobs` at a time, and keep what was seen of each."""
    with (
        tempfile.TemporaryDirectory(prefix="effects-truth-") as directory,
        simulated_aws(Path(directory) / "aws.log", empty_reads=True) as world,
        ThreadPoolExecutor(jobs) as pool,
    ):
        world.freeze()

        def one(service: str) -> None:
            start = time.monotonic()
            with staged(read_seed(service), world, Path(directory) / service) as stage:
                phases = tuple(play(stage, rounds))
            played = Played(service=service, seconds=round(time.monotonic() - start), phases=phases)
            _kept(out, service).write_bytes(msgspec.json.encode(played))
            _tell(_result(played), played)

        list(pool.map(one, services))


def _result(played: Played) -> dict[str, Any]:
    """The result of one service, as JSON."""
    scores: dict[str, Score] = {}
    mistakes: list[Mistake] = []
    rounds = read_seed(played.service).rounds()
    for phase in played.phases:
        kind, _, number = phase.name.partition(" ")
        asked = {each.address: each.attribute for each in rounds[int(number) - 1]} if kind == "change" else None
        judged = judge(phase.name, phase.planned, phase.calls, asked)
        mistakes += judged.mistakes
        for name, score in judged.scores.items():
            _add(scores.setdefault(name, Score()), score)
    wrong = certain(mistakes)
    return {
        "service": played.service,
        "types": sorted({change.type for phase in played.phases for change in phase.planned.values()}),
        "scores": {name: {**asdict(score), "rows": sorted(score.rows)} for name, score in sorted(scores.items())},
        "wrong": [asdict(each) for each in wrong],
        "other": [asdict(each) for each in mistakes if each not in wrong],
        "errors": {phase.name: phase.error for phase in played.phases if phase.error},
    }


def _add(total: Score, more: Score) -> None:
    total.rows |= more.rows
    for member in ("seen", "understood", "resource_right", "right", "whole", "missed", "invented"):
        setattr(total, member, getattr(total, member) + getattr(more, member))


def _tell(result: Mapping[str, Any], played: Played) -> None:
    print(table([result]).splitlines()[1], f"({played.seconds} s)", flush=True)
    for name, error in result["errors"].items():
        print("".join(f"  {name}: {line[:200]}\n" for line in error.splitlines()[:12]), end="", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.effects_truth", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("services", nargs="*", help="names of files in tests/cases/effects_truth; default: all")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("effects-truth"),
        help="directory of what was played, a file per service, and of result.json",
    )
    parser.add_argument("--again", action="store_true", help="play services that have a result, too")
    parser.add_argument("--rounds", type=int, help="at most so many changes of each resource type; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="services at a time")
    parser.add_argument("--judge", action="store_true", help="play nothing, judge what was played")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
