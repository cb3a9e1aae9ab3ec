"""Judges the values that a call of a plan's session gives and that the plan does not tell, by a check that judges every other call."""

from dataclasses import replace

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Basis, Mutation
from gateway.core.model.plan_session import PlannedPart
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Check, Opinion, passed


class UntoldValuesCheck:
    """Asks one check about such a call, and keeps what it objects to these values. What the plan tells was judged with the plan."""

    def __init__(self, check: Check) -> None:
        """`check` is the one that is asked."""
        self._check = check

    @property
    def name(self) -> str:
        """Its name, beside that of the check itself."""
        return f"{self._check.name}.untold"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The objections to the untold values, without what a person lifted for the same attribute when they approved the plan."""
        part = mutation.part
        if part is None or not part.fits or not part.untold:
            return passed(self)
        # Of an effect without a value there is nothing to judge.
        subjects = tuple(subject for subject in facts.subjects if subject.effect.basis is not Basis.RESOURCE)
        effects = tuple(subject.effect for subject in subjects)
        asked = replace(mutation, effects=effects, inner=())
        opinion = await self._check.examine(asked, replace(facts, subjects=subjects))
        if not opinion.findings:
            return opinion
        about = tuple(finding for finding in opinion.findings if _is_about(finding, part))
        return replace(opinion, findings=about or passed(self).findings)


def _is_about(finding: Finding, part: PlannedPart) -> bool:
    """Whether the finding objects to an untold value, or does not say to which one; a check that breaks says nothing either."""
    if finding.verdict is Verdict.ALLOW:
        return False
    lifted = f"{finding.rule} {finding.address} {finding.attribute}" in part.session.lifted
    if lifted and finding.verdict is Verdict.HOLD:
        return False
    return not finding.attribute or any(
        address == finding.address and (attribute == finding.attribute or _around(attribute, finding.attribute))
        for address, attribute in part.untold
    )


def _around(one: str, other: str) -> bool:
    return one.startswith(f"{other}.") or other.startswith(f"{one}.") or other == "*"
