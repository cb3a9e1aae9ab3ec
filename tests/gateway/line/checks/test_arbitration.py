"""The arbitration check, with the shipped bundle and with invalid answers."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Mutation
from gateway.core.model.verdict import Mode, Verdict
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.sources import shipped
from tests.kit import nouns

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
INCIDENT = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("ALERT-1",))
BUDGET = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
EFFECT = nouns.effect("aws_autoscaling_group.kafka", "desired_capacity", 3)


def mutation(actor: str, kind: ActorKind, motive: Motive | None) -> Mutation:
    call = Call(service="autoscaling", operation="SetDesiredCapacity")
    caller = Caller(actor=actor, kind=kind, key_id="k")
    return nouns.mutation(EFFECT, caller=caller, call=call, motive=motive)


def facts(motive: Motive | None) -> Facts:
    """Facts with one open claim, by the agent `rescuer`, for another hour."""
    claim = nouns.claim(
        EFFECT.address,
        EFFECT.attribute,
        6,
        actor="rescuer",
        motive=motive,
        since=NOW - timedelta(hours=1),
        until=NOW + timedelta(hours=1),
    )
    subject = nouns.subject(EFFECT, 6, 4)
    standing = StandingClaim(claim=claim, relation=Relation.SAME)
    return Facts(now=NOW, stack="kafka", mode=Mode.ENFORCE, subjects=(subject,), claims=(standing,))


@pytest.fixture
async def arbitration() -> AsyncIterator[ArbitrationCheck]:
    engine = Embedded(read_bundle(shipped() / SHIPPED), deadline_ms=1000, memory_mb=64)
    yield ArbitrationCheck(engine)
    await engine.close()


@pytest.mark.parametrize(
    ("kind", "motive"), [(ActorKind.AGENT, BUDGET), (ActorKind.HUMAN, BUDGET), (ActorKind.PIPELINE, ROUTINE), (ActorKind.HUMAN, None)]
)  # fmt: skip
async def test_a_live_incident_is_not_undone(
    arbitration: ArbitrationCheck, kind: ActorKind, motive: Motive | None
) -> None:
    opinion = await arbitration.examine(mutation("other", kind, motive), facts(INCIDENT))
    (found,) = opinion.findings
    assert (found.verdict, found.rule) == (Verdict.DENY, "SEN-A001")
    assert ("rescuer for availability/incident" in found.reason) == (kind is not ActorKind.AGENT)
    assert found.offer is not None
    assert (found.offer.holder, found.offer.retry_after) == ("rescuer", NOW + timedelta(hours=1))
    assert opinion.supersedes == ()


async def test_the_stronger_motive_supersedes_and_gets_a_time_limit(arbitration: ArbitrationCheck) -> None:
    opinion = await arbitration.examine(mutation("other", ActorKind.AGENT, INCIDENT), facts(ROUTINE))
    assert [finding.verdict for finding in opinion.findings] == [Verdict.ALLOW]
    assert opinion.supersedes == ("clm_1",)
    assert opinion.obligations == {"claim_seconds": 14400, "claims_limit": 50}
    assert len(opinion.bundle) == 64


async def test_equal_motives_are_held(arbitration: ArbitrationCheck) -> None:
    opinion = await arbitration.examine(mutation("other", ActorKind.AGENT, INCIDENT), facts(INCIDENT))
    assert [(finding.verdict, finding.rule) for finding in opinion.findings] == [(Verdict.HOLD, "SEN-A002")]


async def test_the_claim_of_a_close_call_ends_if_a_human_approves(arbitration: ArbitrationCheck) -> None:
    opinion = await arbitration.examine(mutation("other", ActorKind.AGENT, INCIDENT), facts(INCIDENT))
    assert (opinion.supersedes, opinion.on_approval) == ((), ("clm_1",))


async def test_a_valid_answer_is_taken() -> None:
    opinion = await ArbitrationCheck(Answers(GOOD)).examine(
        mutation("other", ActorKind.AGENT, INCIDENT), facts(ROUTINE)
    )
    assert opinion.obligations == LIMITS


async def test_the_holder_of_a_claim_may_change_its_value(arbitration: ArbitrationCheck) -> None:
    opinion = await arbitration.examine(mutation("rescuer", ActorKind.AGENT, BUDGET), facts(INCIDENT))
    assert [finding.verdict for finding in opinion.findings] == [Verdict.ALLOW]
    assert opinion.supersedes == ("clm_1",)


LIMITS: dict[str, Json] = {"claim_seconds": 60, "claims_limit": 5}
GOOD: dict[str, Json] = {
    "evaluated": True, "findings": [], "supersedes": [], "on_approval": [], "obligations": LIMITS
}  # fmt: skip


class Answers:
    """An engine that gives one answer."""

    revision = "r1"
    flip_window = timedelta(days=1)

    def __init__(self, answer: Json) -> None:
        self._answer = answer

    async def ask(self, entrypoint: str, document: Json) -> Json:
        return self._answer


@pytest.mark.parametrize(
    "answer",
    [
        None, {}, [], {**GOOD, "more": 1}, {**GOOD, "evaluated": False}, {**GOOD, "evaluated": 1}, {**GOOD, "findings": None}, {**GOOD, "supersedes": ["clm_unseen"]},
        {**GOOD, "supersedes": [1]}, {**GOOD, "supersedes": "clm_1"}, {**GOOD, "obligations": {}}, {**GOOD, "obligations": None}, {**GOOD, "obligations": {**LIMITS, "claim_seconds": 0}},
        {**GOOD, "obligations": {**LIMITS, "claim_seconds": "1"}}, {**GOOD, "obligations": {**LIMITS, "claim_seconds": True}}, {**GOOD, "obligations": {**LIMITS, "more": 1}},
        {**GOOD, "obligations": {"claim_seconds": 1}}, {**GOOD, "obligations": {**LIMITS, "claims_limit": 0}}, {**GOOD, "obligations": {**LIMITS, "claims_limit": None}},
        {**GOOD, "on_approval": ["clm_unseen"]}, {**GOOD, "on_approval": None},
    ],
)  # fmt: skip
async def test_an_invalid_answer_raises(answer: Json) -> None:
    with pytest.raises(PolicyUnavailable):
        await ArbitrationCheck(Answers(answer)).examine(mutation("other", ActorKind.AGENT, INCIDENT), facts(ROUTINE))
