"""`sentinel up` as its users meet it: a process of its own on ports of its own, with every child it starts."""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
_READY_SECONDS = 180.0
_END_SECONDS = 60.0


def free_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sentinel(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", *arguments],
        cwd=ROOT, env=environment(path), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def environment(path: str | None = None) -> dict[str, str]:
    """This environment, with another search path where one is given."""
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
        """All it said so far."""
        return self.home.with_suffix(".output").read_text()

    def start(self, *more: str, path: str | None = None) -> Self:
        """Start it, and go on at once."""
        arguments = ["up", "--home", str(self.home), "--port", str(self.port), "--aws-port", str(self.aws_port), *more]
        with self.home.with_suffix(".output").open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", *arguments],
                cwd=ROOT, env=environment(path), stdin=subprocess.DEVNULL, stdout=output, stderr=output, text=True,
            )  # fmt: skip
        return self

    def ready(self, *more: str, path: str | None = None) -> Self:
        """Start it, and wait until it says that all is ready."""
        self.start(*more, path=path)
        self.wait_for("Ctrl-C ends everything")
        return self

    def wait_for(self, words: str) -> None:
        """Wait until it has said this."""
        deadline = time.monotonic() + _READY_SECONDS
        while words not in self.output:
            assert self.process is not None
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.1)

    def signal(self, number: signal.Signals) -> int:
        """Send it a signal as Ctrl-C does; its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(_END_SECONDS)

    def ended(self) -> int:
        """Its exit code, once it has ended by itself."""
        assert self.process is not None
        return self.process.wait(_END_SECONDS)

    def children(self) -> dict[str, int]:
        """Process ids of whatever runs for this home or on its ports, by its command line; `sentinel up` itself is not one."""
        listed = subprocess.run(
            ["ps", "-axww", "-o", "pid=,command="], check=True, capture_output=True, text=True
        ).stdout
        lines = (line.split(None, 1) for line in listed.splitlines())
        return {command: int(pid) for pid, command in lines if self._started(command)}

    def parts(self) -> set[str]:
        """Which of its parts run."""
        names = {
            "gateway": "-m gateway serve",
            "reconciler": "-m reconciler serve",
            "simulated": "-m gateway.cli.local.simulated_aws",
        }
        running = "\n".join(self.children())
        return {name for name, words in names.items() if words in running}

    def gateway(self) -> int:
        """The gateway's process id."""
        return next(pid for command, pid in self.children().items() if "-m gateway serve" in command)

    def _started(self, command: str) -> bool:
        return " up --home " not in command and (f"{self.home}/" in command or f"simulated {self.aws_port}" in command)
