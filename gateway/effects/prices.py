"""Estimates what a change adds to the monthly bill, from the price table in the policies' data (`data/prices.json`): list prices by type and attribute."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from gateway.core.model.cost import CostDifference
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath

HOURS: Final = 730
"""Of a month, as AWS's calculator counts them."""
EVERYWHERE: Final = "*"
"""In place of a region: the prices of services without regions."""
_NOWHERE: Final[Mapping[str, str]] = {}
_LARGEST: Final = Decimal(10) ** 9
"""US dollars a month. A quantity beyond it is a mistake of the call, which AWS refuses."""


class NotPriced(Exception):
    """The price of a resource is not known; the message is the reason, as a sentence's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """The prices of one date, by region and resource type."""

    dated: str = ""
    regions: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]] = field(default_factory=dict)
    """Region → resource type → the parts of its price."""
    free: frozenset[str] = frozenset()
    """Types of which AWS charges nothing by themselves; `*` at the end is any text."""
    by_use: frozenset[str] = frozenset()
    """Types that cost by use alone, which no call says."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Type → the parameter that says how many of it a call creates."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PriceTable":
        """The table in the data of policies, which `data_schema` has validated; an empty one if they have none."""
        prices = data.get("prices", {})
        return cls(
            dated=prices.get("dated", ""),
            regions=prices.get("regions", {}),
            free=frozenset(prices.get("free", ())),
            by_use=frozenset(prices.get("by_use", ())),
            copies={
                kind: name
                for size in data.get("budgets", {}).get("sizes", {}).values()
                for kind, name in size["created"].items()
            },
        )

    def difference(
        self, mutation: Mutation, subjects: Sequence[Subject], regions: Mapping[str, str] = _NOWHERE
    ) -> CostDifference:
        """What the mutation adds to the bill. A mutation whose effects are not known costs what nobody knows.

        `regions` are those of the resources by address, for a call that names none, as a plan.
        """
        if not self.dated:
            return CostDifference()
        if not mutation.understood:
            return CostDifference(
                unknown={mutation.call.service: "the effects of the call are not known"}, dated=self.dated
            )
        known, unknown = Decimal(0), dict[str, str]()
        for address, changes in _by_address(subjects).items():
            try:
                known += self._of_resource(mutation, changes, mutation.call.region or regions.get(address, ""))
            except NotPriced as reason:
                unknown[address] = str(reason)
        return CostDifference(known_cents=int((known * 100).to_integral_value()), unknown=unknown, dated=self.dated)

    def _of_resource(self, mutation: Mutation, changes: Sequence[Subject], region: str) -> Decimal:
        """US dollars a month. Raises `NotPriced`."""
        kind = changes[0].effect.resource_type
        if self._is_free(kind):
            return Decimal(0)
        if any(each.effect.may_change for each in changes):
            raise NotPriced("what the call changes of it is not known")
        if not any(each.changes for each in changes):
            return Decimal(0)
        parts = self._parts(region, kind)
        before, after, copies = _states(mutation, changes, self.copies.get(kind, ""))
        judged = {name for part in parts for name in _named(part)}
        touched = any(AttributePath(each.effect.attribute).touches(name) for each in changes for name in judged)
        if before is not None and after is not None and not touched:
            return Decimal(0)
        cost = (
            sum((_part_cost(part, after) for part in parts), Decimal(0)) * copies if after is not None else Decimal(0)
        )
        had = sum((_part_cost(part, before) for part in parts), Decimal(0)) if before is not None else Decimal(0)
        if max(cost, had) > _LARGEST:
            raise NotPriced("its size is out of every range")
        return cost - had

    def _is_free(self, kind: str) -> bool:
        return kind in self.free or kind.startswith(_beginnings(self.free))

    def _parts(self, region: str, kind: str) -> Sequence[Mapping[str, Any]]:
        prices = self.regions.get(region)
        if kind in (everywhere := self.regions.get(EVERYWHERE, {})):
            return everywhere[kind]
        if kind in self.by_use:
            raise NotPriced("what it costs follows from its use, or from what it starts")
        if prices is None:
            raise NotPriced(f"the table has no prices for {region or 'an unknown region'}")
        if kind not in prices:
            raise NotPriced(f"the table has no price for {kind}")
        return prices[kind]


