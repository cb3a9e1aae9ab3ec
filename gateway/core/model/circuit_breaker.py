"""The circuit breaker of an actor: opens after refusals and failures in a row, then lets one call try, and closes when that succeeds."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gateway.core.errors import BreakerOpen
from gateway.core.model.mutation import Mutation
from gateway.core.times import moment_text


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When the breaker of an actor opens, and for how long."""

    in_a_row: int
    open_seconds: int
    within_seconds: int | None = None
    """How long after the first refusal of a row the others count; None: until a success."""


class BreakerState(StrEnum):
    """Whether calls pass."""

    CLOSED = "closed"
    OPEN = "open"
    """No call until a time; the first one after it is the trial."""
    HALF_OPEN = "half_open"
    """One call is being tried; no other until its outcome is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """The breaker of one actor. Every method returns the breaker as it is afterwards."""

    state: BreakerState = BreakerState.CLOSED
    in_a_row: int = 0
    """Refusals and failures since the last success, as far back as they count."""
    until: datetime | None = None
    """While it is open: when the trial may come. While it is closed: when the row that is counted ends, and the next refusal begins another."""
    trial: str = ""
    """While it is half open: the mutation that is tried."""

    def shut(self, at: datetime, mutation: str = "") -> bool:
        """Whether it keeps this call out."""
        match self.state:
            case BreakerState.CLOSED:
                return False
            case BreakerState.OPEN:
                return self.until is not None and at < self.until
            case BreakerState.HALF_OPEN:
                return self.trial != mutation

    def tried_by(self, mutation: str) -> "Breaker":
        """After a call is let through: the trial, if it was open."""
        if self.state is not BreakerState.OPEN:
            return self
        return replace(self, state=BreakerState.HALF_OPEN, until=None, trial=mutation)

    def refused(self, at: datetime, rule: BreakerRule | None) -> "Breaker":
        """After a refusal: one more in a row. One that comes when the trial is due was the trial."""
        counted = self._counted(at, rule)
        if self.state is BreakerState.HALF_OPEN or self.shut(at):
            return counted
        return _opened(counted, at, rule)

    def failed(self, at: datetime, mutation: str, rule: BreakerRule | None) -> "Breaker":
        """After a call failed, or its outcome is not known."""
        counted = self._counted(at, rule)
        if self.state is BreakerState.OPEN or (self.state is BreakerState.HALF_OPEN and self.trial != mutation):
            return counted
        return _opened(counted, at, rule)

    def _counted(self, at: datetime, rule: BreakerRule | None) -> "Breaker":
        """With one refusal or failure more. While it is closed, the first one of a row says how long the row lasts."""
        if self.state is not BreakerState.CLOSED:
            return replace(self, in_a_row=self.in_a_row + 1)
        if rule is None or rule.within_seconds is None:
            return replace(self, in_a_row=self.in_a_row + 1, until=None)
        ends = at + timedelta(seconds=rule.within_seconds)
        if self.until is not None and self.until <= at:
            return replace(self, in_a_row=1, until=ends)
        return replace(self, in_a_row=self.in_a_row + 1, until=self.until or ends)

    @property
    def row_until(self) -> datetime | None:
        """When the row of refusals that is counted ends; None if it does not end by itself."""
        return self.until if self.state is BreakerState.CLOSED else None

    @property
    def open_until(self) -> datetime | None:
        """While it is open: when the trial may come."""
        return self.until if self.state is BreakerState.OPEN else None

    def succeeded(self, mutation: str) -> "Breaker":
        """After a call was applied. While it is not closed, only the trial counts."""
        if self.state is BreakerState.CLOSED or (self.state is BreakerState.HALF_OPEN and self.trial == mutation):
            return Breaker()
        return self


def _opened(breaker: Breaker, at: datetime, rule: BreakerRule | None) -> Breaker:
    """Open if there are enough in a row, or the trial was lost; closed if the policies have no breaker any more."""
    if rule is None:
        return replace(breaker, state=BreakerState.CLOSED, until=None, trial="")
    if breaker.state is BreakerState.CLOSED and breaker.in_a_row < rule.in_a_row:
        return breaker
    until = at + timedelta(seconds=rule.open_seconds)
    return replace(breaker, state=BreakerState.OPEN, until=until, trial="")


def refuse_if_shut(breaker: Breaker, mutation: Mutation, at: datetime) -> None:
    """Raise `errors.BreakerOpen` if the breaker keeps the call out."""
    if not breaker.shut(at, mutation.id):
        return
    actor = mutation.caller.actor
    if breaker.state is BreakerState.HALF_OPEN or breaker.until is None:
        raise BreakerOpen(
            f"The calls of {actor} were refused or failed {breaker.in_a_row} times in a row, and one call ({breaker.trial}) is being tried "
            "now. Nothing was sent; try again once its outcome is known.",
            seconds=1,
        )
    raise BreakerOpen(
        f"The calls of {actor} were refused or failed {breaker.in_a_row} times in a row, so none is taken until {moment_text(breaker.until)}; "
        "then one is tried. Nothing was sent. Mend the cause first; a person can reset it with `sentinel budgets --reset`.",
        seconds=(breaker.until - at).total_seconds(),
    )
