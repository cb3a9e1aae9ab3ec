"""What the browser tests need is there: without it they fail, they are not skipped."""

import subprocess
from collections.abc import Sequence

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


@pytest.mark.parametrize("whole", [True, False])
def test_where_the_system_has_no_package_of_the_shell_a_whole_chromium_does(
    monkeypatch: pytest.MonkeyPatch, *, whole: bool
) -> None:
    asked: list[str] = []
    there = {"chromium"} if whole else set()

    def install_packages(packages: Sequence[str]) -> None:
        asked.append(packages[0])
        if packages[0] == install.SHELL:
            raise subprocess.CalledProcessError(100, "apt-get")
        there.add(packages[0])

    monkeypatch.setattr(install, "install_packages", install_packages)
    monkeypatch.setattr(install, "may_install_packages", lambda: True)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name in there else None)
    assert install.main() == 0
    assert install.chromium() == "/usr/bin/chromium"
    assert asked == [install.SHELL, *([] if whole else ["chromium"])]
