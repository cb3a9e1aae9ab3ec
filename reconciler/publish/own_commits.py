"""The list of the commits that we made, kept in our own directory, where nobody with write access to the repository can write."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCommits:
    """A file with one commit id on each line. A commit is listed before the branch points to it, so a killed run loses none."""

    path: Path

    def all(self) -> frozenset[str]:
        """Every listed commit."""
        try:
            return frozenset(self.path.read_text().split())
        except FileNotFoundError:
            return frozenset()

    def add(self, commit: str) -> None:
        """List a commit; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            # A killed run may have left half a line.
            file.write(f"\n{commit}\n")
            file.flush()
            os.fsync(file.fileno())
