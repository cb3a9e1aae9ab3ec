"""`sentinel up` in its own process with its own ports, and access to the child processes it starts."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
_READY_SECONDS = 300.0
_END_SECONDS = 300.0


_PORTS = range(20_000, 32_768)


def free_port() -> int:
    """A free port on loopback, below those that Linux gives where any will do: until its server has it, no stub of another test does."""
    while True:
        port = secrets.choice(_PORTS)  # processes that were forked from one draw the same numbers from `random`
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def sentinel(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command and wait for its end."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", *arguments],
        cwd=ROOT, env=environment(path), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def environment(path: str | None = None) -> dict[str, str]:
    """The current environment, with `PATH` replaced if given."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", **({"PATH": path} if path is not None else {})}


@dataclass
class Up:
    """One `sentinel up`."""

    home: Path
    port: int = field(default_factory=free_port)
    aws_port: int = field(default_factory=free_port)
    process: subprocess.Popen[str] | None = None

    @property
    def output(self) -> str:
        """Its output so far."""
        return self.home.with_suffix(".output").read_text()

    def start(self, *more: str, path: str | None = None) -> Self:
        """Start it without waiting."""
        arguments = ["up", "--home", str(self.home), "--port", str(self.port), "--aws-port", str(self.aws_port), *more]
        with self.home.with_suffix(".output").open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", *arguments],
                cwd=ROOT, env=environment(path), stdin=subprocess.DEVNULL, stdout=output, stderr=output, text=True,
            )  # fmt: skip
        return self

    def ready(self, *more: str, path: str | None = None) -> Self:
        """Start it and wait until it reports that it is ready."""
        self.start(*more, path=path)
        self.wait_for("Ctrl-C ends everything")
        return self

    def wait_for(self, words: str) -> None:
        """Wait until its output contains `words`."""
        deadline = time.monotonic() + _READY_SECONDS
        while words not in self.output:
            assert self.process is not None
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)

    def signal(self, number: signal.Signals) -> int:
        """Send it a signal, wait for its end and return its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(_END_SECONDS)

    def ended(self) -> int:
        """Wait until it ends by itself and return its exit code."""
        assert self.process is not None
        return self.process.wait(_END_SECONDS)

    def children(self) -> dict[str, int]:
        """Ids of the processes for this home or its ports, by command line, without `sentinel up` itself."""
        listed = subprocess.run(
            ["ps", "-axww", "-o", "pid=,command="], check=True, capture_output=True, text=True
        ).stdout
        lines = (line.split(None, 1) for line in listed.splitlines())
        return {command: int(pid) for pid, command in lines if self._started(command)}

    def parts(self) -> set[str]:
        """The names of its running parts."""
        names = {
            "gateway": "-m gateway serve",
            "reconciler": "-m reconciler serve",
            "simulated": "-m gateway.cli.demo.simulated_aws",
        }
        running = "\n".join(self.children())
        return {name for name, words in names.items() if words in running}

    def gateway(self) -> int:
        """The process id of the gateway."""
        return next(pid for command, pid in self.children().items() if "-m gateway serve" in command)

    def _started(self, command: str) -> bool:
        return " up --home " not in command and (f"{self.home}/" in command or f"simulated {self.aws_port}" in command)
