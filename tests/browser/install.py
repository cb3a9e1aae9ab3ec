"""Installs what the browser tests need: axe-core from npm into `.tools`, and a Chromium of the system: `python -m tests.browser.install`."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

HERE = Path(__file__).parent
TOOLS = HERE.parent.parent / ".tools"


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
    TOOLS.mkdir(exist_ok=True)
    unfinished = Path(mkdtemp(dir=TOOLS))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, unfinished)
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(command, check=True, cwd=unfinished)
    try:
        unfinished.rename(_directory())
    except OSError:
        shutil.rmtree(unfinished)  # another run was faster


def _install_chromium() -> None:
    if os.geteuid() or not shutil.which("apt-get"):
        return
    subprocess.run(("apt-get", "update", "-qq"), check=True, stdout=subprocess.DEVNULL)
    install = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core")
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)


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
