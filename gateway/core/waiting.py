"""Says on a text stream what a program waits for, every few seconds, so that no wait is silent."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from gateway.core.texts import visible

EVERY: Final = 4.0
"""Seconds until the first word, and from one to the next."""
_WIDEST: Final = 160
_WIPE: Final = "\r\x1b[2K"
"""What takes the last word off a terminal's line."""


@contextmanager
def waiting(
    what: str, stream: TextIO | None = None, *, now: Callable[[], str] = lambda: "", every: float = EVERY
) -> Iterator[None]:
    """Write `what`, the seconds so far and `now()` to the stream while the block runs: on a terminal over one line, else as lines.

    The stream is standard error by default. The words come from a thread: they also come while the block keeps its own busy.
    """
    told = stream or sys.stderr
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, told, now, every, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(what: str, stream: TextIO, now: Callable[[], str], every: float, ended: threading.Event) -> None:
    started, on_terminal, said = time.monotonic(), stream.isatty(), False
    while not ended.wait(every):
        seconds = time.monotonic() - started
        more = visible(now())
        line = f"{what}: {seconds:.0f} s so far{f'; {more}' if more else ''}"[:_WIDEST]
        stream.write(f"{_WIPE}{line}" if on_terminal else f"{line}\n")
        stream.flush()
        said = True
    if said and on_terminal:
        stream.write(_WIPE)
        stream.flush()
