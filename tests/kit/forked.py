"""`python -m` for what needs a gateway, forked from a process that has run one before: that takes a tenth of the processor time of a new interpreter."""

import asyncio
import contextlib
import gc
import json
import logging
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from tests.kit.up import ROOT

if TYPE_CHECKING:
    import wasmtime

_LONGEST: Final = 1 << 17
"""Bytes of a command with its environment."""
_STOPPED: Final = b"stopped"


class Forked:
    """One process, with what tests need of `subprocess.Popen`. Its parent is not this process, and tells what becomes of it."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.pid = int(told.recv(64))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code if it has ended, negative for a signal."""
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, seconds: float | None = None) -> int:
        """Wait for its end. Raises `TimeoutError`."""
        while self.returncode is None:
            self._listen(seconds)
        return self.returncode

    def wait_until_stopped(self) -> None:
        """Wait until it has stopped itself with SIGSTOP."""
        assert self._listen(None) == _STOPPED, f"it ended with {self.returncode}"

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """`kill -9`."""
        self.send_signal(signal.SIGKILL)

    def _listen(self, seconds: float | None) -> bytes:
        self._told.settimeout(seconds)
        try:
            said = self._told.recv(64)
        except BlockingIOError as error:
            raise TimeoutError from error
        if said != _STOPPED:
            self._told.close()
            self.returncode = int(said)
        return said


def python_m(
    module: str,
    *arguments: str,
    environment: Mapping[str, str],
    directory: Path = ROOT,
    output: IO[Any] | None = None,
    errors: IO[Any] | None = None,
) -> Forked:
    """Start `python -m module arguments`. `output` and `errors` are where it prints; None: where this process does."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        wanted = json.dumps([module, arguments, dict(environment), str(directory)]).encode()
        assert len(wanted) < _LONGEST
        streams = [1 if output is None else output.fileno(), 2 if errors is None else errors.fileno()]
        socket.send_fds(_template(), [wanted], [its.fileno(), *streams])
    return Forked(mine)


def ran(
    module: str, *arguments: str, environment: Mapping[str, str], directory: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """What `python -m module arguments` printed, and its exit code."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = python_m(
            module, *arguments, environment=environment, directory=directory, output=output, errors=errors
        )
        code = process.wait()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output.read().decode(), errors.read().decode())


_templates: Final[list[tuple[socket.socket, "subprocess.Popen[bytes]"]]] = []
"""What asks for processes, and the process that forks them; at most one."""


def _template() -> socket.socket:
    if not _templates:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            command = [sys.executable, "-m", __name__, str(its.fileno())]
            _templates.append((mine, subprocess.Popen(command, cwd=ROOT, pass_fds=[its.fileno()])))
    return _templates[0][0]


def end_template() -> None:
    """End the process that the others are forked from. It waits a while for these, so that their time counts as that of its child."""
    while _templates:
        asked, process = _templates.pop()
        asked.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
        process.wait()


# In the process that forks ---------------------------------------------------------------------------------------------


def _serve(asked: socket.socket) -> None:
    _warm()
    gc.disable()
    gc.freeze()  # what is there stays, and all that are forked share its memory
    while True:
        wanted, descriptors, _, _ = socket.recv_fds(asked, _LONGEST, 3)
        if not wanted:
            break
        if os.fork() == 0:
            asked.close()
            _watch(wanted, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _watch(wanted: bytes, told: int, output: int, errors: int) -> None:
    """Fork it, and tell its id, that it has stopped, and how it ended."""
    if (process := os.fork()) == 0:
        os.close(told)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        os._exit(_ended(*json.loads(wanted)))
    for stream in {1, 2, output, errors}:
        os.close(stream)
    os.write(told, str(process).encode())
    while os.WIFSTOPPED(status := os.waitpid(process, os.WUNTRACED)[1]):
        os.write(told, _STOPPED)
    with contextlib.suppress(OSError):  # nobody waits for it any more
        os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _ended(module: str, arguments: list[str], environment: dict[str, str], directory: str) -> int:
    """The exit code of a module that runs as `python -m` runs it."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    sys.path[:0] = [directory, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [module, *arguments]
    gc.enable()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001  whatever it is, the process has failed
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _warm() -> None:
    """Run a gateway and the command that serves it: what they import and read stays in memory."""
    import psycopg  # noqa: F401, PLC0415  a ledger in PostgreSQL needs it
    import structlog  # noqa: PLC0415
    import uvicorn  # noqa: F401, PLC0415
    import uvloop  # noqa: F401, PLC0415

    import gateway.cli.serve  # noqa: F401, PLC0415
    from gateway.cli import resident_memory  # noqa: PLC0415
    from gateway.policy import embedded  # noqa: PLC0415
    from tests.kit.policy_code import compiled_once  # noqa: PLC0415

    resident_memory.use_huge_pages = int  # what a fork moves it has for itself alone, and here all of it is shared
    embedded.new_engine = new_engine
    embedded.compiled = compiled_once
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_asked_once(Path(directory)))
    structlog.reset_defaults()


def new_engine() -> "wasmtime.Engine":
    """An engine that compiles in the calling thread: a process that was forked has none of the threads of the pool that it would use otherwise."""
    import wasmtime  # noqa: PLC0415

    config = wasmtime.Config()
    config.epoch_interruption = True
    config.parallel_compilation = False
    return wasmtime.Engine(config)


async def _asked_once(directory: Path) -> None:
    import httpx  # noqa: PLC0415

    from gateway.app.running import running  # noqa: PLC0415
    from gateway.core.settings import Settings, StackSettings, UpstreamSettings  # noqa: PLC0415
    from tests.kit.gate import STACK  # noqa: PLC0415

    settings = Settings(
        data=directory,
        upstream=UpstreamSettings(simulated="http://127.0.0.1:1"),
        stacks=(StackSettings(name="kafka", path=STACK),),
    )
    async with running(settings) as app:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert (await client.get("/readyz")).status_code == httpx.codes.OK
            assert (await client.post("/v1/mutations", json={})).status_code == httpx.codes.UNAUTHORIZED


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
