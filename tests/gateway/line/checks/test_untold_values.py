"""The objections to the values of a session's call that its plan does not tell."""

from dataclasses import dataclass, field, replace

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Basis, Mutation
from gateway.core.model.plan_session import PlannedPart, PlanSession
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion
from gateway.line.checks.untold_values import UntoldValuesCheck
from tests.kit import nouns

ADDRESS, ATTRIBUTE = nouns.QUEUE, "desired_capacity"


@dataclass
class Judge:
    """A check with a fixed opinion."""

    found: tuple[Finding, ...]
    name: str = "policy"
    asked: list[Mutation] = field(default_factory=list)

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The opinion."""
        assert len(facts.subjects) == len(mutation.effects)
        self.asked.append(mutation)
        return Opinion(findings=self.found)


def finding(attribute: str = ATTRIBUTE, verdict: Verdict = Verdict.HOLD, address: str = ADDRESS) -> Finding:
    """An objection."""
    return Finding(check="policy", verdict=verdict, rule="SEN-X", reason="No.", address=address, attribute=attribute)


async def judged(*found: Finding, untold: tuple[str, ...] = (ATTRIBUTE,), lifted: tuple[str, ...] = ()) -> list[str]:
    """The attributes of the objections that are kept."""
    session = PlanSession(
        id="mut_1", key_id="SNTS1", actor="deployer", stack="kafka", digest="d", opened_at=nouns.NOW, until=nouns.NOW,
        changes=(), lifted=frozenset(lifted),
    )  # fmt: skip
    told = nouns.effect(value=6)
    unseen = replace(told, attribute="max_size", basis=Basis.RESOURCE)
    part = PlannedPart(session=session, untold=frozenset((ADDRESS, each) for each in untold))
    mutation = replace(nouns.mutation(told, unseen), part=part)
    judge = Judge(found)
    check = UntoldValuesCheck(judge)
    assert check.name == "policy.untold"
    opinion = await check.examine(mutation, nouns.facts(*nouns.subjects((told, unseen))))
    assert [each.effects for each in judge.asked] == ([(told,)] if untold else [])
    assert bool(opinion.findings) is bool(found or not untold)
    return [each.attribute for each in opinion.findings if each.verdict is not Verdict.ALLOW]


async def test_only_objections_to_untold_values_are_kept() -> None:
    assert await judged(finding(), finding("max_size"), finding(address="aws_sqs_queue.other")) == [ATTRIBUTE]
    assert await judged(finding("ingress.cidr"), untold=("ingress",)) == ["ingress.cidr"]
    assert await judged(finding("ingress"), untold=("ingress.cidr",)) == ["ingress"]
    assert await judged(finding("*"), untold=(ATTRIBUTE,)) == ["*"]


async def test_an_objection_to_nothing_in_particular_is_kept() -> None:
    assert await judged(finding("", Verdict.DENY, address="")) == [""]


async def test_without_an_untold_value_nothing_is_asked() -> None:
    assert await judged(finding(), untold=()) == []


async def test_what_a_person_lifted_for_this_attribute_stays_lifted() -> None:
    assert await judged(finding(), lifted=(f"SEN-X {ADDRESS} {ATTRIBUTE}",)) == []
    assert await judged(finding(), lifted=(f"SEN-X {ADDRESS}", f"SEN-X {ADDRESS} max_size")) == [ATTRIBUTE]
    assert await judged(finding(verdict=Verdict.DENY), lifted=(f"SEN-X {ADDRESS} {ATTRIBUTE}",)) == [ATTRIBUTE]


async def test_an_opinion_without_findings_stays_one() -> None:
    """The chain denies then."""
    assert await judged() == []
