"""The reconciler's notices in a process of its own (see `tests.kit.fork_server`) that kills itself at one point: reading, sending, sent, recorded; or `never`."""

import asyncio
import base64
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from gateway.core.settings import Settings
from gateway.core.settings.notices import WebhookSettings
from gateway.core.times import SystemClock
from gateway.ledger import ledger
from gateway.ledger.sealed_ledger import open_sealed_ledger
from reconciler.app import workflows_database
from reconciler.notify.delivery import ReceiverWorker, open_workers
from reconciler.workflows import durable
from tests.kit.stores import open_copied_store

NO_SECRET = "whsec_" + base64.b64encode(b"n" * 32).decode()

POINTS = {
    "reading": ("read_on", True),
    "sending": ("send", False),
    "sent": ("send", True),
    "recording": ("record", False),
    "recorded": ("record", True),
}
"""Where the process can die: the method, and whether after its work."""


_MOST_ROUNDS = 1_000


def _dying(method: Callable[..., Awaitable[Any]], *, after: bool) -> Callable[..., Awaitable[Any]]:
    async def die(*arguments: Any) -> Any:
        if after:
            await method(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


async def warm() -> None:
    """Deliver nothing, once: what is imported for that is in the memory that every run is forked from, and a new ledger is a copy."""
    vars(ledger)["open_store"] = open_copied_store
    create_engine("postgresql+psycopg://").dispose()
    with tempfile.TemporaryDirectory() as directory:
        await main("", directory, "http://127.0.0.1:1", NO_SECRET, "never")


async def main(store: str, data: str, url: str, secret: str, dies: str) -> None:
    """Deliver until nothing is open, or die; at the latest end after many rounds."""
    if dies in POINTS:
        name, after = POINTS[dies]
        setattr(ReceiverWorker, name, _dying(getattr(ReceiverWorker, name), after=after))
    hook = WebhookSettings.model_validate(
        {
            "name": "ops",
            "url": url,
            "secret": secret,
            "private_addresses": ["127.0.0.0/8"],
            "retry_seconds": [0] * 20,
            "timeout_seconds": 60,
        }
    )
    settings = Settings(data=Path(data), ledger=store, webhooks=(hook,))
    async with open_sealed_ledger(settings) as opened:
        receivers = open_workers(settings, opened, SystemClock())
        database = workflows_database(settings)
        async with durable(
            {}, database=database, key=b"a key for tests", poll_seconds=0.05, receivers=receivers
        ) as runner:
            await runner.notices._finish_earlier()
            for _ in range(_MOST_ROUNDS):
                if not await receivers["ops"].run_once(runner.notices):
                    return
                await asyncio.sleep(0)
