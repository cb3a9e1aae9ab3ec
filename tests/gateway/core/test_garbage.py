"""A process that looks for garbage seldom still finds it."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from gateway.core.garbage import collect_seldom

pytestmark = pytest.mark.slow


@pytest.fixture
def collections() -> Iterator[None]:
    """As they were."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


class Cycle:
    """Refers to itself."""

    def __init__(self) -> None:
        self.own = self


@pytest.mark.usefixtures("collections")
def test_what_is_there_is_not_looked_at_and_what_comes_later_is() -> None:
    collect_seldom()
    assert gc.get_freeze_count() > 0
    later = weakref.ref(Cycle())
    kept = [[] for _ in range(gc.get_threshold()[0] + 1_000)]  # type: list[list[int]]
    assert later() is None
    assert kept
