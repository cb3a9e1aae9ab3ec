"""Several gateways behind one socket: `sentinel serve --workers N` starts them, replaces one that dies, and ends all when it is told to stop."""

import asyncio
import signal
import socket
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Final

import structlog

from gateway.cli.places import Places

_AGAIN_SECONDS: Final = 1.0
"""How soon a worker that died is replaced."""
_REFUSED: Final = 1
"""Exit code of a gateway that does not start."""

log = structlog.get_logger()


async def run_workers(count: int, *, config: Path | None, listener: socket.socket) -> int:
    """Run so many gateways on one bound socket and one ledger until this process is told to stop; the exit code.

    Each is a gateway of its own to the ledger: it has a lease, so what one that died left is in doubt soon, and the others go on. If one
    says that it does not start, all end: with the same settings none would.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    places = Places.of(count)
    codes = await asyncio.gather(*(_keep(number, places, config, listener, stopping) for number in range(count)))
    return max(codes)


async def _keep(
    number: int, places: Places, config: Path | None, listener: socket.socket, stopping: asyncio.Event
) -> int:
    """Run one worker, again whenever it dies, until all are to stop."""
    while True:
        process = await _start(number, places, config, listener)
        log.info("worker_started", worker=number, process=process.pid)
        code = await _ended(process, stopping)
        places.leave(number)
        if stopping.is_set():
            return max(code, 0)
        if code == _REFUSED:
            stopping.set()
            return code
        log.error("worker_ended", worker=number, process=process.pid, code=code, again_in_seconds=_AGAIN_SECONDS)
        try:
            await asyncio.wait_for(stopping.wait(), _AGAIN_SECONDS)
        except TimeoutError:
            continue
        return 0


async def _start(number: int, places: Places, config: Path | None, listener: socket.socket) -> Process:
    named = ("--config", str(config)) if config is not None else ()
    shared = listener.fileno(), places.descriptor
    place = f"{places.descriptor}:{number}"
    command = (sys.executable, "-P", "-m", "gateway", "serve", "--fd", str(shared[0]), "--place", place, *named)
    return await asyncio.create_subprocess_exec(*command, pass_fds=shared)


async def _ended(process: Process, stopping: asyncio.Event) -> int:
    """The exit code of a worker, which is told to stop when all are."""
    waiting = asyncio.ensure_future(process.wait())
    told = asyncio.ensure_future(stopping.wait())
    await asyncio.wait({waiting, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    return await waiting
