"""A budget of tokens a day, kept in a file, so that a restart does not renew it."""

import json
import os
from dataclasses import dataclass
from datetime import UTC
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
        """Take tokens if that many are left. Returns whether they were."""
        spent = self._spent()
        if spent + tokens > self.a_day:
            return False
        self._write(spent + tokens)
        return True

    def give_back(self, tokens: int) -> None:
        """Correct what was taken by what was not used; a negative number if more was used than taken."""
        self._write(max(0, self._spent() - tokens))

    @property
    def left(self) -> int:
        """Tokens left today."""
        return max(0, self.a_day - self._spent())

    @property
    def _today(self) -> str:
        return self.clock.now().astimezone(UTC).date().isoformat()

    def _spent(self) -> int:
        """Tokens spent today. A file that cannot be read counts as spent: it is ours, so nobody should have touched it."""
        try:
            kept: Any = json.loads(self.file.read_text())
            day, tokens = kept["day"], int(kept["tokens"])
        except FileNotFoundError:
            return 0
        except (OSError, ValueError, KeyError, TypeError):
            return self.a_day
        return tokens if day == self._today else 0

    def _write(self, tokens: int) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.file.with_name(f"{self.file.name}.new")
        temporary.write_text(json.dumps({"day": self._today, "tokens": tokens}))
        os.replace(temporary, self.file)  # noqa: PTH105  atomic on purpose
