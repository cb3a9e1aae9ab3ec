"""The second check: what else a change reaches through what depends on the thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.checks.chain import Opinion, passed
from gateway.model.caller import ActorKind
from gateway.model.facts import Dependant, Facts, Subject
from gateway.model.mutation import WHOLE, EffectAction, Mutation
from gateway.model.path import AttributePath
from gateway.model.verdict import Finding, Verdict

_NAMED = 5


class DependenciesCheck:
    """Refuses to delete what is in use, and asks a human before an agent changes what critical things stand on."""

    name = "dependencies"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A finding for each thing that others depend on in a way that matters, else one that allows."""
        left = _left(facts)
        findings: list[Finding] = []
        for subject in facts.subjects:
            if subject.changes:
                findings += _found(mutation, subject, left[subject.effect.address])
        return Opinion(findings=tuple(dict.fromkeys(findings))) if findings else passed(self)


def _going(facts: Facts) -> set[str]:
    """What this mutation deletes, and what an earlier one deleted that the state still lists: a standing claim on the whole of a thing."""
    now = {subject.effect.address for subject in facts.subjects if subject.effect.action is EffectAction.DELETE}
    return now | {standing.claim.address for standing in facts.claims if standing.claim.attribute == WHOLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """What still depends on one resource."""

    all: Sequence[Dependant]
    critical: Sequence[Dependant]
    """The critical ones that agents may not touch."""


def _left(facts: Facts) -> dict[str, _Left]:
    """What still depends on each address, worked out once however many attributes of it change."""
    going = _going(facts)
    found: dict[str, _Left] = {}
    for subject in facts.subjects:
        if subject.effect.address not in found:
            left = [dependant for dependant in subject.dependants if dependant.address not in going]
            critical = [dependant for dependant in left if dependant.critical and not dependant.managed_by_agent]
            found[subject.effect.address] = _Left(all=left, critical=critical)
    return found


def _found(mutation: Mutation, subject: Subject, left: _Left) -> Iterator[Finding]:
    effect = subject.effect
    if effect.action is EffectAction.DELETE and left.all:
        reason = f"{effect.address} cannot be deleted, because {_named(left.all)} depend on it. Delete or detach what depends on it first; nothing was sent."
        yield _finding(subject, Verdict.DENY, "in_use", reason)
    agent_sets = effect.action is EffectAction.SET and mutation.caller.kind is ActorKind.AGENT
    if agent_sets and left.critical and not _spoken_for(subject):
        reason = f"Critical resources depend on {effect.address}: {_named(left.critical)}. No contract bounds its {effect.attribute}, so a human decides: `sentinel approve {mutation.id}`, then repeat the identical call."
        yield _finding(subject, Verdict.HOLD, "critical", reason)


def _spoken_for(subject: Subject) -> bool:
    """Whether a contract bounds the attribute: its author has then said how far it may go."""
    return any(AttributePath(path).covers(subject.effect.attribute) for path in subject.contract.bounded)


def _named(dependants: Sequence[Dependant]) -> str:
    """The first few, with where they stand and whether only something between depends on the thing."""
    words = []
    for dependant in dependants[:_NAMED]:
        about = [each for each in (dependant.source, "" if dependant.direct else "indirectly") if each]
        words.append(f"{dependant.address} ({', '.join(about)})" if about else dependant.address)
    more = len(dependants) - _NAMED
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def _finding(subject: Subject, verdict: Verdict, rule: str, reason: str) -> Finding:
    attribute = "" if subject.effect.attribute == WHOLE else subject.effect.attribute
    return Finding(
        check="dependencies",
        verdict=verdict,
        rule=f"dependencies.{rule}",
        reason=reason,
        address=subject.effect.address,
        attribute=attribute,
        source=subject.contract.source,
    )
