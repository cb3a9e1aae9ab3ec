"""`sentinel serve`: the gateway in the foreground."""

import gc
import logging
from pathlib import Path
from typing import Annotated

import structlog
import typer

from gateway.cli.output import complaints, safe
from gateway.cli.settings import settings_or_exit
from gateway.errors import SentinelError
from gateway.settings import Settings

Config = Annotated[Path | None, typer.Option("--config", help="Settings file; default sentinel.toml here.")]


def serve(*, config: Config = None) -> None:
    """Run the gateway in the foreground until it is told to stop. It refuses to start without law, policy or ledger, and says why."""
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
        complaints.print(f"[red]Sentinel does not start. {safe(str(error))}[/red]")
        raise typer.Exit(1) from error


async def _serve(settings: Settings) -> None:
    import uvicorn

    from gateway.app import running
    from gateway.doors.timeouts import TimeoutProtocol

    async with running(settings) as app:
        # What lives as long as the gateway is not looked through for garbage again.
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
            proxy_headers=False,  # whoever connects is the peer; a header that says otherwise proves nothing
            lifespan="off",
            timeout_graceful_shutdown=20,
        )
        await uvicorn.Server(config).serve()
