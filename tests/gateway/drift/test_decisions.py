"""Policy decides about each change from outside, once; without an answer a human must."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.drift_book import DriftAction
from gateway.core.errors import NotAllowed, NotFound, PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import Json
from gateway.core.model.verdict import Mode
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings import PolicySettings
from gateway.core.times import SystemClock
from gateway.drift.decisions import ENTRYPOINT, NO_ANSWER, DriftDecisions
from gateway.ledger.ledger import SqlLedger
from gateway.policy.engine import open_engine
from gateway.terraform.stacks import Stacks
from tests.kit.bodies import sample_record
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import KEYS

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ANN = Caller(actor="ann", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("approver",))
GOOD: dict[str, Json] = {"evaluated": True, "action": "codify", "rule": "R1", "message": "Fine."}


@dataclass
class Policies:
    """A policy engine that says one thing, and notes what it was shown."""

    says: Json = field(default_factory=lambda: GOOD)
    shown: list[Any] = field(default_factory=list)
    revision: str = "b1"
    flip_window: timedelta = timedelta(days=1)

    async def ask(self, entrypoint: str, document: Json) -> Json:
        assert entrypoint == ENTRYPOINT
        self.shown.append(document)
        if self.says is None:
            raise PolicyUnavailable("The policies took too long.")
        return self.says


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    opened = await SqlLedger.open(f"sqlite:///{tmp_path}/ledger.db", KEYS)
    yield opened
    await opened.close()


def _watch(ledger: SqlLedger, policies: Any) -> DriftDecisions:
    stacks = Stacks((), default_mode=Mode.ENFORCE)
    return DriftDecisions(queries=ledger, events=ledger, stacks=stacks, policy=policies, clock=SystemClock())


async def _drifted(ledger: SqlLedger, drift: Any = "fgn_1", **more: Json) -> None:
    body: dict[str, Json] = {"address": "aws_sqs_queue.a", "attribute": "delay_seconds", "resource_type": "aws_sqs_queue", "live": 5, "declared": 0, "origin": {"actor": "bob", "event": "sqs:SetQueueAttributes", "at": NOW.isoformat(), "service": False}}  # fmt: skip
    await ledger.record_event(
        sample_record(stage=Stage.DRIFTED, at=NOW, mutation_id=drift, stack="shop", body={**body, **more})
    )


async def _decisions(ledger: SqlLedger) -> list[Mapping[str, Json]]:
    return [
        record.body.members
        for record in await ledger.records(RecordQuery(stage=Stage.DRIFT_DECIDED, newest_first=False))
    ]


async def test_it_is_decided_once_with_the_claims_in_sight(ledger: SqlLedger) -> None:
    policies = Policies()
    await record_mutation(
        ledger, [(effect("aws_sqs_queue.a", "delay_seconds", 3), 0), (effect("aws_sqs_queue.a", "policy", "x"), "")]
    )
    await _drifted(ledger)
    for watch in (_watch(ledger, policies), _watch(ledger, policies)):
        await watch.follow()
        await watch.follow()
    [decision] = await _decisions(ledger)
    assert (decision["action"], decision["rule"], decision["reason"], decision["bundle"]) == (
        "codify",
        "R1",
        "Fine.",
        "b1",
    )
    [document] = policies.shown
    assert [(claim["attribute"], claim["value"]) for claim in document["claims"]] == [("delay_seconds", 3)]
    assert document["drift"]["origin"]["at_ns"] == 1767312000 * 10**9
    assert document["contract"]["critical"] is False


@pytest.mark.parametrize(
    "says",
    [
        None,
        {},
        [],
        {**GOOD, "action": "teleport"},
        {**GOOD, "evaluated": False},
        {**GOOD, "rule": 3},
        {**GOOD, "more": 1},
    ],
)
async def test_without_an_answer_a_human_must_decide(ledger: SqlLedger, says: Json) -> None:
    await _drifted(ledger)
    watch = _watch(ledger, Policies(says=says))
    await watch.follow()
    [decision] = await _decisions(ledger)
    assert (decision["action"], decision["rule"]) == ("human", NO_ANSWER)


@pytest.mark.parametrize("origin", [{"actor": "bob"}, {"at": "2026-01-02T00:00:00"}, {"at": "soon"}])
async def test_a_change_that_policy_cannot_be_shown_goes_to_a_human_and_holds_up_no_other(
    ledger: SqlLedger, origin: Json
) -> None:
    await _drifted(ledger, origin=origin)
    await _drifted(ledger, drift="fgn_2")
    await _watch(ledger, Policies()).follow()
    assert [decision["action"] for decision in await _decisions(ledger)] == ["human", "codify"]


async def test_a_quarantine_stands_until_a_human_decides(ledger: SqlLedger) -> None:
    await _drifted(ledger)
    watch = _watch(ledger, Policies(says={"evaluated": True, "action": "quarantine", "rule": "R2", "message": "Odd."}))
    await watch.follow()
    assert "fgn_1" in watch.quarantined("aws_sqs_queue.a")
    assert "fgn_1" in watch.quarantined("shop:aws_sqs_queue.a")
    assert watch.quarantined("other:aws_sqs_queue.a") == ""
    assert watch.quarantined("aws_sqs_queue.b") == ""
    decided = await watch.decide("fgn_1", DriftAction.REVERT, caller=ANN, reason="Not ours.")
    assert (decided.decided_by, decided.waits) == ("ann", True)
    assert watch.quarantined("aws_sqs_queue.a") == ""
    assert [decision["action"] for decision in await _decisions(ledger)] == ["quarantine", "revert"]


async def test_only_an_approver_decides_and_only_about_what_is_open(ledger: SqlLedger) -> None:
    watch = _watch(ledger, Policies())
    with pytest.raises(NotFound):
        await watch.decide("fgn_1", DriftAction.LEAVE, caller=ANN, reason="x")
    agent = Caller(actor="a", kind=ActorKind.AGENT, key_id="SNTL1", roles=("approver",))
    await _drifted(ledger)
    with pytest.raises(NotAllowed):
        await watch.decide("fgn_1", DriftAction.LEAVE, caller=agent, reason="x")


@pytest.mark.parametrize(
    ("more", "action", "rule"),
    [
        ({}, "codify", "SEN-F010"),
        ({"sensitive": True, "live": None}, "human", "SEN-F001"),
        ({"origin": None, "resource_type": "aws_security_group"}, "revert", "SEN-F009"),
        ({"resource_type": "aws_iam_role"}, "human", "SEN-F008"),
        ({"attribute": "*", "live": {"created": "arn:s", "adopt": True, "of": "aws_sns_topic.a"}}, "codify", "SEN-F013"),
        ({"attribute": "*", "live": {"created": "arn:s", "adopt": False, "why": "It belongs to nothing."}}, "human", "SEN-F005"),
        ({"origin": {"actor": "autoscaling.amazonaws.com", "event": "x:Y", "at": NOW.isoformat(), "service": True}}, "leave", "SEN-F004"),
    ],
)  # fmt: skip
async def test_the_shipped_policies_answer(
    ledger: SqlLedger, tmp_path: Path, more: dict[str, Json], action: str, rule: str
) -> None:
    engine = await open_engine(PolicySettings(), tmp_path)
    try:
        await _drifted(ledger, **more)
        await _watch(ledger, engine).follow()
        [decision] = await _decisions(ledger)
        assert (decision["action"], decision["rule"]) == (action, rule)
    finally:
        await engine.close()
