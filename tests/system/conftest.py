"""Processes for the system tests, which are ended with the test."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.up import Up


@pytest.fixture
def an_up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    """Makes `sentinel up`s that are ended when the test is over, however it ends."""
    made: list[Up] = []

    def make(name: str = "a home") -> Up:
        made.append(Up(home=tmp_path / name))
        return made[-1]

    yield make
    for up in made:
        if up.process is not None and up.process.poll() is None:
            up.signal(signal.SIGTERM)
