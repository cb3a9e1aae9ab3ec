"""What each file of tests takes alone, as its author runs it: `python -m tests.tools.files [paths] [--every 10] [--least 3]`, one after the other.

Processor time is user and system time from the command to its end, with the children that have ended, so other work on the machine changes little.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest


class Alone(NamedTuple):
    """Seconds that a file took, and how pytest ended."""

    processor: float
    wall: float
    status: int
    file: str

    def __str__(self) -> str:
        failed = "" if self.status in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} else " failed"
        return f"{self.processor:>9.2f}s {self.wall:>8.2f}s {self.file}{failed}"


def alone(file: str) -> Alone:
    """Run the tests of one file in a process of their own."""
    before = os.times()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", file], check=False, stdout=subprocess.DEVNULL)
    _, _, user, system, wall = (now - then for now, then in zip(os.times(), before, strict=True))
    return Alone(user + system, wall, done.returncode, file)


def files(paths: Sequence[str]) -> Iterator[str]:
    """The files of tests at these paths."""
    for path in map(Path, paths):
        yield from sorted(map(str, path.rglob("test_*.py"))) if path.is_dir() else [str(path)]


def main() -> None:
    """Print a line a file as it ends, and at the end those that took long, the longest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=["tests"])
    parser.add_argument("--every", type=int, default=1, help="only each N-th file")
    parser.add_argument("--least", type=float, default=3.0, help="name files that took more seconds of a processor")
    asked = parser.parse_args()
    done = []
    for file in list(files(asked.paths))[:: asked.every]:
        done.append(alone(file))
        print(done[-1], flush=True)
    long = sorted((each for each in done if each.processor > asked.least), reverse=True)
    print(f"{len(done) - len(long)} of {len(done)} took at most {asked.least:g} s of a processor. The others:")
    print(*long, sep="\n")


if __name__ == "__main__":
    main()
