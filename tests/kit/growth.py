"""Counts the work of a call, and how often code is parsed, so that a test can say how a cost grows without measuring time."""

import gc
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

from gateway.terraform.config import source
from gateway.terraform.lang.hcl import Document, parse

T = TypeVar("T")
LINEAR = 2.3
"""How much more work twice the input may cost: 2 for a linear cost, with room for what does not grow evenly."""


def work(call: Callable[[], object]) -> int:
    """How many lines of Python run in `call`, calls of C functions included as one each.

    What happens inside a C function is not seen: a membership test on a list, or a backtracking regular expression, counts once.
    """
    count = 0

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def profile(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "c_call"

    before_trace, before_profile = sys.gettrace(), sys.getprofile()
    collects = gc.isenabled()
    gc.disable()  # what other tests left behind is not finalized here, where it would be counted
    sys.settrace(line)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(before_profile)
        sys.settrace(before_trace)
        if collects:
            gc.enable()
    return count


def assert_linear(make: Callable[[int], Callable[[], object]], size: int, *, limit: float = LINEAR) -> None:
    """Assert that twice the input costs about twice the work, twice in a row. `make(n)` gives the call over an input of size n."""
    for call in (make(size), make(2 * size), make(4 * size)):
        call()  # caches are filled before anything is counted
    small, medium, large = (work(make(size * factor)) for factor in (1, 2, 4))
    assert medium <= limit * small, f"{size} → {2 * size}: {small} → {medium} lines"
    assert large <= limit * medium, f"{2 * size} → {4 * size}: {medium} → {large} lines"


def finish(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, so that its lines run where they are counted."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    message = "the coroutine waited for something"
    raise AssertionError(message)


def count_parses(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each file was parsed as code was read, from now on."""
    found: Counter[Path] = Counter()

    def counted(path: Path, source: bytes) -> Document:
        found[path] += 1
        return parse(path, source)

    monkeypatch.setattr(source, "parse", counted)
    return found
