"""Parses each file once for a piece of work that reads the same code several times, such as writing one change back."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from gateway.terraform.lang.hcl import Document, parse

Kept = dict[tuple[Path, bytes], Document]
_KEPT: ContextVar[Kept | None] = ContextVar("documents that were parsed", default=None)


@contextmanager
def parsed_once() -> Iterator[None]:
    """Until the block ends, a file is parsed only once, in all tasks and threads that the block starts.

    Documents are kept by name and bytes and never change, so a file with other bytes is another document.
    """
    token = _KEPT.set({}) if _KEPT.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _KEPT.reset(token)


def parsed(path: Path, source: bytes) -> Document:
    """The document of a file. Raises `CodeInvalid`."""
    kept = _KEPT.get()
    if kept is None:
        return parse(path, source)
    found = kept.get((path, source))
    if found is None:
        found = kept[path, source] = parse(path, source)
    return found
