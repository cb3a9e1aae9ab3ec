"""Installs what the browser tests need: axe-core from npm into `.tools`, and a Chromium of the system: `python -m tests.browser.install`."""

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.kit.installing import TOOLS, install_once, install_packages, may_install_packages

HERE = Path(__file__).parent

SHELL: Final = "chromium-headless-shell"
"""The same Chromium without what shows windows: the same pages take it half the time of a processor."""
_WHOLE: Final = ("chromium", "chromium-browser", "google-chrome")
_FONTS: Final = "fonts-dejavu-core"


class BrowserMissing(Exception):
    """What the tests need is not there; the text says how to install it."""


def chromium() -> str:
    """The program. Raises `BrowserMissing`."""
    found = next(filter(None, map(shutil.which, (SHELL, *_WHOLE))), None)
    if found is None:
        raise BrowserMissing("Chromium is not on PATH; run `make browser` (on Debian: apt install chromium).")
    return found


def axe() -> Path:
    """The script that checks a page's accessibility. Raises `BrowserMissing`."""
    script = _directory() / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        raise BrowserMissing("axe-core is not installed; run `make browser`.")
    return script


def _directory() -> Path:
    return TOOLS / f"browser-{sha256((HERE / 'package-lock.json').read_bytes()).hexdigest()[:12]}"


def _install_axe() -> None:
    install_once(_directory(), _fetch_axe)


def _fetch_axe(directory: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, directory)
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(command, check=True, cwd=directory)


def _install_chromium() -> None:
    """Where the system has no package of the shell, a whole Chromium does as well."""
    if shutil.which(SHELL) or not may_install_packages():
        return
    try:
        install_packages((SHELL, _FONTS))
    except subprocess.CalledProcessError:
        if not any(map(shutil.which, _WHOLE)):
            install_packages(("chromium", _FONTS))


def main() -> int:
    """Install what is missing. Returns 1 if something still is."""
    try:
        for install, found in ((_install_chromium, chromium), (_install_axe, axe)):
            install()
            found()
    except (BrowserMissing, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
