"""`sentinel serve`: the gateway in the foreground."""

import asyncio
import contextlib
import gc
import json
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli import resident_memory
from gateway.cli.open_files import connections_within
from gateway.cli.own_core import require_own_core, stay_on_own_core
from gateway.cli.places import MOST, Places
from gateway.cli.unused_packages import DRAWING, without
from gateway.core.errors import SentinelError, SettingsInvalid
from gateway.core.exception_text import lossy, without_values

if TYPE_CHECKING:
    from gateway.core.settings import ServerSettings, Settings


UNTAKEN_SECONDS: Final = 60
"""How long a client may take nothing of what was written to it, also where its connection is closed on this side: a short answer that it does not take
would keep a closed connection for ever. What fills the buffers has a limit of its own (`TimeoutProtocol.stalled_seconds`).
"""
_OLD_PYDANTIC: Final = "pydantic.v1"
"""FastAPI imports it to ask of each type whether it is one of the old pydantic's, and goes on without it. A gateway has no such type: 1.6 MB, 30 ms."""


def serve(
    *,
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings file. Default: sentinel.toml in this directory.")
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=MOST, help="Processes that share the port and the ledger.")
    ] = 1,
    listening_on: Annotated[
        int | None, typer.Option("--fd", hidden=True, help="File descriptor of a socket that is bound already.")
    ] = None,
    place: Annotated[
        str,
        typer.Option(
            "--place", hidden=True, help="Of a worker: the descriptor of what all workers share, and its number."
        ),
    ] = "",
) -> None:
    """Run the gateway in the foreground until it is stopped. It does not start without valid contracts, policies and a ledger.

    It logs to standard error: one line at the start, and one for each decision.
    """
    _log_to_stderr()
    from gateway.core.settings import read_settings_of_server

    try:
        settings = read_settings_of_server(config)
        if settings.server.own_core:
            require_own_core()
        listener = listening(settings.server) if listening_on is None else socket.socket(fileno=listening_on)
        if workers > 1:
            from gateway.cli.workers import run_workers

            with listener:
                code = asyncio.run(run_workers(workers, config=config, listener=listener))
            raise typer.Exit(code)
        _run(settings, listener, place)
    except SentinelError as error:
        from gateway.cli.output import error_console, safe

        error_console.print(f"[red]Sentinel does not start. {safe(str(error))}[/red]")
        raise typer.Exit(1) from error


def _log_to_stderr() -> None:
    """Log JSON lines, or readable text on a terminal."""
    on_terminal = sys.stderr.isatty()
    with contextlib.nullcontext() if on_terminal else without(DRAWING):
        import structlog

    encode = json.JSONEncoder(default=repr).encode  # made once, not for each line
    as_json = structlog.processors.JSONRenderer(serializer=lambda event, **_: encode(event))
    renderer: Any = structlog.dev.ConsoleRenderer() if on_terminal else as_json
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            without_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(lossy(sys.stderr)),
        cache_logger_on_first_use=True,
    )


def _run(settings: "Settings", listener: socket.socket, place: str = "") -> None:
    """Raises `errors.SentinelError`."""
    import uvloop

    from gateway.core.off_loop import hand_over_soon

    hand_over_soon()
    # What is imported and opened until it is ready stays: to look among it for garbage takes a tenth of the start.
    gc.disable()
    try:
        with listener, without(_OLD_PYDANTIC):
            uvloop.run(_serve(settings, listener, place))
    finally:
        gc.enable()


def listening(server: "ServerSettings") -> socket.socket:
    """A socket bound to the address of the settings. Raises `errors.SettingsInvalid` if it cannot be."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":
        listener.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNTAKEN_SECONDS * 1000
        )  # its connections inherit it
    try:
        listener.bind((server.host, server.port))
    except OSError as error:
        listener.close()
        raise SettingsInvalid(
            f"It cannot listen on {server.host} port {server.port}: {error.strerror or error}. Choose another with SENTINEL_SERVER__PORT or "
            "`port` in [server], or end the process that uses it."
        ) from error
    return listener


async def _serve(settings: "Settings", listener: socket.socket, place: str) -> None:
    import uvicorn

    from gateway.app.running import running
    from gateway.cli.shared_listener import SharingServer
    from gateway.doors.timeouts import TimeoutProtocol

    async with running(settings) as app:
        resident_memory.forget_start()
        resident_memory.give_back()
        config = uvicorn.Config(
            app,
            http=TimeoutProtocol,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the peer is the one that connects; a header such as X-Forwarded-For proves nothing
            lifespan="off",
            timeout_graceful_shutdown=20,
            limit_concurrency=connections_within(settings.server.max_connections),
        )
        descriptor, _, number = place.partition(":")
        if place and settings.server.own_core:
            stay_on_own_core(int(number))  # what it started with took every core
        server = SharingServer(config, listener, Places(int(descriptor)), int(number)) if place else None
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(asyncio.to_thread(resident_memory.use_huge_pages))  # callers do not wait for it
            await (server.serve() if server else uvicorn.Server(config).serve(sockets=[listener]))
