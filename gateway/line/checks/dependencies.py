"""Checks what a change does to the resources that depend on the changed one."""

from collections.abc import Collection, Iterator, Sequence
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
        remaining, replaced = _remaining(mutation, facts), _replaced(mutation)
        changed = {effect.address for effect in mutation.effects}
        findings: list[Finding] = []
        for subject in facts.subjects:
            address = subject.effect.address
            if subject.changes and subject.effect.action is EffectAction.DELETE and address in replaced:
                findings += _of_replaced(mutation, subject, remaining[address], changed)
            elif subject.changes:
                findings += _findings(mutation, subject, remaining[address])
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


def _is_plan(mutation: Mutation) -> bool:
    """Whether it is a plan of Terraform, which orders its changes by their dependencies, and whose state says what there is."""
    return (mutation.call.service, mutation.call.operation) == ("terraform", "apply")


def _replaced(mutation: Mutation) -> frozenset[str]:
    """Addresses that a plan deletes and creates again."""
    if not _is_plan(mutation):
        return frozenset()
    made = {effect.address for effect in mutation.effects if effect.action is EffectAction.CREATE}
    return frozenset(
        effect.address for effect in mutation.effects if effect.action is EffectAction.DELETE and effect.address in made
    )


def _remaining(mutation: Mutation, facts: Facts) -> dict[str, _Remaining]:
    """The remaining dependants by address, computed once for each resource, however many of its attributes change.

    What a plan's state does not have was never created, and depends on nothing.
    """
    deleted, planned = _deleted(facts), _is_plan(mutation)
    found: dict[str, _Remaining] = {}
    for subject in facts.subjects:
        if subject.effect.address not in found:
            remaining = [
                each for each in subject.dependants if each.address not in deleted and (each.recorded or not planned)
            ]
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
        reason = f"Critical resources depend on {effect.address}: {_listed(remaining.critical)}. No contract bounds its {effect.attribute}, so an approver decides: `sentinel approve {mutation.id}`, then repeat the identical call."
        yield _finding(subject, Verdict.HOLD, "critical", reason)


def _of_replaced(
    mutation: Mutation, subject: Subject, remaining: _Remaining, changed: Collection[str]
) -> Iterator[Finding]:
    """What takes its id from the replaced resource, the plan changes too. If it leaves something that a critical resource needs, a human decides."""
    unchanged = any(dependant.direct and dependant.address not in changed for dependant in remaining.all)
    left = [dependant for dependant in remaining.critical if dependant.address not in changed]
    if unchanged and left:
        reason = f"The plan replaces {subject.effect.address}, on which critical resources depend that it does not change: {_listed(left)}. An approver decides: `sentinel approve {mutation.id}`, then run the same command again."
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
