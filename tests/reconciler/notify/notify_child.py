"""The reconciler's notices in a process of its own (see `tests.kit.forks`) that kills itself at one point: reading, sending, sent, recorded; or `never`."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gateway.clock import SystemClock
from gateway.keyring.sealed_ledger import open_sealed_ledger
from gateway.settings import Settings
from gateway.settings_notices import WebhookSettings
from reconciler.notify.delivering import Delivering
from reconciler.notify.opened import open_receivers
from reconciler.workflows import durable

POINTS = {
    "reading": ("read_on", True),
    "sending": ("send", False),
    "sent": ("send", True),
    "recording": ("record", False),
    "recorded": ("record", True),
}
"""Where the process can die: the method, and whether after its work."""


def _dying(method: Callable[..., Awaitable[Any]], *, after: bool) -> Callable[..., Awaitable[Any]]:
    async def die(*arguments: Any) -> Any:
        if after:
            await method(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


async def main(data: str, url: str, secret: str, dies: str, most: int) -> None:
    """Deliver until nothing is open, or die; at the latest end after so many rounds."""
    if dies in POINTS:
        name, after = POINTS[dies]
        setattr(Delivering, name, _dying(getattr(Delivering, name), after=after))
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
    settings = Settings(data=Path(data), webhooks=(hook,))
    async with open_sealed_ledger(settings) as ledger:
        receivers = open_receivers(settings, ledger, SystemClock())
        database = f"sqlite:///{Path(data) / 'workflows.db'}"
        async with durable({}, database=database, poll_seconds=0.05, receivers=receivers) as runner:
            await runner.notices._finish_earlier()
            for _ in range(most):
                if not await receivers["ops"].run_once(runner.notices):
                    return
                await asyncio.sleep(0)
