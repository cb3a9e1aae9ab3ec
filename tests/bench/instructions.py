"""Instructions of a gateway per mutation and per read, by thread, as callgrind counts them: they do not depend on what else the machine does.

`python -m tests.bench.instructions`; `--reads` for reads only, `--keep PREFIX` keeps callgrind's files of the last round. It needs valgrind. The gateway is
a process of its own, counted only while it answers, after it has answered such calls before. What it does beside the requests rests meanwhile: it is
done by the clock, so a slow run would count more of it. That includes checkpoints, which are signed once a second.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path

from gateway.__main__ import main as sentinel
from gateway.app import background
from gateway.core.model.caller import ActorKind
from gateway.ledger.chain import anchor
from gateway.policy import engine
from tests.bench import line, processes
from tests.bench.figure import show
from tests.bench.keepalive import Connection

_WARM, _COUNTED = 40, 100
_LONG = 3600.0
_VALGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes")
_TOTAL = re.compile(r"^totals: (\d+)", re.MULTILINE)


def main() -> None:
    """Count and print; as `serve`, be the gateway."""
    if sys.argv[1:2] == ["serve"]:
        _rest()
        sentinel()
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reads", action="store_true")
    parser.add_argument("--keep", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, processes.stub() as aws:
        directory = Path(name)
        stack, data = directory / "kafka", directory / "data"
        shutil.copytree(line.STACK, stack)
        agent = processes.key(data, "agent", ActorKind.AGENT)
        program = [*_VALGRIND, f"--callgrind-out-file={directory}/calls.%p", sys.executable, "-m", __spec__.name]
        with processes.gateway(data, stack, aws.port, program) as gate, Connection(gate.port) as through:
            _count("read", gate.pid, directory, through, line.reads(agent)(gate.port))
            if not arguments.reads:
                _count("mutation", gate.pid, directory, through, line.changes(agent, line.GROUP)(gate.port))
            for dump in directory.glob(f"calls.{gate.pid}.*") if arguments.keep else ():
                shutil.copy(dump, f"{arguments.keep}{dump.suffix}")


def _rest() -> None:
    """Leave what is done beside the requests undone for long, but for the lease, without which nothing is decided."""
    repeat = background.repeat

    async def seldom(work: Callable[[], Awaitable[object]], seconds: float, *, failed: str) -> None:
        await repeat(work, seconds if failed == "lease_not_renewed" else _LONG, failed=failed)

    background.repeat = seldom
    background._RELOAD_SECONDS = _LONG
    anchor.APART_SECONDS = _LONG  # type: ignore[misc]  # after the first one
    poll = engine._poll

    def seldom_polled(reloading: "weakref.ref[engine.ReloadingEngine]", stop: threading.Event, seconds: float) -> None:
        poll(reloading, stop, max(seconds, _LONG))

    engine._poll = seldom_polled


def _count(name: str, pid: int, directory: Path, through: Connection, requests: Iterator[bytes]) -> None:
    for request in islice(requests, _WARM):
        through.timed(request)
    for dump in directory.glob(f"calls.{pid}.*"):
        dump.unlink()
    _control("-i", "on", pid)
    for request in islice(requests, _COUNTED):
        through.timed(request)
    _control("-i", "off", pid)
    _control("-d", name, pid)
    whole = 0
    for dump in sorted(directory.glob(f"calls.{pid}.*")):
        if (total := _TOTAL.search(dump.read_text())) and int(total[1]) > _COUNTED:
            whole += int(total[1])
            show(f"instructions.{name}.thread_{dump.suffix[1:]}", int(total[1]) / _COUNTED / 1e6, "M", n=_COUNTED)
    show(f"instructions.{name}", whole / _COUNTED / 1e6, "M", n=_COUNTED)


def _control(option: str, value: str, pid: int) -> None:
    subprocess.run(["callgrind_control", option, value, str(pid)], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
