"""`sentinel serve` in a process of its own that kills itself at one point of a mutation: decided, sending, sent or settled."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.__main__ import app
from gateway.aws.client.mutations import Aws
from gateway.ledger.ledger import SqlLedger

POINTS: dict[str, tuple[type, str, bool]] = {
    "deciding": (SqlLedger, "record_decision", False),
    "decided": (SqlLedger, "record_decision", True),
    "sending": (Aws, "send", False),
    "sent": (Aws, "send", True),
    "settling": (SqlLedger, "record_outcome", False),
    "settled": (SqlLedger, "record_outcome", True),
}
"""What is patched, and whether the process dies after it or before it."""


def _dying(method: Callable[..., Awaitable[Any]], *, after: bool) -> Callable[..., Awaitable[Any]]:
    async def die(*arguments: Any, **named: Any) -> None:
        if after:
            await method(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


if __name__ == "__main__":
    owner, name, after = POINTS[sys.argv[1]]
    setattr(owner, name, _dying(getattr(owner, name), after=after))
    app(["serve"])
