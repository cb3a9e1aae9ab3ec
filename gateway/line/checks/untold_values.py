"""Judges the values that a call of a plan's session gives and that the plan does not tell, by a check that judges every other call."""

from collections.abc import Collection
from dataclasses import replace

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Basis, Mutation
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
        subjects = tuple(
            subject
            for subject in facts.subjects
            if subject.effect.basis is not Basis.RESOURCE and not subject.effect.beside
        )
        effects = tuple(subject.effect for subject in subjects)
        part_alone = replace(mutation, effects=effects, inner=())
        opinion = await self._check.examine(part_alone, replace(facts, subjects=subjects))
        if not opinion.findings:
            return opinion
        lifted, untold = part.session.lifted, tuple(sorted(part.untold))
        about = tuple(finding for finding in opinion.findings if is_about(finding, lifted, untold))
        asked = tuple(replace(each, lifted=tuple(sorted(lifted)), untold=untold) for each in opinion.asked)
        return replace(opinion, findings=about or passed(self).findings, asked=asked)


class BesideCheck:
    """Asks one check about what a call of a plan's session does to resources that the plan does not change."""

    def __init__(self, check: Check) -> None:
        """`check` is the one that is asked."""
        self._check = check

    @property
    def name(self) -> str:
        """Its name, beside that of the check itself."""
        return f"{self._check.name}.beside"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The objections of the check, without what a person lifted for the same attribute when they approved the plan."""
        subjects = tuple(subject for subject in facts.subjects if subject.effect.beside)
        if mutation.part is None or not mutation.part.fits or not subjects:
            return passed(self)
        effects = tuple(subject.effect for subject in subjects)
        alone = replace(mutation, effects=effects, inner=(), part=None)
        opinion = await self._check.examine(alone, replace(facts, subjects=subjects))
        lifted, about = mutation.part.session.lifted, tuple((each.address, each.attribute) for each in effects)
        found = tuple(finding for finding in opinion.findings if is_about(finding, lifted, about))
        return replace(opinion, findings=found or passed(self).findings)


def is_about(finding: Finding, lifted: Collection[str], untold: Collection[tuple[str, str]]) -> bool:
    """Whether the finding objects to an untold value, or does not say to which one; a check that breaks says nothing either.

    What people `lifted` when they approved the plan stays lifted.
    """
    if finding.verdict is Verdict.ALLOW:
        return False
    if finding.verdict is Verdict.HOLD and f"{finding.rule} {finding.address} {finding.attribute}" in lifted:
        return False
    return not finding.attribute or any(
        address == finding.address and (attribute == finding.attribute or _around(attribute, finding.attribute))
        for address, attribute in untold
    )


def _around(one: str, other: str) -> bool:
    return one.startswith(f"{other}.") or other.startswith(f"{one}.") or other == "*"
