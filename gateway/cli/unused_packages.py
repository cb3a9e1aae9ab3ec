"""Imports without packages that libraries take along because they are installed, and that a process has no use for."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Final

DRAWING: Final = "rich"
"""structlog imports it, and Pygments with it, for tracebacks on a terminal: 4 MB, 0.06 s. A traceback in a log line of ours is text."""


@contextlib.contextmanager
def without(*packages: str) -> Iterator[None]:
    """In the block, imports of these packages or modules fail as if they were not installed. What is imported already stays."""
    hidden = [name for name in packages if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what Python says an import fails by
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
