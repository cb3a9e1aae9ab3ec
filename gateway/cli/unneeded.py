"""Packages that libraries import because they are installed, and that a gateway has no use for: they take its memory and its start longer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OLD_PYDANTIC: Final = "pydantic.v1"
"""FastAPI imports it to ask of each type whether it is one of the old pydantic's, and goes on without it. A gateway has no such type: 1.6 MB, 30 ms."""
DRAWING: Final = "rich"
"""structlog imports it for tracebacks on a terminal: 4 MB, 0.1 s."""


@contextmanager
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
