"""The stores of the crash tests, and what all of their processes are forked from."""

from collections.abc import Iterator

import pytest

from tests.chaos.world import forks
from tests.kit.fork_server import ForkServer
from tests.kit.stores import postgres

__all__ = ["postgres"]


@pytest.fixture(scope="session")
def servers() -> Iterator[ForkServer]:
    """What all processes are forked from."""
    with forks() as started:
        yield started
