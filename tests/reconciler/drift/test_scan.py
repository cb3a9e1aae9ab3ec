"""Changes from outside are found, recorded once, and what was decided is carried out once, whatever is killed in between."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.drift_book import ForeignDrift
from gateway.core.errors import Stopped
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import Json
from gateway.core.model.stop import StopScope
from gateway.core.ports import RecordQuery
from gateway.core.records.drift import DriftSettledBody
from gateway.core.records.record import Record, Stage
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.applied_mutation import AppliedMutation, mutation_of_drift
from reconciler.changes.backlog import Backlog
from reconciler.changes.cloudtrail import Event
from reconciler.changes.event_sources import EventSources
from reconciler.changes.outside_changes import OutsideChange
from reconciler.drift.healing import Healer
from reconciler.drift.implicit_conflicts import ImplicitConflicts
from reconciler.drift.scan import DriftScan
from reconciler.errors import TerraformFailed
from reconciler.line.loop import Beside, Line
from reconciler.line.proposal import Proposal, WrittenBack
from reconciler.model import DriftOrigin, Left, Wanted
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.publish.pull_request_text import comments_of
from reconciler.publish.write_backs import WriteBacks
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan
from reconciler.terraform.refresh import Refreshed
from reconciler.workflows import Worker, durable
from tests.kit.bodies import sample_part, sample_record, written_back
from tests.reconciler.drift.test_implicit_conflicts import Later

Apply = Callable[..., Awaitable[str]]
QUEUE = "aws_sqs_queue.a"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeLine(Line):
    """The line without git and terraform: what is live, and what would be proposed."""

    live: dict[str, Json] = field(default_factory=dict)
    """By attribute of the queue, where it differs from the declared 0."""
    plans: list[int] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    committed: list[str] = field(default_factory=list)
    """The commits that an earlier run made."""
    broken: list[str] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    one_change: set[str] = field(default_factory=set)
    """What is one change with what is written back."""

    async def plan_protected(self) -> TerraformPlan | None:
        self.plans.append(1)
        if self.broken:
            raise TerraformFailed.saying("plan", self.broken[0])
        if not self.live:
            return None
        declared = dict.fromkeys(self.live, 0)
        entry = {"address": QUEUE, "mode": "managed"}
        planned = {
            "actions": ["update"],
            "before": {**self.live, "name": "orders"},
            "after": {**declared, "name": "orders"},
        }
        drift = {"actions": ["update"], "before": declared, "after": self.live}
        return read_plan(
            {"resource_changes": [{**entry, "change": planned}], "resource_drift": [{**entry, "change": drift}]}
        )

    async def prove(self, applied: AppliedMutation, backlog: Backlog, beside: Beside | None = None) -> Proposal:
        self.proved.append(applied.id)
        self.beside.append(beside or Beside())
        wanted = Wanted(address=QUEUE, attribute=applied.effects[0].attribute, value=applied.effects[0].value)
        return Proposal(left=tuple(Left(wanted=wanted, reason=reason) for reason in self.stuck))

    async def publish(
        self, applied: AppliedMutation, backlog: Backlog, proposal: Proposal, beside: Beside | None = None
    ) -> WrittenBack:
        if proposal.left:
            return proposal.written_back(branch=self.branch, commit="", diff="")
        edits: list[Json] = [] if self.committed else [{"address": each.address} for each in applied.effects]
        body = written_back({"commit": "c0ffee", "files": ["main.tf"], "edits": edits})
        together = () if beside is None else beside.changes
        return WrittenBack(body=body, beside={each.id: body for each in together if each.id in self.one_change})


class FakeSources(EventSources):
    """Events from memory."""

    events: tuple[Event, ...] = ()
    acknowledged = 0

    async def since(self, at: datetime) -> tuple[Event, ...]:
        return self.events

    async def done(self) -> None:
        self.acknowledged += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeHealer(Healer):
    """Notes what it is asked to heal."""

    healed: list[str] = field(default_factory=list)

    async def heal(self, drift: ForeignDrift) -> DriftSettledBody:
        self.healed.append(drift.id)
        members = {"outcome": "reverted", "reason": "Set back.", "healing": {"action": "revert_drift"}}
        return sample_part(DriftSettledBody, members)


@pytest.fixture
def drifting(ledger: SqlLedger, tmp_path: Path) -> DriftScan:
    terraform = Terraform(environment={}, workdir=tmp_path)
    line = FakeLine(
        stack="shop", source=tmp_path, state=None, branch="sentinel/shop", worktree=tmp_path / "worktree",
        terraform=terraform, queries=ledger, commands=ledger, clock=SystemClock(), declared_cache=DeclaredCache(),
    )  # fmt: skip

    async def root() -> Path:
        return tmp_path

    healer = FakeHealer(terraform=terraform, state=None, open_root=root, directory=tmp_path)
    return DriftScan(
        line=line,
        backlog=Backlog(stack="shop"),
        events=ledger,
        stops=ledger,
        every_seconds=3600,
        sources=FakeSources(),
        healer=healer,
    )


def _line(drifting: DriftScan) -> FakeLine:
    assert isinstance(drifting.line, FakeLine)
    return drifting.line


async def _records(ledger: SqlLedger, stage: Stage) -> list[Record]:
    return list(await ledger.records(RecordQuery(stage=stage, newest_first=False)))


async def _decide(ledger: SqlLedger, action: str, actor: str = "") -> str:
    drift = (await _records(ledger, Stage.DRIFTED))[-1].mutation_id
    body: Mapping[str, Json] = {"action": action, "rule": "R1", "reason": "Because."}
    record = sample_record(stage=Stage.DRIFT_DECIDED, at=NOW, mutation_id=drift, actor=actor, stack="shop", body=body)
    await ledger.record_event(record, repeat=True)
    return drift


async def test_it_is_recorded_once_with_who_did_it(drifting: DriftScan, ledger: SqlLedger) -> None:
    origin = DriftOrigin(actor="arn:aws:iam::1:user/bob", event="sqs:SetQueueAttributes", at=NOW, event_id="e1")
    assert isinstance(drifting.sources, FakeSources)
    drifting.sources.events = (Event(origin=origin, names=frozenset({"orders"}), keys=frozenset({"delayseconds"})),)
    _line(drifting).live["delay_seconds"] = 5
    assert [await drifting.scan() for _ in range(2)] == [1, 1]
    [record] = await _records(ledger, Stage.DRIFTED)
    assert (record.actor, record.stack) == ("arn:aws:iam::1:user/bob", "shop")
    assert (record.body.members["live"], record.body.members["declared"]) == (5, 0)
    assert record.body.members["origin"] == {
        "actor": origin.actor,
        "event": origin.event,
        "at": NOW.isoformat(),
        "event_id": "e1",
        "service": False,
    }
    assert drifting.sources.acknowledged == 2
    assert [found.seq for found in await ledger.records(RecordQuery(resource=QUEUE))] == [record.seq]
    assert await ledger.verify() == 1


async def test_claimed_values_are_compared_with_what_is_live_after_each_look(
    drifting: DriftScan, ledger: SqlLedger, applied: Apply
) -> None:
    async def read(targets: list[str]) -> Refreshed:
        return Refreshed(read=frozenset(targets), objects={QUEUE: {"delay_seconds": 0}})

    drifting.claimed = ImplicitConflicts(stack="shop", ledger=ledger, queries=ledger, clock=Later(), read_live=read)
    await applied((QUEUE, "delay_seconds", 0, 5))
    assert await drifting.scan() == 0, "live is as the code declares it"
    [claim] = await ledger.claims()
    assert claim.undone is not None
    assert claim.undone.live == 0


async def test_looks_are_recorded_at_most_once_an_hour_also_those_that_find_nothing(
    drifting: DriftScan, ledger: SqlLedger
) -> None:
    _line(drifting).live.clear()
    await drifting.scan()
    await drifting.scan()
    [look] = await _records(ledger, Stage.DRIFT_LOOKED)
    assert (look.stack, look.body.members) == ("shop", {"found": 0})


async def test_what_is_right_again_is_gone_and_may_come_again(drifting: DriftScan, ledger: SqlLedger) -> None:
    for live in ({"delay_seconds": 5}, {}, {"delay_seconds": 5}):
        _line(drifting).live.clear()
        _line(drifting).live.update(live)
        await drifting.scan()
    assert len({record.mutation_id for record in await _records(ledger, Stage.DRIFTED)}) == 2
    assert [record.body.members["outcome"] for record in await _records(ledger, Stage.DRIFT_SETTLED)] == ["gone"]


async def test_a_secret_is_recorded_without_its_value(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).live["password"] = "hunter2"
    await drifting.scan()
    [record] = await _records(ledger, Stage.DRIFTED)
    assert record.body.members["sensitive"] is True
    assert "hunter2" not in str(record.body)


async def test_what_a_mutation_may_be_setting_is_neither_found_nor_gone(
    drifting: DriftScan, ledger: SqlLedger, applied: Apply
) -> None:
    _line(drifting).live["delay_seconds"] = 5
    await drifting.scan()
    await applied((QUEUE, "delay_seconds", 5, 0), settle=False)
    _line(drifting).live.clear()
    await drifting.scan()
    assert await _records(ledger, Stage.DRIFT_SETTLED) == []


async def test_a_plan_that_fails_concludes_nothing(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).live["delay_seconds"] = 5
    await drifting.scan()
    _line(drifting).broken.append("no credentials")
    with pytest.raises(TerraformFailed):
        await drifting.scan()
    assert await _records(ledger, Stage.DRIFT_SETTLED) == []


async def test_codify_is_proposed_for_the_code_with_its_story(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).live["delay_seconds"] = 5
    await drifting.scan()
    drift = await _decide(ledger, "codify")
    [waiting] = await drifting.follow()
    assert waiting.id == drift
    await drifting.carry_out(drift)
    assert await drifting.carry_out(drift) == {}, "once"
    [settled] = await _records(ledger, Stage.DRIFT_SETTLED)
    assert (settled.body.members["outcome"], settled.body.members["commit"]) == ("codified", "c0ffee")
    assert await drifting.follow() == ()
    assert drifting.backlog.commits == {"c0ffee"}
    await drifting.scan()
    assert len(await _records(ledger, Stage.DRIFTED)) == 1, "it is the same until the code is merged"
    story = await WriteBacks(queries=ledger, backlog=drifting.backlog).of(drift)
    [comment] = comments_of([story])
    assert story.commit == "c0ffee"
    assert "changed from outside" in comment


async def test_what_no_edit_can_express_is_left_to_a_human(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).live["delay_seconds"] = 5
    _line(drifting).stuck.append("No edit can express it.")
    await drifting.scan()
    drift = await _decide(ledger, "codify")
    await drifting.carry_out(drift)
    [settled] = await _records(ledger, Stage.DRIFT_SETTLED)
    assert (settled.body.members["outcome"], settled.body.members["reason"]) == ("failed", "No edit can express it.")
    assert drifting.book.open[drift].action is not None
    await drifting.book.read(ledger)
    assert drifting.book.open[drift].needs_human


async def test_revert_is_healed_and_only_through_the_gateway(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).live["delay_seconds"] = 5
    await drifting.scan()
    drift = await _decide(ledger, "revert")
    healer, drifting.healer = drifting.healer, None
    await drifting.carry_out(drift)
    [failed] = await _records(ledger, Stage.DRIFT_SETTLED)
    assert "through the gateway only" in str(failed.body.members["reason"])
    await _decide(ledger, "revert", "ann")
    drifting.healer = healer
    await drifting.carry_out(drift)
    assert isinstance(healer, FakeHealer)
    assert healer.healed == [drift]
    assert [record.body.members["outcome"] for record in await _records(ledger, Stage.DRIFT_SETTLED)] == [
        "failed",
        "reverted",
    ]


@pytest.mark.parametrize("action", ["human", "quarantine", "leave"])
async def test_the_other_actions_wait(drifting: DriftScan, ledger: SqlLedger, action: str) -> None:
    _line(drifting).live["delay_seconds"] = 5
    await drifting.scan()
    drift = await _decide(ledger, action)
    assert await drifting.follow() == ()
    assert await drifting.carry_out(drift) == {}


def test_a_change_from_outside_takes_the_form_of_a_mutation() -> None:
    drift = ForeignDrift(id="fgn_1", at=NOW, stack="shop", address=QUEUE, attribute="delay_seconds", live=5, declared=0)
    applied = mutation_of_drift(drift)
    assert (applied.actor, applied.operation, applied.evidence, applied.at) == ("unknown", "unknown", (), NOW)
    assert applied.before == {(QUEUE, "delay_seconds"): 0}


async def test_a_slot_of_the_schedule_is_looked_at_once_and_failures_wait(
    drifting: DriftScan, ledger: SqlLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workflows themselves, with DBOS: a restart within the slot does not look again."""
    monkeypatch.setattr(DriftScan, "slot", lambda _: 7)
    _line(drifting).live["delay_seconds"] = 5
    database = f"sqlite:///{tmp_path / 'workflows.db'}"
    for _ in range(2):
        worker = Worker(line=drifting.line, backlog=drifting.backlog, drifting=drifting)
        async with durable({"shop": worker}, database=database, key=b"a key for tests", poll_seconds=0.05) as runner:
            await worker.run_once(runner)
            await worker.run_once(runner)
    assert _line(drifting).plans == [1]
    await _decide(ledger, "codify")
    worker = Worker(line=drifting.line, backlog=drifting.backlog, drifting=drifting)
    async with durable({"shop": worker}, database=database, key=b"a key for tests", poll_seconds=0.05) as runner:
        await worker.run_once(runner)
        await worker.run_once(runner)
        monkeypatch.setattr(DriftScan, "slot", lambda _: 8)
        _line(drifting).broken.append("no credentials")
        await worker.run_once(runner)
    assert len(_line(drifting).proved) == 1
    assert len(_line(drifting).plans) == 2
    assert [record.body.members["outcome"] for record in await _records(ledger, Stage.DRIFT_SETTLED)] == ["codified"]


