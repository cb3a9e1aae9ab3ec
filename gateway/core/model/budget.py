"""What an actor may do in a span of time: budgets as token buckets, and what it has used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from gateway.core.errors import BudgetSpent
from gateway.core.model.circuit_breaker import Breaker, BreakerRule
from gateway.core.model.json import Json
from gateway.core.times import moment_text

SPANS: Final[Mapping[str, int]] = {"minute": 60, "hour": 3600, "day": 86_400}
"""The spans that policies give budgets for, in seconds."""


BILLED_READS: Final = "billed reads"
"""The name of the buckets of reads that AWS charges for, before their span."""
MONTHLY_USD: Final = "monthly_usd"
"""The size that is measured by the price table: whole US dollars that a mutation adds to the monthly bill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one decision takes out of a bucket that holds `most` and fills in `seconds`."""

    most: int
    seconds: int
    cost: int = 1
    when_sent: bool = False
    """Whether only a call that is sent costs it, and not one that is held or denied."""

    @property
    def span(self) -> timedelta:
        """How long the empty bucket takes to fill."""
        return _span(self.seconds)

    @property
    def weight(self) -> timedelta:
        """How much later the bucket is full because of this charge. Rounded down, so that `most` single charges always fit."""
        return _weight(self.most, self.seconds, self.cost)

    def full_at(self, before: datetime | None, at: datetime) -> datetime:
        """When the bucket is full again after this charge, if it was to be so at `before`. Never later than an empty one."""
        start = at if before is None else max(before, at)
        return min(start + _weight(self.most, self.seconds, self.cost), at + _span(self.seconds))

    def fits(self, before: datetime | None, at: datetime) -> bool:
        """Whether the bucket has that much left."""
        start = at if before is None else max(before, at)
        return start + _weight(self.most, self.seconds, self.cost) <= at + _span(self.seconds)

    def fits_at(self, before: datetime | None, at: datetime) -> datetime:
        """From when on it fits. Of a charge that is more than the whole bucket that is never, and this moment means nothing."""
        start = at if before is None else max(before, at)
        return max(at, start + self.weight - self.span)

    def left(self, before: datetime | None, at: datetime) -> int:
        """How many single charges fit now."""
        if before is None or before <= at:
            return self.most
        return max(0, self.most - -(-(before - at) * self.most // self.span))


# A decision asks a dozen times, and policies name few numbers: to remember these takes a third of the time of dividing times.
@lru_cache(maxsize=256)
def _span(seconds: int) -> timedelta:
    return timedelta(seconds=seconds)


@lru_cache(maxsize=1024)
def _weight(most: int, seconds: int, cost: int) -> timedelta:
    return _span(seconds) * cost // most


Levels = Mapping[str, datetime]
"""When each bucket of an actor is full again, by its name; absent where it is full."""


def charged(levels: Levels, charges: Mapping[str, Charge], at: datetime, *, sent: bool) -> Levels:
    """The levels after these charges. Buckets that are full are left out."""
    due = {name: charge for name, charge in charges.items() if sent or not charge.when_sent}
    after = {**levels, **{name: charge.full_at(levels.get(name), at) for name, charge in due.items()}}
    return {name: full for name, full in sorted(after.items()) if full > at}


def first_misfit(
    levels: Levels, charges: Mapping[str, Charge], at: datetime, *, sent: bool
) -> tuple[str, datetime] | None:
    """The bucket that has too little left for longest, and from when on it has enough; None if all have."""
    waits = {
        name: charge.fits_at(levels.get(name), at)
        for name, charge in charges.items()
        if (sent or not charge.when_sent) and not charge.fits(levels.get(name), at)
    }
    return max(waits.items(), key=lambda wait: (wait[1], wait[0]), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FairShare:
    """What the policies give one actor for one decision, as the decision's obligations record it."""

    charges: Mapping[str, Charge] = field(default_factory=dict)
    breaker: BreakerRule | None = None


def fair_share_to_json(share: FairShare) -> dict[str, Json]:
    """The JSON form: `budgets`, and `breaker` if there is one."""
    budgets: dict[str, Json] = {
        name: {"most": each.most, "seconds": each.seconds, "cost": each.cost, "when_sent": each.when_sent}
        for name, each in share.charges.items()
    }
    rule = share.breaker
    if rule is None:
        return {"budgets": budgets}
    within: dict[str, Json] = {} if rule.within_seconds is None else {"within_seconds": rule.within_seconds}
    return {
        "budgets": budgets,
        "breaker": {"in_a_row": rule.in_a_row, "open_seconds": rule.open_seconds, **within},
    }


def fair_share_from_json(obligations: Mapping[str, Any]) -> FairShare:
    """The share of a decision's obligations; an empty one if they have none."""
    rule = obligations.get("breaker")
    return FairShare(
        charges={name: Charge(**each) for name, each in (obligations.get("budgets") or {}).items()},
        breaker=BreakerRule(**rule) if rule else None,
    )


def refuse_if_spent(levels: Levels, charges: Mapping[str, Charge], actor: str, at: datetime, *, sent: bool) -> None:
    """Raise `errors.BudgetSpent` if a bucket has too little left."""
    misfit = first_misfit(levels, charges, at, sent=sent)
    if misfit is None:
        return
    name, again = misfit
    charge = charges[name]
    raise BudgetSpent(
        f"{actor} has used its budget of {charge.most} {budget_text(name)}, and this would take {charge.cost} more. Nothing was sent; try "
        f"again at {moment_text(again)}{', or ask for less' if charge.cost > 1 else ''}.",
        seconds=(again - at).total_seconds(),
    )


def budget_text(name: str) -> str:
    """What a bucket is of, for a sentence: `mutations a minute`, `experiment mutations a minute`, `instances a day`."""
    what, _, span = name.rpartition("/")
    if span == "day":
        return f"added {what} a day"
    per = "an hour" if span == "hour" else f"a {span}"
    if what == BILLED_READS:
        return f"reads that AWS charges for {per}"
    return f"{what} mutations {per}" if what else f"mutations {per}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What an actor has used of its budgets, its circuit breaker, and how many claims it holds."""

    levels: Levels = field(default_factory=dict)
    breaker: Breaker = field(default_factory=Breaker)
    claims: Mapping[str, int] = field(default_factory=dict)
    """By motivation; under the empty text those without a motive."""
