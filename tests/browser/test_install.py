"""What the browser tests need is there: without it they fail, they are not skipped."""

import pytest

from tests.browser import install


def test_a_missing_browser_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(install.BrowserMissing, match="make browser"):
        install.chromium()


def test_both_are_installed() -> None:
    assert install.chromium()
    assert install.axe().stat().st_size > 100_000
    assert install.main() == 0
