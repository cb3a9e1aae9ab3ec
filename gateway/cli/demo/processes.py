"""Child processes that are started, watched and ended together."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.core.errors import SentinelError

TERRAFORM_SECONDS = 3.5
"""How long Terraform may take to end after the first signal: it saves its state."""
ALL_SECONDS = 6.0
"""How long all children together may take, so that one Ctrl-C ends `sentinel up` within 10 seconds. What a killed process left undone, the next
start finds in the ledger and takes up."""
_LEAST_SECONDS = 1.0
"""What each of them gets, however long the others took."""

_LAST_LINES = 8


class ChildDied(SentinelError):
    """A process that should be running has ended."""

    code = "child_died"


class Children:
    """A context manager that ends the processes started in it when it exits, last started first."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def __aenter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        deadline = time.monotonic() + ALL_SECONDS
        for left, process in reversed(list(enumerate(self._running.values()))):
            grace = deadline - time.monotonic() - left * _LEAST_SECONDS
            await end(process, signal.SIGTERM, max(grace, _LEAST_SECONDS))

    async def start(
        self,
        name: str,
        arguments: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        descriptors: Sequence[int] = (),
    ) -> None:
        """Start `python -m …` with these arguments; its output goes to `<name>.log`. It inherits these file descriptors."""
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # do not import modules from the current directory
                "-m",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
                pass_fds=descriptors,
                start_new_session=True,  # Ctrl-C is not sent to the children, so that they are ended in the right order
            )

    def check(self) -> None:
        """Raise `ChildDied`, with the last lines of its log, if any child has ended."""
        for name, process in self._running.items():
            if process.returncode is not None:
                log = self._logs / f"{name}.log"
                tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
                raise ChildDied(
                    f"The {name} process {_describe_exit(process.returncode)}. Last lines of {log}:\n{tail}"
                )

    async def watch(self) -> None:
        """Wait until a child ends, then raise `ChildDied`."""
        while True:
            self.check()
            await asyncio.sleep(0.3)


async def end(process: asyncio.subprocess.Process, first: signal.Signals, grace: float) -> None:
    """End a process that leads its own session: send `first`, and after `grace` seconds kill its process group."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(first)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace)
    with contextlib.suppress(ProcessLookupError):  # usually no process is left in its group
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _describe_exit(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
