"""Claims whose value is live no more are found, whoever undid them, recorded once, and shown to their holder."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import UndoneBy
from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger
from gateway.presentation.explanation import explanation_of
from gateway.presentation.serialize import claim_to_json
from reconciler.drift.implicit_conflicts import ImplicitConflicts
from reconciler.errors import TerraformFailed
from reconciler.model import DriftOrigin
from reconciler.terraform.refresh import Refreshed

Apply = Callable[..., Awaitable[str]]
GROUP, QUEUE = "aws_autoscaling_group.web", "aws_sqs_queue.a"
ORIGIN = DriftOrigin(
    actor="arn:aws:iam::1:user/bob", event="autoscaling:SetDesiredCapacity", at=datetime(2026, 1, 1, tzinfo=UTC), event_id="e"
)  # fmt: skip


@dataclass
class Later:
    """A clock some time ahead: AWS shows every change by then."""

    ahead: timedelta = timedelta(minutes=10)

    def now(self) -> datetime:
        """The time, later."""
        return datetime.now(UTC) + self.ahead


@dataclass
class Sky:
    """What is live, and how often it was read."""

    objects: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    reads: list[list[str]] = field(default_factory=list)
    broken: bool = False

    async def read(self, targets: list[str]) -> Refreshed:
        """The live attributes of these."""
        self.reads.append(targets)
        if self.broken:
            raise TerraformFailed.saying("plan", "no credentials")
        return Refreshed(read=frozenset(targets) - self.unread, objects=self.objects)


@pytest.fixture
def sky() -> Sky:
    return Sky()


@pytest.fixture
def watch(ledger: SqlLedger, sky: Sky) -> ImplicitConflicts:
    return ImplicitConflicts(stack="shop", ledger=ledger, queries=ledger, clock=Later(), read_live=sky.read)


async def _claim(ledger: SqlLedger) -> Any:
    [claim] = await ledger.claims()
    return claim


async def test_a_value_that_went_back_to_the_code_is_found_and_shown(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    mutation = await applied((GROUP, "desired_capacity", 4, 10))
    sky.objects[GROUP] = {"desired_capacity": 4}
    claim = await _claim(ledger)
    assert await watch.look({(GROUP, "desired_capacity"): ORIGIN}) == [claim.id]
    undone = (await _claim(ledger)).undone
    assert (undone.live, undone.by) == (4, UndoneBy(actor=ORIGIN.actor, event=ORIGIN.event))
    shown = claim_to_json(await _claim(ledger))["undone"]
    assert (shown["conflict"], shown["live"]) == ("implicit", 4)
    records = await ledger.records(RecordQuery(mutation_id=mutation, newest_first=False))
    assert records[-1].stage is Stage.UNDONE
    text = explanation_of(records, sees_all=False)["text"]
    assert "What it set is undone: desired_capacity of aws_autoscaling_group.web was found to be 4" in text
    assert "(implicit conflict). CloudTrail names arn:aws:iam::1:user/bob" in text
    blame = await ledger.blame(GROUP, "desired_capacity")
    assert blame is not None
    assert isinstance(blame.undone, dict)
    assert blame.undone["live"] == 4
    await ledger.verify()


async def test_it_is_recorded_once_and_again_when_the_value_is_back(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    await applied((GROUP, "desired_capacity", 4, 10))
    seen = []
    for live in (10, 4, 4, 3, 10, 10):
        sky.objects[GROUP] = {"desired_capacity": live}
        seen.append(len(await watch.look({})))
    assert seen == [0, 1, 0, 1, 1, 0]
    assert (await _claim(ledger)).undone is None
    told = [record.body.members["stands"] for record in await ledger.records(RecordQuery(stage=Stage.UNDONE))]
    assert told == [True, False, False]
    await ledger.verify()


async def test_a_later_change_of_the_resource_through_sentinel_is_named(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    await applied((GROUP, "desired_capacity", 4, 10))
    later = await applied((GROUP, "max_size", 16, 6))
    sky.objects[GROUP] = {"desired_capacity": 6, "max_size": 6}
    await watch.look({})
    by = {claim.attribute: claim.undone for claim in await ledger.claims()}
    assert by["max_size"] is None
    undone = by["desired_capacity"]
    assert undone is not None
    assert undone.by == UndoneBy(actor="agent-scaler", mutation_id=later)


async def test_a_resource_that_is_gone_undoes_its_claims(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    await applied((QUEUE, "delay_seconds", 0, 5))
    assert len(await watch.look({})) == 1
    undone = (await _claim(ledger)).undone
    assert (undone.live, undone.by) == (None, None)


async def test_nothing_is_concluded_from_what_shows_nothing(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    await applied((QUEUE, "delay_seconds", 0, 5))
    sky.unread.add(QUEUE)
    assert not await watch.look({})
    sky.broken = True
    assert not await watch.look({})
    early = ImplicitConflicts(stack="shop", ledger=ledger, queries=ledger, clock=Later(timedelta()), read_live=sky.read)
    assert not await early.look({})
    other = ImplicitConflicts(stack="other", ledger=ledger, queries=ledger, clock=Later(), read_live=sky.read)
    assert not await other.look({})
    assert len(sky.reads) == 2
    assert (await _claim(ledger)).undone is None


async def test_a_claim_in_flight_is_not_compared(watch: ImplicitConflicts, sky: Sky, applied: Apply) -> None:
    await applied((QUEUE, "delay_seconds", 0, 5), settle=False)
    assert not await watch.look({})
    assert sky.reads == []


async def test_a_value_that_aws_sets_later_is_not_undone(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    database = "aws_db_instance.orders"
    await applied((database, "instance_class", "db.m6g.large", "db.m6g.xlarge"))
    sky.objects[database] = {"instance_class": "db.m6g.large"}
    assert not await watch.look({})
    sky.objects[database] = {"instance_class": "db.t3.micro"}
    assert len(await watch.look({})) == 1


async def test_secrets_and_long_values_are_not_recorded(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    await applied((QUEUE, "policy", "a", "b"))
    for live in ("x" * 5_000, '{"password": "hunter2"}'):
        sky.objects[QUEUE] = {"policy": live}
        await watch.look({})
        assert live[:20] not in str([record.body for record in await ledger.records(RecordQuery(stage=Stage.UNDONE))])
    assert (await _claim(ledger)).undone.live is None


async def test_mutations_are_read_once_and_forgotten_with_their_claims(
    watch: ImplicitConflicts, sky: Sky, ledger: SqlLedger, applied: Apply
) -> None:
    first = await applied((QUEUE, "delay_seconds", 0, 5))
    sky.objects[QUEUE] = {"delay_seconds": 5}
    await watch.look({})
    known = watch.decided[first]
    await watch.look({})
    assert watch.decided[first] is known
    human = Caller(actor="ann", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("approver",))
    await ledger.release(first, caller=human, at=datetime.now(UTC))
    await watch.look({})
    assert watch.decided == {}
