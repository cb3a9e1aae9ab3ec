"""What edited policies would have decided: replays of recorded decisions of every kind, with hand-made and with edited policies."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.core.model.json import Json
from gateway.core.model.verdict import Asked, Decision, Finding, RuleText, Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.asked import VERSION, LeftOutFor, RecordedAsked
from gateway.core.records.record import Record
from gateway.ledger.decide.write_set import write_set
from gateway.line.checks.approvers import ENTRYPOINT as APPROVERS
from gateway.line.checks.arbitration import ENTRYPOINT as ARBITRATION
from gateway.line.checks.policy import ENTRYPOINT as GUARDRAILS
from gateway.policy.bundle import Bundle, RunningEngine
from gateway.policy.not_replayed import NotReplayed
from gateway.policy.replay import Replayed, ReplayRange, replay, replay_all, replay_page, replay_threads
from tests.kit.nouns import effect, facts, mutation, subject

RULE, OTHER = "SEN-T001", "SEN-T002"
THREADS = replay_threads()


def said(verdict: Verdict = Verdict.DENY, rule: str = RULE, check: str = "policy") -> Finding:
    """What a rule objects."""
    return Finding(check=check, verdict=verdict, rule=rule, reason="It says so.", address="aws_sqs_queue.orders")


class Saying(RunningEngine):
    """An engine whose guardrails say what the test wants of each input."""

    def __init__(self, *findings: Finding, broken: str = "") -> None:
        self.findings, self.broken = findings, broken
        self.documents: list[Json] = []

    @property
    def bundle(self) -> Bundle:
        """Nothing of it is asked for."""
        return Mock(spec=Bundle)

    @property
    def revision(self) -> str:
        """Any."""
        return "r" * 64

    def packages(self) -> frozenset[str]:
        """One."""
        return frozenset({"test"})

    def rules(self) -> Mapping[str, RuleText]:
        """The place of one rule."""
        return {RULE: RuleText("T", "guardrails/test.rego:4")}

    def answers(self, entrypoint: str) -> bool:
        """Every question."""
        return True

    async def close(self) -> None:
        """Nothing."""

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The wanted findings for guardrails; nothing else objects."""
        self.documents.append(document)
        if self.broken == entrypoint:
            raise PolicyUnavailable("The policies are broken.")
        if entrypoint == ARBITRATION:
            return {"evaluated": True, "findings": [], "supersedes": [], "on_approval": [], "obligations": {}}
        if entrypoint == APPROVERS:
            return {
                "evaluated": True, "roles": [["approver"]], "people": 1, "longest_seconds": 1, "rejected_seconds": 1, "reason": "",
            }  # fmt: skip
        items = [
            {"id": each.rule, "verdict": each.verdict.value, "message": each.reason, "address": each.address, "attribute": ""}
            for each in self.findings
        ]  # fmt: skip
        return {"evaluated": {"test": True}, "findings": items}


def recorded(*findings: Finding, asked: Sequence[Asked] | None = None, **members: Any) -> Record:
    """A decision as the ledger has it."""
    change = mutation(effect(value=5))
    document: Mapping[str, Json] = {"mutation": {"id": change.id}}
    usual = (
        Asked(check="policy", entrypoint=GUARDRAILS, document=document),
        Asked(check="arbitration", entrypoint=ARBITRATION, document=document),
    )
    passed = Finding(check="bounds", verdict=Verdict.ALLOW, rule="bounds.passed", reason="Nothing against it.")
    decision = Decision(findings=(passed, *findings), asked=usual if asked is None else tuple(asked), **members)
    return replace(write_set(change, facts(subject(change.effects[0])), decision).record, seq=7)


def replayed(record: Record, engine: RunningEngine) -> Replayed:
    """The decision, replayed."""
    done = asyncio.run(replay(record, engine))
    assert isinstance(done, Replayed)
    return done


HOLD = Verdict.HOLD
CASES: Mapping[str, tuple[tuple[Finding, ...], tuple[Finding, ...], dict[str, Any], Verdict]] = {
    "nothing objects, then or now": ((), (), {}, Verdict.ALLOW),
    "the same objection": ((said(),), (said(),), {}, Verdict.DENY),
    "a new denial": ((), (said(),), {}, Verdict.DENY),
    "a denial that is gone": ((said(),), (), {}, Verdict.ALLOW),
    "a hold in place of a denial": ((said(),), (said(HOLD),), {}, HOLD),
    "what another check said stays": ((said(check="bounds"),), (), {}, Verdict.DENY),
    "an approval lifts the hold of then": ((said(HOLD),), (said(HOLD),), {"approval": "apr_1"}, Verdict.ALLOW),
    "an approval lifts no other hold": ((said(HOLD),), (said(HOLD, OTHER),), {"approval": "apr_1"}, HOLD),
    "an approval lifts no denial": ((said(HOLD),), (said(),), {"approval": "apr_1"}, Verdict.DENY),
    "a rejection stands while it is held": ((said(HOLD), said(check="approval")), (said(HOLD),), {}, Verdict.DENY),
    "a rejection goes with its hold": ((said(HOLD), said(check="approval")), (), {}, Verdict.ALLOW),
    "only the edited policies hold": ((), (said(HOLD),), {}, HOLD),
}