@lru_cache(maxsize=16)
def _beginnings(types: frozenset[str]) -> tuple[str, ...]:
    """How the types begin that are named with `*` at the end."""
    return tuple(name[:-1] for name in types if name.endswith("*"))


def _by_address(subjects: Sequence[Subject]) -> Mapping[str, list[Subject]]:
    found: dict[str, list[Subject]] = {}
    for each in subjects:
        found.setdefault(each.effect.address, []).append(each)
    return found


def _states(
    mutation: Mutation, changes: Sequence[Subject], copies: str
) -> tuple[Mapping[str, Json] | None, Mapping[str, Json] | None, int]:
    """The attributes before and after, None where there is no resource, and how many are created."""
    first = changes[0]
    whole = {each.effect.action for each in changes if each.effect.attribute == WHOLE}
    if EffectAction.DELETE in whole:
        return first.attributes_before or None, None, 1
    created = any(each.effect.action is EffectAction.CREATE for each in changes)
    after = dict(first.attributes_after)
    for each in changes:
        if each.effect.attribute == WHOLE and isinstance(each.effect.value, Mapping):
            after |= each.effect.value
    if not created:
        return first.attributes_before, after, 1
    asked = mutation.call.parameters.get(copies) if copies else None
    number = asked if isinstance(asked, int) and not isinstance(asked, bool) and asked > 0 else 1
    return None, after, number


def _named(part: Mapping[str, Any]) -> Iterator[str]:
    """The attributes that a part of a price depends on."""
    yield from (part[name] for name in ("by",) if name in part)
    yield from (each["attribute"] for each in part.get("times", ()))
    yield from part.get("when", {})
    yield from part.get("doubled_if", ())


def _part_cost(part: Mapping[str, Any], attributes: Mapping[str, Json]) -> Decimal:
    """US dollars a month of one part. Raises `NotPriced`."""
    for name, values in part.get("when", {}).items():
        if _value(attributes, name, part) not in values:
            return Decimal(0)
    price: Decimal = _price(part, attributes)
    for factor in part.get("times", ()):
        price *= _number(factor, attributes)
    for name in part.get("doubled_if", ()):
        price *= 2 if _value(attributes, name, part) is True else 1
    return price * (HOURS if part["per"] == "hour" else 1)


def _price(part: Mapping[str, Any], attributes: Mapping[str, Json]) -> Decimal:
    if "price" in part:
        return Decimal(str(part["price"]))
    chosen = _value(attributes, part["by"], part)
    prices: Mapping[str, float] = part["prices"]
    if not isinstance(chosen, str) or chosen not in prices:
        told = f"`{chosen[:64]}`" if isinstance(chosen, str) else "it"
        raise NotPriced(f"the table has no price for {told} ({part['by']})")
    return Decimal(str(prices[chosen]))


def _value(attributes: Mapping[str, Json], name: str, part: Mapping[str, Any]) -> Json:
    found = AttributePath(name).value_at(attributes)
    return part.get("defaults", {}).get(name) if found is None or found == "" else found


def _number(factor: Mapping[str, Any], attributes: Mapping[str, Json]) -> Decimal:
    """The quantity beyond what is included. Raises `NotPriced` if no attribute says it."""
    name = factor["attribute"]
    found = AttributePath(name).value_at(attributes)
    if isinstance(found, list | tuple):
        found = len(found)
    if found is None:
        found = factor.get("default")
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        raise NotPriced(f"{name} is not known")
    included, more = Decimal(factor.get("above", 0)), Decimal(factor.get("plus", 0))
    return max(Decimal(0), Decimal(str(found)) + more - included)
