"""A process of its own for the exports' suite: it exports `URL` to `DIRECTORY` and is killed at the `COUNT`th time it comes to `POINT`."""

import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.core.settings.exports import ExportFormatName
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


def _main(url: str, directory: Path, point: str, count: int) -> None:
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
    exported = exporter_of(url, directory)
    while exported.step():
        pass


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
