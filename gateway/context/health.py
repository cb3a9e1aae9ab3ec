"""`data_health`: how fresh an answer is and which of its sources could be read, so that empty is never mistaken for not read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from gateway.core.model.json import to_json


class ReadStatus(StrEnum):
    """Whether a source was read for an answer."""

    OK = "ok"
    NOT_READ = "not_read"
    """It was not asked for, or a limit kept it from being read."""
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    """Sentinel cannot read it for a resource like this."""
    NOT_SHOWN = "not_shown"
    """The caller may not see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """One source of an answer."""

    name: str
    """code, state, ledger, live, signals or drift."""
    status: ReadStatus = ReadStatus.OK
    error: str = ""
    """Why it was not read, or what is wrong with what was read, as a sentence; empty if nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataHealth:
    """How fresh an answer is. Every answer has every member."""

    read_at: datetime
    sources: Sequence[DataSource]
    code_revision: str = ""
    """Digest of code, contracts and state of the stack, or of all stacks."""
    state_serial: int | None = None
    """Serial of the stack's state; None if the answer is about several stacks."""
    age_seconds: float | None = None
    """Age of the live values; None if none were read."""
    max_age_seconds: float | None = None
    """The age that was asked for; None if the caller asked for none."""
    refresh_with: str = ""
    """The request that reads again what is old or was not read; empty if there is none."""

    def to_json(self) -> dict[str, Any]:
        """Every member, always; `within_requested_age` is null if no age was asked for."""
        within = None
        if self.max_age_seconds is not None:
            within = self.age_seconds is not None and self.age_seconds <= self.max_age_seconds
        return {
            "read_at": to_json(self.read_at),
            "age_seconds": self.age_seconds,
            "within_requested_age": within,
            "code_revision": self.code_revision,
            "state_serial": self.state_serial,
            "sources": [{"name": each.name, "status": each.status.value, "error": each.error} for each in self.sources],
            "refresh_with": self.refresh_with,
        }
