"""Evaluates the guardrails for a call of a plan's session that says more than the plan: force, locks, or calls that AWS makes later."""

from collections.abc import Collection
from dataclasses import replace

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Basis, Effect, Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed
from gateway.line.checks.policy import GuardrailsCheck
from gateway.line.checks.policy_input import shown_parameters


class PlannedParametersCheck:
    """Asks the guardrails about such a call. What a person lifted when they approved the plan stays lifted."""

    name = "policy"

    def __init__(self, guardrails: GuardrailsCheck) -> None:
        """`guardrails` judge every other call."""
        self._guardrails = guardrails

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The objections of the guardrails that are not the plan's own."""
        part = mutation.part
        if part is None or not part.fits or not (mutation.inner or shown_parameters(mutation.call)):
            return passed(self)
        opinion = await self._guardrails.examine(*_as_told(mutation, facts))
        lifted = part.session.lifted
        new = tuple(finding for finding in opinion.findings if objects_still(finding, lifted))
        asked = tuple(replace(each, lifted=tuple(sorted(lifted))) for each in opinion.asked)
        return replace(opinion, findings=new or passed(self).findings, asked=asked)


def objects_still(finding: Finding, lifted: Collection[str]) -> bool:
    """Whether the finding objects although people lifted these objections with the plan."""
    return not (finding.verdict is Verdict.HOLD and f"{finding.rule} {finding.address}" in lifted)


def _as_told(mutation: Mutation, facts: Facts) -> tuple[Mutation, Facts]:
    """The call and its facts, with effects of which the plan told what they change: the rule about calls that do not show it is not for them."""
    effects = tuple(_told(effect) for effect in mutation.effects)
    subjects = tuple(replace(subject, effect=_told(subject.effect)) for subject in facts.subjects)
    return replace(mutation, effects=effects), replace(facts, subjects=subjects)


def _told(effect: Effect) -> Effect:
    return replace(effect, basis=Basis.DERIVED) if effect.basis is Basis.RESOURCE else effect
