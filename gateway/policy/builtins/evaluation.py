"""What a built-in function may know of the evaluation that calls it, and how much it may use: the decision's clock, its chance, its limits."""

import hashlib
import time
from collections.abc import Sized
from dataclasses import dataclass
from typing import Final, TypeVar

LARGEST_VALUE: Final = 1 << 20
"""Characters of one argument or result of a built-in, in OPA's notation."""
MOST_STEPS: Final = 1_000_000
"""Steps that the built-ins of one evaluation take together: an address of a range, an operation of a patch, a node of a path …"""
_CHECKED_EVERY: Final = 64
_Text = TypeVar("_Text", bound=Sized)


class BuiltinError(ValueError):
    """The arguments are not what the function is for. The call is undefined, as in OPA."""


class TooMuch(Exception):
    """A built-in would need more time or memory than an evaluation may use, or cannot answer as OPA does. The evaluation ends, which is a denial."""


class OutOfTime(TooMuch):
    """The deadline of the evaluation passed within a built-in."""


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """One evaluation of the policies. Its answers are functions of its document, so a decision that is replayed gives itself."""

    document: bytes
    """The input, as JSON."""
    now_ns: int | None
    """The clock of the decision, nanoseconds since 1970 (UTC); None if the question has none."""
    deadline: float
    """`time.thread_time()` at which the evaluation must have ended."""
    _steps: int = 0

    def step(self, count: int = 1) -> None:
        """Account for work. Raises `OutOfTime` after the deadline, and `TooMuch` after too many steps."""
        before, self._steps = self._steps // _CHECKED_EVERY, self._steps + count
        if self._steps > MOST_STEPS:
            raise TooMuch(f"built-in functions took more than {MOST_STEPS} steps")
        if self._steps // _CHECKED_EVERY != before:
            self.check_time()

    def check_time(self) -> None:
        """Raise `OutOfTime` after the deadline."""
        if time.thread_time() > self.deadline:
            raise OutOfTime("the deadline passed within a built-in function")

    def clock(self) -> int:
        """The time of the decision. Raises `TooMuch` for a question that has none: the clock of the machine would not be replayed."""
        if self.now_ns is None:
            raise TooMuch("time.now_ns: this question has no `now_ns`, and policies have no other clock")
        return self.now_ns

    def chance(self, purpose: str) -> bytes:
        """32 bytes that only the document and the purpose determine, for functions that are random in OPA."""
        return hashlib.sha256(purpose.encode(errors="surrogateescape") + b"\0" + self.document).digest()


def limited(value: _Text) -> _Text:
    """The value. Raises `TooMuch` if it is longer than a built-in may return."""
    if len(value) > LARGEST_VALUE:
        raise TooMuch(f"a built-in function would return more than {LARGEST_VALUE} characters")
    return value
