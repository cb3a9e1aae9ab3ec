"""Runs of a module's `main`, each in a process of its own that is forked from one that has imported the module, so that it starts at once."""

import asyncio
import gc
import importlib
import json
import os
import select
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import IO, Self

ROOT = Path(__file__).parents[2]
_SECONDS = 1_800
"""How long a run may take: on a busy machine many write-backs take minutes."""


class ForkServer:
    """The process that forks, one run after another. A run can be killed as any process can, without an effect on the next."""

    def __init__(self, module: str) -> None:
        """`main` of the module is a coroutine function. Its arguments are JSON. If the module has `warm`, that runs once before all."""
        command = [sys.executable, "-m", "tests.kit.fork_server", module]
        self._server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _pipe(self._server.stdin).close()
        self._server.wait(300)
        _pipe(self._server.stdout).close()

    def run(self, *arguments: object) -> int:
        """Run it to its end. Returns the exit code, or the signal that killed it as a negative number."""
        asked, told = _pipe(self._server.stdin), _pipe(self._server.stdout)
        asked.write(json.dumps(arguments) + "\n")
        asked.flush()
        assert select.select([told], [], [], _SECONDS)[0], f"{arguments} did not end"
        return int(told.readline())


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _serve(module: ModuleType) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a run prints is no answer
    if warm := getattr(module, "warm", None):
        asyncio.run(warm())
    gc.disable()
    gc.freeze()  # what is there stays, and the runs share its memory
    for line in sys.stdin:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
        else:
            os._exit(_ended(module, line))


def _ended(module: ModuleType, line: str) -> int:
    """The exit code of a run that nobody killed."""
    try:
        asyncio.run(module.main(*json.loads(line)))
    except BaseException:  # noqa: BLE001  whatever it is, the run has failed
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    _serve(importlib.import_module(sys.argv[1]))