@pytest.mark.parametrize(("then", "now", "members", "verdict"), CASES.values(), ids=CASES.keys())
def test_a_replay_joins_what_the_policies_say_now_with_what_others_said_then(
    then: tuple[Finding, ...], now: tuple[Finding, ...], members: dict[str, Any], verdict: Verdict
) -> None:
    done = replayed(recorded(*then, **members), Saying(*now))
    assert done.after is verdict
    assert done.flipped is (done.before is not verdict)


def test_a_flip_names_the_rule_that_made_it_with_its_line() -> None:
    done = replayed(recorded(said(rule=OTHER)), Saying(said(rule=OTHER), said()))
    assert (done.flipped, done.rule) == (False, RULE)
    done = replayed(recorded(), Saying(said()))
    assert (done.rule, done.new[0].source) == (RULE, "guardrails/test.rego:4")
    assert replayed(recorded(said()), Saying()).rule == RULE


def test_policies_that_do_not_answer_deny() -> None:
    for entrypoint, then in ((GUARDRAILS, ()), (ARBITRATION, ()), (APPROVERS, (said(HOLD),))):
        done = replayed(recorded(*then), Saying(*then, broken=entrypoint))
        assert (done.after, done.broke is not None) == (Verdict.DENY, True), entrypoint


def test_what_a_plan_lifted_stays_lifted() -> None:
    question = Asked(check="policy", entrypoint=GUARDRAILS, document={"x": 1}, lifted=(f"{RULE} aws_sqs_queue.orders",))
    assert replayed(recorded(asked=[question]), Saying(said(HOLD))).after is Verdict.ALLOW
    assert replayed(recorded(asked=[question]), Saying(said())).after is Verdict.DENY
    elsewhere = replace(question, lifted=(), untold=(("aws_sqs_queue.other", "delay_seconds"),))
    assert replayed(recorded(asked=[elsewhere]), Saying(said())).after is Verdict.DENY  # it names no attribute


def test_decisions_without_facts_are_counted_by_reason() -> None:
    record = recorded()
    body: Any = record.body
    left_out = {
        None: NotReplayed.NO_FACTS,
        RecordedAsked(version=VERSION + 1, packed="x"): NotReplayed.NEWER,
        RecordedAsked(left_out=LeftOutFor.SIZE): NotReplayed.SIZE,
        RecordedAsked(left_out=LeftOutFor.SECRET): NotReplayed.SECRET,
        RecordedAsked(packed="not a packed question"): NotReplayed.UNREADABLE,
        RecordedAsked(packed=""): NotReplayed.UNREADABLE,
    }
    records = [replace(record, body=msgspec.structs.replace(body, asked=asked)) for asked in left_out]
    page = asyncio.run(replay_all(records, Saying(), THREADS))
    expected = dict.fromkeys(left_out.values(), 1) | {NotReplayed.UNREADABLE: 2}
    assert (page.replayed, dict(page.not_replayed)) == (0, expected)


def test_a_replay_ends_where_policies_never_answer() -> None:
    engine = Saying(broken=GUARDRAILS)
    with pytest.raises(PolicyInvalid, match=r"did not answer about 20 decisions.*The policies are broken"):
        asyncio.run(replay_all([recorded()] * 400, engine, THREADS))
    assert len(engine.documents) < 100


class Ledger:
    """Records, newest first."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.kept = sorted(records, key=lambda each: -each.seq)

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """Those before the query's."""
        return [each for each in self.kept if not query.before_seq or each.seq < query.before_seq][: query.limit]


def test_pages_go_back_to_the_time_that_was_asked_for() -> None:
    records = [replace(recorded(), seq=number) for number in range(1, 8)]
    ledger: Any = Ledger(records)
    engine, seen, wanted = Saying(said()), [], ReplayRange(limit=3)
    while True:
        page = asyncio.run(replay_page(ledger, engine, THREADS, wanted))
        seen += [page["replayed"]]
        if page["next"] is None:
            break
        wanted = replace(wanted, before_seq=page["next"])
    assert seen == [3, 3, 1]
    assert [each["to"] for each in page["flips"]] == ["deny"]
    later = replace(wanted, before_seq=0, since=records[0].at.replace(year=9000))
    assert asyncio.run(replay_page(ledger, engine, THREADS, later)) | {"flips": []} == {
        "replayed": 0, "not_replayed": {}, "flips": [], "revision": "r" * 64, "contracts": "", "next": None,
    }  # fmt: skip
    assert asyncio.run(replay_page(ledger, engine, THREADS, ReplayRange(stack="another")))["replayed"] == 0


def test_policies_that_take_nearly_their_deadline_for_each_decision_end_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.policy.replay.MOST_SECONDS", -1.0)
    with pytest.raises(PolicyInvalid, match="took longer than"):
        asyncio.run(replay_all([recorded()], Saying(), THREADS))
