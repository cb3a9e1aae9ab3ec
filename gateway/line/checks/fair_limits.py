"""The budgets that the policies give each kind of actor, asked once for each version of the policies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.budget import SPANS, BreakerRule, Charge
from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.line.checks.approvers import OptionalEntrypoints
from gateway.line.checks.policy_answer import member, only

ENTRYPOINT: Final = "sentinel/budgets/result"
WITHOUT_MOTIVE: Final = "none"
"""How the policies name a change without a motive."""
_MEMBERS: Final = {
    "evaluated",
    "mutations",
    "mutations_by_motivation",
    "added_per_day",
    "sizes",
    "claims_by_motivation",
    "breaker",
}
_WITHOUT_BUNDLE: Final = "opa "
"""So begins the revision of an OPA server that runs without a bundle: it stays the same when its data change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How a size is measured."""

    set: Mapping[str, frozenset[str]]
    """By resource type, the attributes whose growth counts."""
    created: Mapping[str, str]
    """By resource type, the parameter that says how many are created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairLimits:
    """What one kind of actor may do."""

    mutations: Mapping[str, Charge] = field(default_factory=dict)
    """By span, one mutation out of its budget."""
    by_motivation: Mapping[str, Mapping[str, Charge]] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    """By size, how much a day."""
    sizes: Mapping[str, Measure] = field(default_factory=dict)
    claims: Mapping[str, int] = field(default_factory=dict)
    """By motivation, how many claims at once."""
    breaker: BreakerRule | None = None

    def of_motivation(self, motivation: str) -> Mapping[str, Charge]:
        """One mutation with this motivation, by the names of the buckets it is taken from."""
        own = self.by_motivation.get(motivation, {})
        return {**self.mutations, **{f"{motivation}/{span}": charge for span, charge in own.items()}}


NO_LIMITS: Final = FairLimits()


@dataclass(slots=True)
class FairLimitsOf:
    """Knows the limits of each kind; asks the engine only when its policies are others."""

    engine: OptionalEntrypoints
    _kept: dict[tuple[str, ActorKind], FairLimits] = field(default_factory=dict)

    async def of(self, kind: ActorKind) -> FairLimits:
        """The limits of a kind of actor; none if the policies have no `sentinel.budgets`.

        Raises `errors.PolicyUnavailable` if they have it and do not answer as they should.
        """
        if not self.engine.answers(ENTRYPOINT):
            return NO_LIMITS
        before = self.engine.revision
        if (known := self._kept.get((before, kind))) is not None:
            return known
        limits = _read(await self.engine.ask(ENTRYPOINT, {"kind": kind.value}))
        if self.engine.revision == before and not before.startswith(_WITHOUT_BUNDLE):
            self._kept = {key: kept for key, kept in self._kept.items() if key[0] == before} | {(before, kind): limits}
        return limits


def _read(answer: Json) -> FairLimits:
    found = only(answer, _MEMBERS)
    if found["evaluated"] is not True:
        raise PolicyUnavailable("The policies did not evaluate the budgets.")
    rule = found["breaker"]
    try:
        return FairLimits(
            mutations=_charges(member(found, "mutations", dict)),
            by_motivation={
                str(name): _charges(spans) for name, spans in member(found, "mutations_by_motivation", dict).items()
            },
            added=_counts(member(found, "added_per_day", dict)),
            sizes={str(name): _measure(measure) for name, measure in member(found, "sizes", dict).items()},
            claims=_counts(member(found, "claims_by_motivation", dict)),
            breaker=None if rule is None else BreakerRule(**_counts(rule)),
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise PolicyUnavailable(f"The policies' budgets cannot be read ({type(error).__name__}).") from error


def _charges(spans: Any) -> dict[str, Charge]:
    return {span: Charge(most=most, seconds=SPANS[span]) for span, most in _counts(spans).items()}


def _counts(numbers: Any) -> dict[str, int]:
    """Positive numbers by name. Raises ValueError for anything else."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number <= 0:
            message = f"{name} is not a positive number"
            raise ValueError(message)
    return dict(numbers)


def _measure(measure: Any) -> Measure:
    attributes = {str(kind): frozenset(map(str, names)) for kind, names in measure["set"].items()}
    return Measure(set=attributes, created={str(kind): str(name) for kind, name in measure["created"].items()})