def test_slots_follow_the_clock(drifting: DriftScan) -> None:
    assert drifting.slot() == int(datetime.now(UTC).timestamp() // 3600)


async def test_what_a_person_stopped_is_not_set_back_until_it_is_resumed(
    drifting: DriftScan, ledger: SqlLedger
) -> None:
    chief = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTLC", roles=("operator",))
    assert isinstance(drifting.healer, FakeHealer)
    _line(drifting).live.update(delay_seconds=5)
    await drifting.scan()
    drift = await _decide(ledger, "revert")
    other = await ledger.stop(StopScope.STACK, "search", by=chief, reason="Not ours.", at=NOW)
    assert len(await drifting.follow()) == 1
    for scope, name in ((StopScope.STACK, "shop"), (StopScope.ALL, "")):
        stop = await ledger.stop(scope, name, by=chief, reason="Wait.", at=NOW)
        assert await drifting.follow() == ()
        with pytest.raises(Stopped, match="chief stopped"):
            await drifting.carry_out(drift)
        await ledger.resume(stop.id, by=chief, reason="", at=NOW)
    assert drifting.healer.healed == []
    assert await _records(ledger, Stage.DRIFT_SETTLED) == []
    await drifting.carry_out(drift)
    assert drifting.healer.healed == [drift]
    assert [stop.id for stop in await ledger.stops()] == [other.id]


async def test_while_all_is_stopped_code_is_still_proposed(drifting: DriftScan, ledger: SqlLedger) -> None:
    chief = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTLC", roles=("operator",))
    _line(drifting).live.update(delay_seconds=5)
    await drifting.scan()
    drift = await _decide(ledger, "codify")
    await ledger.stop(StopScope.ALL, "", by=chief, reason="Wait.", at=NOW)
    assert [each.id for each in await drifting.follow()] == [drift]
    assert (await drifting.carry_out(drift))["outcome"] == "codified"


def _replaced(name: str, drift: str = "fgn_1", **changes: Json) -> Record:
    live: Json = {"import_id": f"{name}-2", "replaces": f"{name}-1"}
    body: dict[str, Json] = {"address": f"aws_instance.{name}", "attribute": "*", "resource_type": "aws_instance"}
    body |= {"live": live, "declared": f"{name}-1", **changes}
    return sample_record(stage=Stage.DRIFTED, at=NOW, mutation_id=drift, stack="shop", body=body)


async def test_what_one_actor_changed_is_written_together_and_what_is_not_to_be_written_is_known(
    drifting: DriftScan, ledger: SqlLedger
) -> None:
    """A topic that waits for a person, an alarm on it, and what somebody else did."""
    origin: dict[str, Json] = {"event": "s:O", "at": NOW.isoformat(), "event_id": "", "service": False}
    topic: Json = {"created": "arn:t", "arn": "arn:t", "event": "sns:CreateTopic"}
    for drift, address, attribute, live, actor, action in (
        ("fgn_1", "aws_alarm.a", "actions", ["arn:t"], "ada", "codify"),
        ("fgn_2", "aws_alarm.a", "period", 60, "ada", "codify"),
        ("fgn_3", "aws_sns_topic{arn:t}", "*", topic, "ada", "human"),
        ("fgn_4", "aws_alarm.b", "period", 60, "bob", "codify"),
    ):
        body: dict[str, Json] = {"address": address, "attribute": attribute, "live": live, "declared": None}
        body |= {"origin": {"actor": actor, **origin}}
        await ledger.record_event(
            sample_record(stage=Stage.DRIFTED, at=NOW, mutation_id=drift, stack="shop", body=body)
        )
        await _decide(ledger, action)
    _line(drifting).one_change.add("fgn_2")
    await drifting.carry_out("fgn_1")
    (beside,) = _line(drifting).beside
    assert [each.id for each in beside.changes] == ["fgn_2"]
    assert [(each.resource_type, each.arn) for each in beside.unwritten] == [("aws_sns_topic", "arn:t")]
    assert [each.id for each in await drifting.follow()] == ["fgn_4"]
    outcomes = {each.mutation_id: each.body.members["outcome"] for each in await _records(ledger, Stage.DRIFT_SETTLED)}
    assert outcomes == {"fgn_1": "codified", "fgn_2": "codified"}


async def test_what_was_replaced_and_is_wanted_in_code_is_one_proposal(drifting: DriftScan, ledger: SqlLedger) -> None:
    for record in (_replaced("a", "fgn_1"), _replaced("b", "fgn_2"), _replaced("c", "fgn_3")):
        await ledger.record_event(record)
        action = "human" if record.mutation_id == "fgn_3" else "codify"
        await _decide(ledger, action)
    await drifting.carry_out("fgn_1")
    assert _line(drifting).proved == ["fgn_1"]
    assert [each.id for each in await drifting.follow()] == [], (
        "the second is in the same commit, the third is a human's"
    )
    settled = {each.mutation_id: each.body.members for each in await _records(ledger, Stage.DRIFT_SETTLED)}
    assert {each: body["commit"] for each, body in settled.items()} == {"fgn_1": "c0ffee", "fgn_2": "c0ffee"}
    assert "together with fgn_1" in str(settled["fgn_2"]["reason"])


async def test_what_was_found_after_the_commit_of_a_killed_run_waits_for_its_own_turn(
    drifting: DriftScan, ledger: SqlLedger
) -> None:
    _line(drifting).committed.append("c0ffee")
    for record in (_replaced("a", "fgn_1"), _replaced("b", "fgn_2")):
        await ledger.record_event(record)
        await _decide(ledger, "codify")
    await drifting.carry_out("fgn_1")
    assert [each.id for each in await drifting.follow()] == ["fgn_2"]


async def test_one_that_cannot_be_written_leaves_the_others_as_they_are(drifting: DriftScan, ledger: SqlLedger) -> None:
    _line(drifting).stuck.append("No edit can express it.")
    for record in (_replaced("a", "fgn_1"), _replaced("b", "fgn_2")):
        await ledger.record_event(record)
        await _decide(ledger, "codify")
    await drifting.carry_out("fgn_1")
    assert [each.id for each in await drifting.follow()] == ["fgn_2"]


def test_what_is_gone_was_deleted_and_what_was_replaced_is_set() -> None:
    drift = ForeignDrift(id="fgn_1", at=NOW, stack="shop", address=QUEUE, attribute="*")
    other = ForeignDrift(
        id="fgn_2", at=NOW, stack="shop", address="aws_instance.a", attribute="*", live={"replaces": "i"}
    )
    applied = mutation_of_drift(drift, other)
    assert [effect.action.value for effect in applied.effects] == ["delete", "set"]
    assert "Together with fgn_2" in applied.text


async def test_the_state_follows_what_the_protected_branch_took_in_once(
    drifting: DriftScan, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for record in (_replaced("a", "fgn_1"), _replaced("b", "fgn_2")):
        await ledger.record_event(record)
        await _decide(ledger, "codify")
    await drifting.carry_out("fgn_1")
    await drifting.follow()
    updated: list[list[str]] = []

    async def head(_: Line) -> str:
        return "abc"

    async def merged(*_: object) -> frozenset[str]:
        return frozenset({"fgn_1"})

    async def update(_: Line, addresses: list[str]) -> str:
        updated.append(addresses)
        return ""

    monkeypatch.setattr(Line, "protected_head", head)
    monkeypatch.setattr(Line, "update_state", update)
    monkeypatch.setattr("reconciler.drift.scan.mutations_in", merged)
    await drifting.follow_merges()
    await drifting.follow_merges()
    assert updated == [["aws_instance.a", "aws_instance.b"]], "the second is in the commit of the first"


class Creations:
    """One resource that somebody created, until it is accounted for."""

    def __init__(self) -> None:
        self.found = True
        self.accounted = False

    async def find(self, events: Sequence[Event], live: Mapping[str, Mapping[str, Json]]) -> tuple[OutsideChange, ...]:
        origin = DriftOrigin(actor="ada", event="s3:CreateBucket", at=NOW)
        made = {"created": "data", "arn": "", "event": "s3:CreateBucket"}
        change = ResourceChange(address="aws_s3_bucket{data}", attribute="*", live=made, actions=("create",))
        return (OutsideChange(change=change, origin=origin),) if self.found else ()

    async def is_accounted(self, drift: ForeignDrift) -> bool:
        return self.accounted


async def test_what_somebody_created_is_named_until_the_state_has_it(drifting: DriftScan, ledger: SqlLedger) -> None:
    creations = Creations()
    drifting.created = creations
    assert [await drifting.scan() for _ in range(2)] == [1, 1]
    [record] = await _records(ledger, Stage.DRIFTED)
    assert (record.actor, record.body.members["address"]) == ("ada", "aws_s3_bucket{data}")
    creations.found = False
    await drifting.scan()
    assert await _records(ledger, Stage.DRIFT_SETTLED) == [], "its events are gone, and it is still there"
    assert record.body.members["resource_type"] == "aws_s3_bucket", "policy decides by the type"
    drift = await _decide(ledger, "codify")
    await drifting.carry_out(drift)
    assert _line(drifting).proved == [drift]
    creations.accounted = True
    await drifting.scan()
    outcomes = [each.body.members["outcome"] for each in await _records(ledger, Stage.DRIFT_SETTLED)]
    assert outcomes == ["codified", "gone"]
