"""How long a start takes: commands, and `sentinel up` fresh and again: `python -m tests.bench.start [--warm] [--cold]`. One JSON object a figure.

With `--warm` it also clones this repository and runs `make up` there, with the caches of packages as they are, and says how long it was silent at most;
with `--cold` the same with empty caches of uv and pip.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench.figure import quantile, show
from tests.kit.up import free_port

ROOT = Path(__file__).parent.parent.parent
ROUNDS = 7
COMMANDS = (
    ("--help",),
    ("config",),
    ("key", "list"),
    ("key", "create", "ann"),
    ("records",),
    ("verify",),
    ("migrate",),
    ("observe", "report"),
)
READY = "Ctrl-C ends everything"
_LONGEST = 600.0


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.start")
    parser.add_argument("--warm", action="store_true", help="also `make up` in a new clone")
    parser.add_argument("--cold", action="store_true", help="also `make up` in a new clone with empty caches")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sentinel-start-") as directory:
        _commands(Path(directory))
        up = [sys.executable, "-m", "gateway", "up", "--home", str(Path(directory) / "home"), *_ports()]
        _show_up("start.up.fresh", up, ROOT, {})
        _show_up("start.up.again", up, ROOT, {})
        if arguments.warm:
            _make_up("warm", Path(directory) / "warm", {})
        if arguments.cold:
            empty = {f"{tool}_CACHE_DIR": str(Path(directory) / tool) for tool in ("UV", "PIP")}
            _make_up("cold", Path(directory) / "cold", empty)


def _commands(directory: Path) -> None:
    """Each command beside the bare interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    bare = [_run([sys.executable, "-c", "pass"], directory, environment) for _ in range(ROUNDS)]
    _run([sys.executable, "-m", "gateway", "key", "create", "first"], directory, environment)
    for command in COMMANDS:
        runs = [_run([sys.executable, "-m", "gateway", *command], directory, environment) for _ in range(ROUNDS)]
        name = "_".join(command).strip("-")
        walls, floors = [each.wall for each in runs], [each.wall for each in bare]
        show(f"start.command.{name}.p50", quantile(walls, 0.5), "s", floor=quantile(floors, 0.5), n=ROUNDS)
        cpu, floor = min(each.cpu for each in runs), min(each.cpu for each in bare)
        show(f"start.command.{name}.cpu", cpu, "s", floor=floor, n=ROUNDS)


class _Run(NamedTuple):
    """The seconds of one process."""

    wall: float
    cpu: float
    """Of processors, user and system, with those of its own children."""


def _run(argv: Sequence[str], directory: Path, environment: Mapping[str, str]) -> _Run:
    started = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return _Run(time.perf_counter() - started, used.ru_utime + used.ru_stime)


def _make_up(kind: str, clone: Path, caches: Mapping[str, str]) -> None:
    """`make up` in a new clone, and once more there."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    up = ["make", "up", f"ARGS={' '.join(_ports())}"]
    _show_up(f"start.make_up.{kind}", up, clone, caches)
    _show_up(f"start.make_up.{kind}.again", up, clone, caches)


def _ports() -> list[str]:
    return ["--port", str(free_port()), "--aws-port", str(free_port())]


def _show_up(name: str, argv: Sequence[str], directory: Path, more: Mapping[str, str]) -> None:
    """How long it takes until it says that it is ready, and how long it says nothing at most meanwhile; then it is ended."""
    started = heard = time.perf_counter()
    silent, said = 0.0, ""
    with tempfile.NamedTemporaryFile() as output:
        process = subprocess.Popen(
            argv, cwd=directory, env={**os.environ, **more}, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            while READY not in said:
                if process.poll() is not None or time.perf_counter() - started > _LONGEST:
                    sys.exit(f"{' '.join(argv)} was not ready:\n{said}")
                time.sleep(0.02)
                before, said, now = said, Path(output.name).read_text(), time.perf_counter()
                silent = max(silent, now - heard)
                heard = now if said != before else heard
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
    show(name, heard - started, "s", n=1)
    show(f"{name}.silent", silent, "s", n=1)


if __name__ == "__main__":
    main()
