"""Blames what is left open on the test that left it: `python -m pytest -p tests.tools.leaks …` collects garbage after each test.

Python warns of an open socket, pipe, cursor or event loop when it is collected, which without this plugin is in whatever test runs then.
"""

import gc
from collections.abc import Iterator

import pytest
from _pytest.unraisableexception import collect_unraisable


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Collect what the test and its fixtures left, and fail its end with the warnings."""
    yield
    gc.collect()
    collect_unraisable(item.config)
