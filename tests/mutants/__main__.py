"""Test the tests: `python -m tests.mutants [NUMBER …] [--copy DIR]` plants each bug in a copy of the repository and runs the tests that should see it.

Prints a line a bug and how many of all were caught; exits with 1 if one was not. Before, the same tests must pass in the copy as it is.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
_SHARED: Final = (".venv", ".tools")
_FAILED: Final = 1
"""Exit code of pytest if tests failed; any other says that they did not run."""
_SECONDS: Final = 1_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted bug."""

    path: Path

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.path.name[:2])

    @property
    def what(self) -> str:
        """What it does, as a sentence."""
        return self.path.read_text().partition("\n")[0]

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that should catch it."""
        return tuple(re.findall(r"^Caught by: (\S+)$", self.path.read_text(), re.MULTILINE))


def mutants() -> tuple[Mutant, ...]:
    """All of them, in order."""
    return tuple(Mutant(path=path) for path in sorted(HERE.glob("[0-9]*.patch")))


def main() -> int:
    """Plant the bugs; 1 if one was not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", type=int, nargs="*")
    arguments = parser.parse_args()
    chosen = [each for each in mutants() if not arguments.numbers or each.number in arguments.numbers]
    with tempfile.TemporaryDirectory(prefix="sentinel-mutants-") as directory:
        copy = copy_to(Path(directory) / "copy")
        named = list(dict.fromkeys(test for each in chosen for test in each.tests))
        code, told = _pytest(copy, named)
        if code:
            print(f"The tests fail without a planted bug, so they prove nothing:\n{told}")
            return 1
        caught = sum(_is_caught(copy, each) for each in chosen)
    print(f"{caught} of {len(chosen)} caught")
    return int(caught != len(chosen))


def copy_to(directory: Path) -> Path:
    """The files of the repository as they are here, in a repository of its own; tools and packages are shared."""
    directory.mkdir(parents=True)
    listed = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, directory / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for name in _SHARED:
        if (ROOT / name).exists() and not (directory / name).exists():
            (directory / name).symlink_to((ROOT / name).resolve())
    _git(directory, "init", "--quiet")
    return directory


def _is_caught(copy: Path, mutant: Mutant) -> bool:
    _git(copy, "apply", str(mutant.path))
    try:
        code, told = _pytest(copy, mutant.tests)
    finally:
        _git(copy, "apply", "--reverse", str(mutant.path))
    seen = re.search(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)
    caught = code == _FAILED and seen is not None
    print(
        f"{mutant.number:>2} {'caught' if caught else 'NOT CAUGHT'}  {mutant.what}  {seen[1] if seen else f'exit {code}'}",
        flush=True,
    )
    return caught


def _pytest(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Exit code and output of the tests, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, check=False, capture_output=True, text=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return _FAILED, f"FAILED {' '.join(tests)} (no end in {_SECONDS} seconds)"
    return done.returncode, done.stdout[-4_000:] + done.stderr[-2_000:]


def _git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
