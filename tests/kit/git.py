"""Git repositories for tests, made with the real git."""

import os
import subprocess
from pathlib import Path

_OPTIONS = (
    *("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"),
    *("-c", "commit.gpgSign=false", "-c", "protocol.file.allow=always"),
)


def git(directory: Path, *arguments: str) -> str:
    """What git prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *_OPTIONS, *arguments], cwd=directory, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(directory: Path, branch: str = "main") -> Path:
    """The directory as a repository, all its files in one commit."""
    git(directory, "init", "--quiet", f"--initial-branch={branch}")
    commit(directory, "first")
    return directory


def commit(directory: Path, message: str = "next") -> str:
    """Commit all files; the commit's id."""
    git(directory, "add", "--all", "--force")
    git(directory, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(directory, "rev-parse", "HEAD")


def clone(source: Path, target: Path) -> Path:
    """A clone, whose `main` follows `origin/main`."""
    git(source.parent, "clone", "--quiet", str(source), str(target))
    return target
