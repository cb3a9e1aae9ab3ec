"""Child processes that are started together, watched, and ended together."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.errors import SentinelError

_GRACE_SECONDS = 20.0


class ChildDied(SentinelError):
    """A process that should be running has ended."""

    code = "child_died"


class Children:
    """A context manager: whatever was started in it is ended when it is left, last started first."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def __aenter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._running.values()):
            await _end(process)

    async def start(self, name: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start `python -m …` with these arguments; its output goes to `<name>.log`."""
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
                start_new_session=True,  # Ctrl-C reaches only us, so that we end the children in the right order
            )

    def check(self) -> None:
        """Raise `ChildDied`, with the last lines of its log, if any child has ended."""
        for name, process in self._running.items():
            if process.returncode is not None:
                tail = "\n".join((self._logs / f"{name}.log").read_text(errors="replace").splitlines()[-8:])
                raise ChildDied(
                    f"The {name} process ended with code {process.returncode}. The end of {self._logs / f'{name}.log'}:\n{tail}"
                )

    async def watch(self) -> None:
        """Return never; raise `ChildDied` as soon as one has ended."""
        while True:
            self.check()
            await asyncio.sleep(0.3)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask a child to stop; after the grace time, stop it and whatever it started."""
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
