"""`sentinel serve`: the gateway in the foreground."""

import gc
import logging
from pathlib import Path
from typing import Annotated

import structlog
import typer

from gateway.cli.output import error_console, safe
from gateway.cli.settings import settings_or_exit
from gateway.errors import SentinelError
from gateway.settings import Settings


def serve(
    *,
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings file. Default: sentinel.toml in this directory.")
    ] = None,
) -> None:
    """Run the gateway in the foreground until it is stopped. It does not start without valid contracts, policies and a ledger."""
    settings = settings_or_exit(config)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    import uvloop

    try:
        uvloop.run(_serve(settings))
    except SentinelError as error:
        error_console.print(f"[red]Sentinel does not start. {safe(str(error))}[/red]")
        raise typer.Exit(1) from error


async def _serve(settings: Settings) -> None:
    import uvicorn

    from gateway.app import running
    from gateway.doors.timeouts import TimeoutProtocol

    async with running(settings) as app:
        # Objects that live as long as the gateway are excluded from later garbage collections.
        gc.collect()
        gc.freeze()
        config = uvicorn.Config(
            app,
            host=settings.server.host,
            port=settings.server.port,
            http=TimeoutProtocol,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the peer is the one that connects; a header such as X-Forwarded-For proves nothing
            lifespan="off",
            timeout_graceful_shutdown=20,
        )
        await uvicorn.Server(config).serve()
