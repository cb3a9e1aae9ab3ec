"""Installs what the browser tests need: axe-core from npm into `.tools`, and a Chromium of the system: `python -m tests.browser.install`."""

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from tests.kit.installing import TOOLS, install_once, install_packages, may_install_packages

HERE = Path(__file__).parent


class BrowserMissing(Exception):
    """What the tests need is not there; the text says how to install it."""


def chromium() -> str:
    """The program. Raises `BrowserMissing`."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
    if may_install_packages():
        install_packages(("chromium", "fonts-dejavu-core"))


def main() -> int:
    """Install what is missing. Returns 1 if something still is."""
    steps = ((chromium, _install_chromium), (axe, _install_axe))
    try:
        for found, install in steps:
            try:
                found()
            except BrowserMissing:
                install()
                found()
    except (BrowserMissing, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
