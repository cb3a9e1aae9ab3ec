"""Within which bounds a value may be, as the contracts and the code's own conditions say."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gateway.context.excerpt import excerpt
from gateway.model.caller import Caller
from gateway.model.contract import Bound, Contract
from gateway.model.path import AttributePath

_TIGHTEST: Final = {"min": max, "max": min, "max_step": min, "max_items": min}
"""Where several blocks give a number, all must hold, so the tightest one counts."""


def bounds_on(attribute: str, bounds: Iterable[Bound], caller: Caller) -> dict[str, Any] | None:
    """The bounds on an attribute, on a part of it or on what is around it: each limit by its name, and all of them with their places.

    None if there is none. A limit that could not be evaluated denies every change; `unknown` says why.
    """
    path = AttributePath(attribute)
    found = [
        each for each in bounds if each.attribute and (path.covers(each.attribute) or _covers(each.attribute, path))
    ]
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
    if not contract.managed_by_agent or any(_overlap(path, attribute) for path in contract.immutable):
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


def _covers(path: str, attribute: str) -> bool:
    return AttributePath(path).covers(attribute)


def _overlap(path: str, attribute: str) -> bool:
    return _covers(path, attribute) or _covers(attribute, path)
