"""Tools that tests need are installed once each, several at a time: most of the time is waiting for a registry."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOLS = Path(__file__).parents[2] / ".tools"


def install_once(directory: Path, install: Callable[[Path], None]) -> None:
    """Let `install` fill a new directory, which gets its name when it is complete. Nothing happens if it is there already."""
    if directory.exists():
        return
    directory.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=directory.parent))
    install(unfinished)
    try:
        unfinished.rename(directory)
    except OSError:
        shutil.rmtree(unfinished)  # another run was faster


def install_packages(packages: Sequence[str]) -> None:
    """Install packages of Debian. Of several processes one works at a time, as apt asks. Raises `CalledProcessError` with what apt tells on standard error."""
    TOOLS.mkdir(exist_ok=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with (TOOLS / "apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (("update", "-qq"), ("install", "-y", "-qq", "--no-install-recommends", *packages)):
            subprocess.run(("apt-get", *command), check=True, stdout=subprocess.DEVNULL, env=environment)


def may_install_packages() -> bool:
    """Whether this is a Debian that this user may change."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def together(steps: Iterable[Callable[[], None]]) -> None:
    """All steps at once. Raises what the first of them that failed raised, when all have ended."""
    with ThreadPoolExecutor(max_workers=8) as pool:
        for step in [pool.submit(each) for each in steps]:
            step.result()
