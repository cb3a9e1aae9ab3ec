"""Processes for the system tests, ended with the test."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.stores import postgres, postgres_url, store_url
from tests.kit.up import Up

__all__ = ["postgres", "postgres_url", "store_url"]


@pytest.fixture
def an_up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    """Creates `sentinel up` processes that are ended after the test, also if it fails."""
    made: list[Up] = []

    def make(name: str = "a home") -> Up:
        made.append(Up(home=tmp_path / name))
        return made[-1]

    yield make
    for up in made:
        if up.process is not None and up.process.poll() is None:
            up.signal(signal.SIGTERM)
