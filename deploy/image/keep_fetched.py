"""Keeps a clone of the Terraform code current beside a gateway: clones it if it is not there, then fetches again and again.

Only commits are fetched; the checked-out files stay as they are. The gateway reads the protected branch from the commits.
"""

import argparse
import signal
import subprocess
import sys
import threading
from pathlib import Path

_SECONDS = 300
"""How long git may take."""


def fetched(repository: str, directory: Path) -> bool:
    """Clone or fetch once; whether that worked. What is there already stays if it did not."""
    there = (directory / ".git").is_dir()
    argv = (
        ["git", "-C", str(directory), "fetch", "--quiet", "--prune", "origin"]
        if there
        else ["git", "clone", "--quiet", "--", repository, str(directory)]
    )
    try:
        done = subprocess.run(
            argv, timeout=_SECONDS, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        sys.stderr.write(
            f"git {'fetch' if there else 'clone'} took longer than {_SECONDS} s. What was there is kept; it is tried again.\n"
        )
        return False
    if done.returncode:
        sys.stderr.write(
            f"git {'fetch' if there else 'clone'} failed. What was there is kept; it is tried again. {done.stderr[-2000:]}\n"
        )
    return done.returncode == 0


def main() -> int:
    """Read the options, and run once or until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--once", action="store_true", help="clone or fetch once; exit code 1 if that fails")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two fetches")
    parser.add_argument("repository", help="URL of the git remote")
    parser.add_argument("directory", type=Path, help="where the clone is")
    given = parser.parse_args()
    if given.once:
        return 0 if fetched(given.repository, given.directory) else 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    while not stop.wait(given.every):
        fetched(given.repository, given.directory)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
