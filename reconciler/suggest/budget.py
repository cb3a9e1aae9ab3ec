"""A budget of tokens a day, kept in a file, so that a restart does not renew it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import Any

from gateway.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """How many tokens may still be spent today (UTC).

    What a request may cost at most is taken before it is sent, and corrected afterwards: if the process dies in between, the
    most it can have cost stays taken.
    """

    file: Path
    a_day: int
    clock: Clock

    def take(self, tokens: int) -> bool:
        """Take tokens if that many are left. Returns whether they were. Raises `OSError` if the file cannot be written."""
        with self._alone():
            spent = self._spent()
            if tokens < 0 or spent + tokens > self.a_day:
                return False
            self._write(spent + tokens)
            return True

    def give_back(self, tokens: int) -> None:
        """Correct what was taken by what was not used; a negative number if more was used than taken. Raises `OSError`."""
        with self._alone():
            self._write(max(0, self._spent() - tokens))

    @property
    def left(self) -> int:
        """Tokens left today."""
        return max(0, self.a_day - self._spent())

    @property
    def _today(self) -> date:
        return self.clock.now().astimezone(UTC).date()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one process at a time reads and writes the file, so that two runs cannot spend the same tokens."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.file.with_name(f"{self.file.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _spent(self) -> int:
        """Tokens spent today. A file that says anything that we do not write counts as spent, as one of a later day does."""
        try:
            kept: Any = json.loads(self.file.read_text())
            day, tokens = date.fromisoformat(kept["day"]), kept["tokens"]
        except FileNotFoundError:
            return 0
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return self.a_day
        if type(tokens) is not int or tokens < 0 or day > self._today:
            return self.a_day
        return tokens if day == self._today else 0

    def _write(self, tokens: int) -> None:
        temporary = self.file.with_name(f"{self.file.name}.new")
        temporary.write_text(json.dumps({"day": self._today.isoformat(), "tokens": tokens}))
        os.replace(temporary, self.file)  # noqa: PTH105  atomic on purpose
