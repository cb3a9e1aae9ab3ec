"""One attribute of a resource in an answer: its declared, recorded and live values, its bounds, its holder and its last change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.context.answer_parts import holder_of, motive_words
from gateway.context.excerpt import excerpt
from gateway.context.live_values import LiveAnswer
from gateway.context.ports import KnownResource, LatestChange
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim
from gateway.core.model.contract import Bound, Contract
from gateway.core.model.json import Json, to_json
from gateway.core.model.path import WHOLE, AttributePath
from gateway.terraform.stack import Stack

_TIGHTEST: Final = {"min": max, "max": min, "max_step": min, "max_items": min}
"""Where several blocks give a number, all must hold, so the tightest one counts."""


def bounds_on(attribute: str, bounds: Iterable[Bound], caller: Caller) -> dict[str, Any] | None:
    """The bounds on an attribute, on a part of it or on what is around it: each limit by its name, and all of them with their places.

    None if there is none. A limit that could not be evaluated denies every change; `unknown` says why.
    """
    path = AttributePath(attribute)
    found = [each for each in bounds if each.attribute and (path.touches(each.attribute))]
    if not found:
        return None
    exact = [each for each in found if each.attribute == attribute and not each.unknown]
    return {
        **{name: excerpt(limit, caller) for name, limit in _limits(exact).items()},
        "source": found[0].source,
        "every": [_bound(each, caller) for each in found],
    }


def mutable_by_agent(contract: Contract, attribute: str) -> bool:
    """Whether the contract lets an agent set the attribute, within its bounds."""
    if not contract.managed_by_agent or any(AttributePath(path).touches(attribute) for path in contract.immutable):
        return False
    return any(AttributePath(path).covers(attribute) for path in (*contract.mutable, *contract.bounded))


def _limits(bounds: Sequence[Bound]) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for bound in bounds:
        if bound.name in limits and bound.name in _TIGHTEST:
            limits[bound.name] = _TIGHTEST[bound.name](limits[bound.name], bound.limit)
        else:
            limits.setdefault(bound.name, bound.limit)
    return limits


def _bound(bound: Bound, caller: Caller) -> dict[str, Any]:
    return {
        "attribute": bound.attribute,
        "name": bound.name,
        "limit": excerpt(bound.limit, caller),
        "source": bound.source,
        "message": bound.message,
        "unknown": bound.unknown,
    }


MOST_ATTRIBUTES: Final = 100
"""Attributes in one answer. Those that agents may set and those that somebody holds come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributesOf:
    """The facts from which the answer about the attributes of one resource is made."""

    caller: Caller
    stack: Stack
    address: str
    """In the stack, without its name."""
    contract: Contract
    before: Mapping[str, Json]
    """The known attributes: the state's, with the values that Sentinel applied since."""
    bounds: tuple[Bound, ...]
    known: KnownResource
    claims: tuple[Claim, ...]
    """The open claims on this resource."""
    live: LiveAnswer
    declared: frozenset[str] = frozenset()
    """The names of the arguments and blocks in the code."""

    def names(self) -> list[str]:
        """Every attribute of the answer; first those that somebody may set or holds."""
        marked = (
            *self.contract.bounded,
            *self.contract.mutable,
            *self.contract.immutable,
            *(claim.attribute for claim in self.claims),
            *self.known.values,
        )
        every = (*marked, *sorted(self.declared), *sorted(self.before))
        return [name for name in dict.fromkeys(every) if name != WHOLE]

    def entry(self, attribute: str) -> dict[str, Any]:
        """The entry with every member, always. An unknown value is null, and never left out."""
        return {
            "attribute": attribute,
            "declared": self._declared(attribute),
            "recorded": self._recorded(attribute),
            "live": self._live(attribute),
            "bounds": bounds_on(attribute, self.bounds, self.caller),
            "mutable_by_agent": mutable_by_agent(self.contract, attribute),
            "claim": self._claim(attribute),
            "last_change": self._last_change(attribute),
            "flips": self.known.flips.get(attribute, 0),
        }

    def _declared(self, attribute: str) -> dict[str, Any] | None:
        top = AttributePath(attribute).top
        if top not in self.declared:
            return None
        value = self.stack.declared(self.address, attribute)
        return {"value": excerpt(value, self.caller), "source": _source(self.stack, self.address, top)}

    def _recorded(self, attribute: str) -> dict[str, Any] | None:
        value = AttributePath(attribute).value_at(self.before)
        applied = self.known.values.get(attribute)
        if applied is not None:
            claimed = self._standing(attribute)
            origin = "claim" if claimed and claimed.mutation_id == applied.mutation_id else "applied"
            return {"value": excerpt(value, self.caller), "from": origin, "at": to_json(applied.at)}
        if value is None and AttributePath(attribute).top not in self.before:
            return None
        return {"value": excerpt(value, self.caller), "from": "state", "at": None}

    def _live(self, attribute: str) -> dict[str, Any]:
        has = attribute in self.live.values
        status = self.live.status.value
        if self.live.values and not has:
            status = "unsupported"
        value = excerpt(self.live.values.get(attribute), self.caller)
        return {"value": value, "read_at": to_json(self.live.read_at) if has else None, "status": status}

    def _claim(self, attribute: str) -> dict[str, Any] | None:
        claim = self._standing(attribute)
        return None if claim is None else {"attribute": claim.attribute, **holder_of(claim, self.caller)}

    def _standing(self, attribute: str) -> Claim | None:
        """The open claim on the attribute, else on what is around it, on a part of it, or on the whole resource."""
        by_attribute = {claim.attribute: claim for claim in self.claims}
        around = (*AttributePath(attribute).enclosing, *_parts(attribute, by_attribute), WHOLE)
        return next((by_attribute[name] for name in around if name in by_attribute), None)

    def _last_change(self, attribute: str) -> dict[str, Any] | None:
        changes = self.known.changes
        about = {*AttributePath(attribute).enclosing, *_parts(attribute, changes), WHOLE} & changes.keys()
        last = max((changes[name] for name in about), key=_moment, default=None)
        if last is None:
            return None
        return {
            "actor": last.actor,
            "kind": last.kind.value,
            **motive_words(last.motive),
            "at": to_json(last.at),
            "mutation_id": last.mutation_id,
            "commit": last.commit,
        }


def _moment(change: LatestChange) -> Any:
    return change.at


def _parts(attribute: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if AttributePath(attribute).covers(name)]


def _source(stack: Stack, address: str, top: str) -> str:
    """`file:line` of the argument, or of the block that has it."""
    instance = stack.code.instance(address)
    if instance is None:
        return ""
    document, block = instance.holder(top)
    argument = document.attributes(block).get(top)
    return document.at(argument if argument is not None else next(iter(document.blocks(block, top)), block))
