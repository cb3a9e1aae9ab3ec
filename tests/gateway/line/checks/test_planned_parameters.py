"""Guardrails about calls of a plan's session that say more than the plan."""

from dataclasses import dataclass, field, replace

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Basis, Mutation
from gateway.core.model.plan_session import PlannedPart, PlanSession
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion
from gateway.line.checks.planned_parameters import PlannedParametersCheck
from gateway.line.checks.policy import GuardrailsCheck
from tests.kit import nouns


@dataclass
class Judge:
    """Guardrails with a fixed opinion."""

    asked: list[tuple[Mutation, Facts]] = field(default_factory=list)

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A hold by one rule."""
        self.asked.append((mutation, facts))
        hold = Finding(check="policy", verdict=Verdict.HOLD, rule="SEN-X", reason="No.", address=nouns.QUEUE)
        return Opinion(findings=(hold,))


async def test_the_plan_has_told_what_the_call_changes() -> None:
    """The rule about calls that do not show what they change is for calls without a plan."""
    session = PlanSession(
        id="mut_1", key_id="SNTS1", actor="deployer", stack="kafka", digest="d", opened_at=nouns.NOW, until=nouns.NOW,
        changes=(), lifted=frozenset({f"SEN-X {nouns.QUEUE}"}),
    )  # fmt: skip
    whole = nouns.effect(basis=Basis.RESOURCE)
    mutation = replace(nouns.mutation(whole), part=PlannedPart(session=session))
    copy = replace(mutation.call, service="s3", operation="CopyObject", parameters={"CopySource": "a/b"})
    judge = Judge()
    check = PlannedParametersCheck(judge)  # type: ignore[arg-type]  # stands in for `GuardrailsCheck`
    assert isinstance(check, PlannedParametersCheck)
    assert GuardrailsCheck.name == check.name
    opinion = await check.examine(replace(mutation, call=copy), nouns.facts(*nouns.subjects((whole,))))
    [(asked, facts)] = judge.asked
    assert {effect.basis for effect in asked.effects} == {Basis.DERIVED}
    assert {subject.effect.basis for subject in facts.subjects} == {Basis.DERIVED}
    assert [finding.verdict for finding in opinion.findings] == [Verdict.ALLOW], "it was lifted with the plan"
