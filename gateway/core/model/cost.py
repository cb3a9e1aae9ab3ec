"""What a change adds to the monthly bill, as far as the price table of the policies says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.core.model.json import Json

_NAMED = 3
"""Resources that a sentence names."""
MOST_NAMED = 20
"""Resources without a known price that are named; more are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDifference:
    """An estimate. What nobody knows is named, and is never taken for nothing."""

    known_cents: int = 0
    """US cents a month that the priced resources cost more (or less, if negative), at list prices and without use, discounts and taxes."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Address → why its difference is not known, as a sentence's end."""
    dated: str = ""
    """The date of the price table; empty if the policies have none."""

    @property
    def cents(self) -> int | None:
        """The whole difference; None where a part of it is not known."""
        return None if self.unknown else self.known_cents

    def to_json(self) -> Mapping[str, Json]:
        """As policies, reports and pages have it."""
        return {
            "monthly_cents": self.cents,
            "known_cents": self.known_cents,
            "unknown": sorted(self.unknown)[:MOST_NAMED],
            "unknown_count": len(self.unknown),
            "dated": self.dated,
        }

    def sentence(self) -> str:
        """The estimate in words, for reports and pages."""
        if not self.dated:
            return "The policies have no price table, so what this costs is not known."
        return cost_sentence(self.known_cents, sorted(self.unknown), len(self.unknown), self.dated)


def cost_sentence(known_cents: int, unknown: Sequence[str], unknown_count: int, dated: str) -> str:
    """An estimate in words; `unknown` names some of the resources without a known price. What is not known is said, and never counted as nothing."""
    sign = "-" if known_cents < 0 else "+"
    dollars = f"{sign}{abs(known_cents) / 100:,.2f} USD a month by list prices of {dated}"
    if not unknown_count:
        return f"Estimated cost: {dollars}."
    named = ", ".join(unknown[:_NAMED])
    more = f" and {unknown_count - _NAMED} more" if unknown_count > _NAMED else ""
    if not known_cents:
        return f"Estimated cost: not known for {named}{more}."
    return f"Estimated cost: {dollars}, and not known for {named}{more}."
