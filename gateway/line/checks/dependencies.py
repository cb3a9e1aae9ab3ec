"""Checks what a change does to the resources that depend on the changed one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed

_MAX_NAMED = 5


class DependenciesCheck:
    """Denies the deletion of a resource in use, and holds an agent's change to a resource that critical resources depend on."""

    name = "dependencies"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A finding for each resource whose dependants forbid the change, or one that allows."""
        remaining = _remaining(facts)
        findings: list[Finding] = []
        for subject in facts.subjects:
            if subject.changes:
                findings += _findings(mutation, subject, remaining[subject.effect.address])
        return Opinion(findings=tuple(dict.fromkeys(findings))) if findings else passed(self)


def _deleted(facts: Facts) -> set[str]:
    """Addresses that this mutation deletes, and those with a standing claim on the whole resource: an earlier mutation deleted them, but
    the state still lists them.
    """
    now = {subject.effect.address for subject in facts.subjects if subject.effect.action is EffectAction.DELETE}
    return now | {standing.claim.address for standing in facts.claims if standing.claim.attribute == WHOLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remaining:
    """What depends on one resource and is not deleted."""

    all: Sequence[Dependant]
    critical: Sequence[Dependant]
    """The critical ones that agents may not touch."""


def _remaining(facts: Facts) -> dict[str, _Remaining]:
    """The remaining dependants by address, computed once for each resource, however many of its attributes change."""
    deleted = _deleted(facts)
    found: dict[str, _Remaining] = {}
    for subject in facts.subjects:
        if subject.effect.address not in found:
            remaining = [dependant for dependant in subject.dependants if dependant.address not in deleted]
            critical = [dependant for dependant in remaining if dependant.critical and not dependant.managed_by_agent]
            found[subject.effect.address] = _Remaining(all=remaining, critical=critical)
    return found


def _findings(mutation: Mutation, subject: Subject, remaining: _Remaining) -> Iterator[Finding]:
    effect = subject.effect
    if effect.action is EffectAction.DELETE and remaining.all:
        reason = f"{effect.address} cannot be deleted, because {_listed(remaining.all)} depend on it. Delete or detach what depends on it first; nothing was sent."
        yield _finding(subject, Verdict.DENY, "in_use", reason)
    agent_sets = effect.action is EffectAction.SET and mutation.caller.kind is ActorKind.AGENT
    if agent_sets and remaining.critical and not _is_bounded(subject):
        reason = f"Critical resources depend on {effect.address}: {_listed(remaining.critical)}. No contract bounds its {effect.attribute}, so a human decides: `sentinel approve {mutation.id}`, then repeat the identical call."
        yield _finding(subject, Verdict.HOLD, "critical", reason)


def _is_bounded(subject: Subject) -> bool:
    """Whether a contract bounds the attribute. Its author has then decided how far an agent may change it."""
    return any(AttributePath(path).covers(subject.effect.attribute) for path in subject.contract.bounded)


def _listed(dependants: Sequence[Dependant]) -> str:
    """The first few addresses, each with its `file:line` and `indirectly` where that applies, and the number of the others."""
    listed = []
    for dependant in dependants[:_MAX_NAMED]:
        details = [each for each in (dependant.source, "" if dependant.direct else "indirectly") if each]
        listed.append(f"{dependant.address} ({', '.join(details)})" if details else dependant.address)
    more = len(dependants) - _MAX_NAMED
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


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
