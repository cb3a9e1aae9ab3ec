"""A gateway with something on every page, and one browser for all tests of a file."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.site import busy_gate
from tests.kit.chromium import a_browser
from tests.kit.gate import Gate


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser."""
    with a_browser() as running:
        yield running


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose pages all have something to show."""
    with busy_gate(tmp_path_factory.mktemp("busy")) as gate:
        yield gate
