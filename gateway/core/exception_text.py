"""Logs exceptions with their types and their places in the code, without texts that could hold a value.

An unexpected exception often quotes what it failed on, such as a parameter of a call, and pretty tracebacks print local variables. So only
the texts of our own exceptions, which are written for users, and those of the operating system are kept.
"""

import sys
import traceback
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from typing import Any, Final, TextIO, cast

from gateway.core.errors import SentinelError

_MOST_CAUSES: Final = 5
_MOST_FRAMES: Final = 20
"""Of each exception; the innermost are kept."""


class LossyStream:
    """A stream for lines of a log. A line that cannot be written, because the disk is full or nobody reads any more, is dropped: the work that logs it goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write it, or drop it."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered, or drop it."""
        with suppress(OSError):
            self._stream.flush()


def lossy(stream: TextIO) -> TextIO:
    """The stream, for the loggers of structlog."""
    return cast("TextIO", LossyStream(stream))


def without_values(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The log line with `exception`, a text, in place of `exc_info`. A processor of structlog."""
    error = _error_of(event.pop("exc_info", None))
    if error is not None:
        event["exception"] = exception_text(error)
    return event


def exception_text(error: BaseException) -> str:
    """The exception and what caused it, the cause first, each with its place in the code."""
    return "\n".join(line for each in reversed(list(_chain(error))) for line in _lines(each))


def _error_of(given: object) -> BaseException | None:
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        return next((each for each in given if isinstance(each, BaseException)), None)
    return sys.exc_info()[1] if given else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    found: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if found is None:
            return
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def _lines(error: BaseException) -> Iterator[str]:
    yield f"{type(error).__name__}: {_text(error)}".removesuffix(": ")
    for frame in traceback.extract_tb(error.__traceback__, limit=-_MOST_FRAMES):
        yield f"  {frame.filename}:{frame.lineno} in {frame.name}"


def _text(error: BaseException) -> str:
    if isinstance(error, SentinelError):
        return str(error)
    return error.strerror or "" if isinstance(error, OSError) else ""
