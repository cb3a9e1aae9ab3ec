"""Finds the changes of a plan whose calls nobody understands, so that an apply would be held in the middle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.core.derived_rows import Confidence
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import AttributePath
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.effects.type_rows import Directions
from gateway.plans.call_match import ADOPTED

_WITHOUT_CALLS: Final = frozenset({"aws_acm_certificate_validation", "aws_ses_domain_identity_verification"})
"""Types that only wait: Terraform reads until something is done."""
_MAKING: Final = (PlannedAction.CREATE, PlannedAction.REPLACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownCalls:
    """A planned change whose calls are not understood."""

    address: str
    resource_type: str
    action: PlannedAction
    with_plan: bool
    """Whether the plan explains them in its session. Sent without a session, they are held."""


def unknown_calls(
    plan: Plan, known: Mapping[str, Directions], later: Mapping[str, frozenset[str]]
) -> tuple[UnknownCalls, ...]:
    """The changes of AWS's resources that no row knows, those that rows know by their type only, and new resources of which `later` has
    attributes that the plan sets: by type, those that a call after the creation sets. In the order of the plan.
    """
    return tuple(_unknown(plan, known, later))


def _unknown(
    plan: Plan, known: Mapping[str, Directions], later: Mapping[str, frozenset[str]]
) -> Iterator[UnknownCalls]:
    for change in plan.changes:
        kind = change.resource_type
        if kind.startswith("aws_") and kind not in _WITHOUT_CALLS and not kind.startswith(ADOPTED):
            sureness = _sureness(change, known.get(kind, {}))
            if sureness is not None and change.action in _MAKING and _sets(change, later.get(kind, frozenset())):
                sureness = Confidence.TYPE
            if sureness in (None, Confidence.TYPE):
                yield UnknownCalls(
                    address=change.address,
                    resource_type=kind,
                    action=change.action,
                    with_plan=sureness is Confidence.TYPE,
                )


def _sets(change: PlannedChange, later: frozenset[str]) -> bool:
    """Whether the plan gives one of these attributes members. Of a single value nobody knows here whether it is the default, which is not sent."""
    return any(
        (path := AttributePath(name)).top in later and (path.top != name or (value and isinstance(value, list | dict)))
        for name, value in change.values.items()
    )


def _sureness(change: PlannedChange, directions: Directions) -> Confidence | None:
    """How well calls of the change are known at best; None if not at all.

    Many types are changed or deleted by calls that say nothing of them, or by none. So for these any row of the type counts.
    """
    if change.action in _MAKING:
        return directions.get(EffectAction.CREATE)
    return Confidence.ATTRIBUTES if directions else None
