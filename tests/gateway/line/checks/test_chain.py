"""The chain: every check runs, one that raises or finds nothing denies, and an observed change supersedes the claims on it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.facts import Approval, Facts
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Finding, Mode, Verdict
from gateway.line.checks.chain import CheckChain, Opinion, passed
from tests.kit import nouns

NOW = datetime(2026, 11, 21, tzinfo=UTC)
MUTATION = nouns.mutation()
FACTS = Facts(now=NOW, stack="s", mode=Mode.ENFORCE, subjects=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """A check that returns a given opinion or raises a given error."""

    name: str
    opinion: Opinion | None = None

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        if self.opinion is None:
            raise RuntimeError("secret detail")
        return self.opinion


def _opinion(verdict: Verdict, name: str = "c", **more: tuple[str, ...]) -> Opinion:
    return Opinion(findings=(Finding(check=name, verdict=verdict, rule=f"{name}.r", reason="So."),), **more)  # type: ignore[arg-type]  # test data


def _claim(identity: str, relation: Relation) -> StandingClaim:
    claim = nouns.claim("a", "x", 1, id=identity, since=NOW)
    return StandingClaim(claim=claim, relation=relation)


def test_a_chain_without_checks_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="needs checks"):
        CheckChain([])


def test_two_checks_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different names"):
        CheckChain([Says(name="a"), Says(name="a")])


async def test_all_checks_run_even_after_a_denial() -> None:
    chain = CheckChain(
        [Says(name="a", opinion=_opinion(Verdict.DENY, "a")), Says(name="b", opinion=_opinion(Verdict.HOLD, "b"))]
    )
    decision = await chain.decide(MUTATION, FACTS)
    assert [finding.check for finding in decision.findings] == ["a", "b"]
    assert decision.verdict is Verdict.DENY


async def test_a_check_that_raises_denies_and_reveals_nothing() -> None:
    decision = await CheckChain([Says(name="a", opinion=_opinion(Verdict.ALLOW)), Says(name="b")]).decide(
        MUTATION, FACTS
    )
    assert decision.verdict is Verdict.DENY
    assert decision.findings[1].rule == "b.broke"
    assert "secret detail" not in decision.findings[1].reason


async def test_a_check_without_findings_denies() -> None:
    decision = await CheckChain([Says(name="a", opinion=Opinion(findings=()))]).decide(MUTATION, FACTS)
    assert (decision.verdict, decision.findings[0].rule) == (Verdict.DENY, "a.silent")


async def test_an_approval_lifts_the_hold_it_was_given_for_and_ends_the_contested_claims() -> None:
    chain = CheckChain([Says(name="a", opinion=_opinion(Verdict.HOLD, on_approval=("clm_2",), supersedes=("clm_1",)))])
    held = await chain.decide(MUTATION, FACTS)
    assert (held.verdict, held.approval, held.supersedes) == (Verdict.HOLD, "", ("clm_1",))
    approval = Approval(id="apr_1", mutation_id="m", approver="h", until=NOW, binding=held.binding)
    decision = await chain.decide(MUTATION, replace(FACTS, approval=approval))
    assert (decision.verdict, decision.approval) == (Verdict.ALLOW, "apr_1")
    assert decision.supersedes == ("clm_1", "clm_2")


async def test_observing_supersedes_the_claims_on_what_it_changes_and_no_others() -> None:
    claims = (_claim("clm_same", Relation.SAME), _claim("clm_other", Relation.RESOURCE))
    facts = Facts(now=NOW, stack="s", mode=Mode.OBSERVE, subjects=(), claims=claims)
    decision = await CheckChain([Says(name="a", opinion=_opinion(Verdict.DENY))]).decide(MUTATION, facts)
    assert decision.supersedes == ("clm_same",)


async def test_opinions_are_joined() -> None:
    first = Opinion(
        findings=_opinion(Verdict.ALLOW).findings, supersedes=("clm_2",), obligations={"claim_seconds": 60}, bundle="b1"
    )
    second = Opinion(findings=_opinion(Verdict.ALLOW).findings, supersedes=("clm_1", "clm_2"))
    decision = await CheckChain([Says(name="a", opinion=first), Says(name="b", opinion=second)]).decide(MUTATION, FACTS)
    assert decision.supersedes == ("clm_1", "clm_2")
    assert (decision.obligations, decision.bundle) == ({"claim_seconds": 60}, "b1")


def test_passed_is_one_finding_that_allows() -> None:
    (finding,) = passed(Says(name="a")).findings
    assert (finding.check, finding.verdict) == ("a", Verdict.ALLOW)
