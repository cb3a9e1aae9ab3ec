"""A refusal in favour of a standing claim names the ways out that exist for this caller, and no other."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, ConflictClass, Relation, StandingClaim
from gateway.core.model.facts import Facts
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.signal import MotiveProof
from gateway.core.model.verdict import CounterOffer, Finding, Mode, Verdict
from gateway.line.checks.cures import with_cures
from tests.kit import nouns

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
BUDGET = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
EFFECT = nouns.effect("aws_autoscaling_group.kafka", "desired_capacity", 3)
CLAIM = nouns.claim(EFFECT.address, EFFECT.attribute, 6, actor="rescuer", mutation_id="mut_theirs")
PROPOSED = replace(CLAIM, branch="sentinel/prod", commit="515e2fe0000000000")
DENIED = Finding(
    check="arbitration",
    verdict=Verdict.DENY,
    rule="SEN-A001",
    reason="It is held.",
    address=EFFECT.address,
    attribute=EFFECT.attribute,
    offer=CounterOffer(holder="rescuer"),
    conflict=ConflictClass.DIRECT,
)
MERGE = "Its value is proposed in commit 515e2fe on sentinel/prod: merge it, and the claim ends."
OTHERS = "rescuer, or a person with the role `approver`, may end that claim: `sentinel release mut_theirs`."


def facts(claim: Claim = CLAIM, *, checked: bool = False) -> Facts:
    standing = StandingClaim(claim=claim, relation=Relation.SAME)
    proof = MotiveProof(checked=frozenset({Motivation.BUDGET}) if checked else frozenset())
    subject = nouns.subject(EFFECT, 6, 4)
    return Facts(now=NOW, stack="prod", mode=Mode.ENFORCE, subjects=(subject,), claims=(standing,), proof=proof)


def reason(caller: Caller, motive: Motive | None, given: Facts, found: Finding = DENIED) -> str:
    return with_cures(found, nouns.mutation(EFFECT, caller=caller, motive=motive), given).reason


def person(*roles: str, behalf: str = "", kind: ActorKind = ActorKind.HUMAN) -> Caller:
    return Caller(actor="ana", kind=kind, key_id="k", roles=roles, on_behalf_of=behalf)


@pytest.mark.parametrize(
    ("caller", "says"),
    [
        (person(), [OTHERS, MERGE]),
        (person(kind=ActorKind.PIPELINE), [OTHERS, MERGE]),
        (person("approver"), ["You may end that claim: `sentinel release mut_theirs`.", MERGE]),
        (person(behalf="rescuer"), ["You hold it: `sentinel release mut_theirs` ends the claim.", MERGE]),
        (person(kind=ActorKind.AGENT), []),
        (person("approver", kind=ActorKind.AGENT), []),
    ],
)
def test_the_cures_are_those_that_the_caller_has(caller: Caller, says: list[str]) -> None:
    assert reason(caller, BUDGET, facts(PROPOSED)) == " ".join(["It is held.", *says])


def test_a_change_without_a_motive_is_told_to_state_one() -> None:
    assert "state a motive (`sentinel session" in reason(person(), None, facts())
    assert "state a motive (`sentinel session" in reason(person(kind=ActorKind.AGENT), None, facts())
    assert "motive" not in reason(person(), BUDGET, facts())


def test_an_unproven_motive_is_told_to_name_evidence() -> None:
    assert "name as evidence an open signal" in reason(person(), BUDGET, facts(checked=True))


def test_what_no_commit_proposes_cannot_be_merged() -> None:
    assert "merge" not in reason(person(), BUDGET, facts())


@pytest.mark.parametrize(
    "found",
    [
        replace(DENIED, verdict=Verdict.HOLD),
        replace(DENIED, conflict=None),
        replace(DENIED, offer=CounterOffer(holder="another")),
        replace(DENIED, offer=None),
    ],
)
def test_any_other_finding_stays_as_it_is(found: Finding) -> None:
    assert reason(person("approver"), None, facts(PROPOSED), found) == "It is held."


def test_an_unsettled_claim_is_waited_for() -> None:
    assert reason(person("approver"), BUDGET, facts(replace(CLAIM, unsettled=True))) == "It is held."
