"""A process of its own for the exports' suite: it exports to a directory and is killed at a point."""

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.core.model.export_format import ExportFormatName
from gateway.exports import destination, exporter
from gateway.exports.exporter import Exporter
from gateway.ledger.ask.exports import move_export
from gateway.ledger.store.database import open_store
from tests.kit.stores import KEYS

MOST = 30
"""Records of a range: a history has several."""


def exporter_of(url: str, directory: Path) -> Exporter:
    """The export under test."""
    return Exporter(
        store=open_store(url),
        key=KEYS.chain,
        format=ExportFormatName.OCSF,
        destination=destination.DirectoryDestination(directory),
        now=lambda: datetime.now(UTC),
        most=MOST,
    )


def _killed(work: Callable[..., Any], count: int, *, before: bool) -> Callable[..., Any]:
    """The same, killed before or after the `count`th call."""
    calls = 0

    def call(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = work(*given, **named)
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


async def main(url: str, directory: str, point: str, count: int) -> None:
    """Export the ledger at `url` to the directory; the `count`th time it comes to `point`, it is killed."""
    match point:
        case "writing":
            os.fsync = _killed(os.fsync, count, before=True)
        case "written":
            write = destination.DirectoryDestination.write
            destination.DirectoryDestination.write = _killed(write, count, before=False)  # type: ignore[method-assign]  # to die there
        case "moving":
            vars(exporter)["move_export"] = _killed(move_export, count, before=False)
        case "moved":
            change = Exporter._change
            Exporter._change = _killed(change, count, before=False)  # type: ignore[method-assign]  # to die there
    exported = exporter_of(url, Path(directory))
    while exported.step():
        pass
