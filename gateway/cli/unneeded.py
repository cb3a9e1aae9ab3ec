"""Packages that libraries import because they are installed, and that a gateway has no use for: they take its memory and its start longer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NEVER: Final = "pydantic.v1"
"""FastAPI imports it to ask of each type whether it is one of the old pydantic's, and goes on without it. A gateway has no such type: 1.6 MB, 30 ms."""


@contextmanager
def without(*packages: str) -> Iterator[None]:
    """In the block, imports of these packages fail as if they were not installed. What is imported already stays."""
    hidden = [name for name in packages if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what Python says an import fails by
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def never_again() -> None:
    """Let the imports of what no part of a gateway needs fail until the process ends."""
    sys.modules.setdefault(_NEVER, None)  # type: ignore[arg-type]  # as above
