"""The pipeline records before it sends, sends at most once, and settles even if the caller disconnects; a failure denies or leaves in doubt."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gateway.aws.door.uploads import UploadBody
from gateway.core.errors import (
    ApprovalSpent,
    AttemptInFlight,
    AttemptMismatch,
    CallTooLarge,
    ClaimTaken,
    LedgerUnavailable,
    Malformed,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    NotSendable,
    SentinelError,
)
from gateway.core.model.caller import sender_of
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import CallClass, Mutation
from gateway.core.model.outcome import Applied, Attempt, Failed, InDoubt, Refused, Sent
from gateway.core.model.verdict import Decision, Mode, Verdict
from gateway.identity.signed_body import PlainCheck
from gateway.line import pipeline
from gateway.line.pipeline import Pipeline
from tests.kit.doubles import (
    AGENT,
    APPLIED,
    CALL,
    HUMAN,
    CloudDouble,
    FixedClock,
    LedgerDouble,
    Reads,
    asked,
    inbound,
    line,
)

FAILED = Failed(code="ValidationError", message="no", reply=None)
DOUBT = InDoubt(reason="No answer came.")


@pytest.fixture
def ledger() -> LedgerDouble:
    return LedgerDouble()


@pytest.fixture
def cloud(ledger: LedgerDouble) -> CloudDouble:
    return CloudDouble(events=ledger.events)


async def test_the_decision_is_recorded_before_anything_is_sent(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    result = await line(ledger, cloud).execute(AGENT, asked())
    assert ledger.events == ["view", "prepare", "decided", "send", "settled"]
    assert (result.outcome, ledger.outcomes) == (APPLIED, [APPLIED])


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
async def test_what_is_not_allowed_is_recorded_and_not_sent(
    ledger: LedgerDouble, cloud: CloudDouble, verdict: Verdict
) -> None:
    result = await line(ledger, cloud, verdict).execute(AGENT, asked())
    assert ledger.events == ["view", "decided"]
    assert isinstance(result.outcome, Refused)
    assert result.outcome.decision.verdict is verdict


@pytest.mark.parametrize("outcome", [APPLIED, FAILED, DOUBT])
async def test_every_outcome_is_settled_and_returned(ledger: LedgerDouble, cloud: CloudDouble, outcome: Sent) -> None:
    cloud.outcome = outcome
    assert (await line(ledger, cloud).execute(AGENT, asked())).outcome == outcome
    assert ledger.outcomes == [outcome]


@pytest.mark.parametrize("error", [LedgerUnavailable("down"), ApprovalSpent("spent"), AttemptInFlight("twice")])
async def test_what_cannot_be_recorded_is_not_sent(
    ledger: LedgerDouble, cloud: CloudDouble, error: SentinelError
) -> None:
    ledger.decided_fails = [error]
    with pytest.raises(type(error)):
        await line(ledger, cloud).execute(AGENT, asked())
    assert "send" not in ledger.events


async def test_an_idempotency_key_that_cannot_be_looked_up_stops_the_call(
    ledger: LedgerDouble, cloud: CloudDouble
) -> None:
    ledger.attempts = [LedgerUnavailable("down"), LedgerUnavailable("down")]
    with pytest.raises(LedgerUnavailable):
        await line(ledger, cloud).execute(AGENT, asked(key="k"))
    assert ledger.events == ["view"]


async def test_an_answer_that_cannot_be_recorded_is_in_doubt(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.settled_fails = [LedgerUnavailable("down")]
    result = await line(ledger, cloud).execute(AGENT, asked())
    assert isinstance(result.outcome, InDoubt)
    assert ledger.events == ["view", "prepare", "decided", "send"]


async def _until(reached: Callable[[], bool]) -> None:
    while not reached():  # noqa: ASYNC110  what runs in the background tells nobody when it is done
        await asyncio.sleep(0.01)


async def test_an_outcome_that_the_ledger_did_not_take_is_recorded_when_it_does(
    ledger: LedgerDouble, cloud: CloudDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_AGAIN_SECONDS", 0.01)
    ledger.settled_fails = [LedgerUnavailable("down"), LedgerUnavailable("still down")]
    settled: list[str] = []
    line_ = line(ledger, cloud, make=partial(Pipeline, settled=settled.append))
    result = await line_.execute(AGENT, asked())
    assert isinstance(result.outcome, InDoubt)
    await _until(lambda: bool(ledger.outcomes))
    assert ledger.outcomes == [APPLIED]
    assert settled == [result.mutation.id]
    assert ledger.events.count("send") == 1


async def test_a_decision_whose_storing_was_not_confirmed_is_recorded_as_not_sent(
    ledger: LedgerDouble, cloud: CloudDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commit may have happened: then this gateway, which lives, is the only one that can say what became of it."""
    monkeypatch.setattr(pipeline, "_AGAIN_SECONDS", 0.01)
    ledger.decided_fails = [LedgerUnavailable("the connection was lost while it committed")]
    line_ = line(ledger, cloud)
    with pytest.raises(LedgerUnavailable):
        await line_.execute(AGENT, asked())
    await _until(lambda: bool(ledger.outcomes))
    (outcome,) = ledger.outcomes
    assert isinstance(outcome, Failed)
    assert outcome.code == "NotSent"
    assert "send" not in ledger.events


@pytest.mark.parametrize("error", [NotFound("never stored"), NotAllowed("recorded already")])
async def test_what_needs_no_record_is_not_tried_for_ever(
    ledger: LedgerDouble, cloud: CloudDouble, monkeypatch: pytest.MonkeyPatch, error: SentinelError
) -> None:
    monkeypatch.setattr(pipeline, "_AGAIN_SECONDS", 0.01)
    ledger.settled_fails = [LedgerUnavailable("down"), error]
    line_ = line(ledger, cloud)
    await line_.execute(AGENT, asked())
    await _until(lambda: not line_._running)
    assert ledger.outcomes == []


class JumpingClock(FixedClock):
    """Every look at it is a minute later: the process was paused, or the clock was set."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return super().now() + timedelta(minutes=self.looks)


async def test_a_gateway_that_stood_still_while_it_decided_denies(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    line_ = line(ledger, cloud)
    line_._clock = JumpingClock()
    result = await line_.execute(AGENT, asked())
    assert isinstance(result.outcome, Refused)
    assert [each.rule for each in result.outcome.decision.findings][-1] == "never.stale"
    assert "send" not in ledger.events


class SilentLedger(LedgerDouble):
    """It stores a decision only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.stores = asyncio.Event()

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        await self.stores.wait()
        return await super().record_decision(mutation, facts, decision)


async def test_nothing_is_sent_if_the_ledger_says_nothing_and_a_late_decision_is_recorded_as_not_sent(
    cloud: CloudDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_AGAIN_SECONDS", 0.01)
    ledger = SilentLedger()
    line_ = line(ledger, cloud, make=partial(Pipeline, store_seconds=0.01))
    with pytest.raises(LedgerUnavailable, match="nothing was sent"):
        await line_.execute(AGENT, asked())
    ledger.stores.set()
    await _until(lambda: not line_._running)
    assert [type(each) for each in ledger.outcomes] == [Failed]
    assert "send" not in cloud.events + ledger.events


async def test_a_claim_lost_once_is_decided_again(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.decided_fails = [ClaimTaken("taken")]
    result = await line(ledger, cloud).execute(AGENT, asked())
    assert ledger.events == ["view", "prepare", "view", "prepare", "decided", "send", "settled"]
    assert result.outcome == APPLIED


async def test_a_claim_lost_twice_is_a_conflict_and_nothing_is_sent(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.decided_fails = [ClaimTaken("taken"), ClaimTaken("taken")]
    with pytest.raises(ClaimTaken):
        await line(ledger, cloud).execute(AGENT, asked())
    assert "send" not in ledger.events
    assert [(refusal.code, refusal.actor) for refusal in ledger.refusals] == [("claim_taken", AGENT.actor)]


async def test_an_approval_lost_to_another_attempt_is_recorded(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.decided_fails = [ApprovalSpent("spent")]
    with pytest.raises(ApprovalSpent):
        await line(ledger, cloud).execute(AGENT, asked())
    assert "send" not in ledger.events
    assert [refusal.code for refusal in ledger.refusals] == ["approval_spent"]


async def test_a_claim_lost_to_the_same_attempt_is_answered_with_its_outcome(
    ledger: LedgerDouble, cloud: CloudDouble
) -> None:
    ledger.decided_fails = [ClaimTaken("taken")]
    ledger.attempts = [None, Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=APPLIED)]
    result = await line(ledger, cloud).execute(AGENT, asked(key="k"))
    assert (result.mutation.id, result.decision, result.outcome) == ("mut_1", None, APPLIED)
    assert "send" not in ledger.events


@pytest.mark.parametrize("mode", Mode)
async def test_what_cannot_be_sent_is_a_recorded_denial_in_every_mode(
    ledger: LedgerDouble, cloud: CloudDouble, mode: Mode
) -> None:
    cloud.prepare_fails = [NotSendable("There is no such endpoint.")]
    result = await line(ledger, cloud, mode=mode).execute(AGENT, asked())
    assert isinstance(result.outcome, Refused)
    assert [finding.rule for finding in ledger.decisions[0].objections] == ["never.unsendable"]
    assert ledger.events == ["view", "prepare", "decided"]


@pytest.mark.parametrize("mode", Mode)
async def test_facts_that_cannot_be_gathered_are_a_recorded_denial_in_every_mode(
    ledger: LedgerDouble, cloud: CloudDouble, mode: Mode
) -> None:
    ledger.view_fails = [RuntimeError("secret detail")]
    result = await line(ledger, cloud, mode=mode).execute(AGENT, asked())
    assert isinstance(result.outcome, Refused)
    (objection,) = ledger.decisions[0].objections
    assert objection.rule == "never.survey"
    assert "secret detail" not in objection.reason
    assert ledger.events == ["view", "decided"]


async def test_observing_sends_what_would_be_denied(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    result = await line(ledger, cloud, Verdict.DENY, Mode.OBSERVE).execute(AGENT, asked())
    assert result.outcome == APPLIED
    assert ledger.decisions[0].verdict is Verdict.DENY


async def test_a_dry_run_records_and_sends_nothing(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    result = await line(ledger, cloud).execute(AGENT, asked(dry_run=True))
    assert ledger.events == ["view"]
    assert result.outcome is None
    assert result.decision is not None


async def test_a_finished_attempt_is_answered_again(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.attempts = [Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=DOUBT)]
    result = await line(ledger, cloud).execute(AGENT, asked(key="k"))
    assert (result.mutation.id, result.decision, result.outcome) == ("mut_1", None, DOUBT)
    assert ledger.events == ["view"]


async def test_a_finished_attempt_is_answered_again_also_as_a_dry_run(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    ledger.attempts = [Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=APPLIED)]
    result = await line(ledger, cloud).execute(AGENT, asked(key="k", dry_run=True))
    assert (result.mutation.id, result.decision, result.outcome) == ("mut_1", None, APPLIED)


@pytest.mark.parametrize("failure", [RuntimeError("the code is ambiguous by now"), CallTooLarge("is too long by now")])
async def test_a_finished_attempt_is_answered_again_where_facts_cannot_be_gathered(
    ledger: LedgerDouble, cloud: CloudDouble, failure: Exception
) -> None:
    ledger.view_fails = [failure]
    ledger.attempts = [Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=APPLIED)]
    result = await line(ledger, cloud).execute(AGENT, asked(key="k"))
    assert (result.mutation.id, result.decision, result.outcome) == ("mut_1", None, APPLIED)
    assert ledger.events == ["view"]


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        (Attempt(mutation_id="mut_1", call_digest="other", outcome=APPLIED), AttemptMismatch),
        (Attempt(mutation_id="mut_1", call_digest=CALL.digest, outcome=None), AttemptInFlight),
    ],
)
async def test_an_attempt_that_is_another_or_not_done_is_a_conflict(
    ledger: LedgerDouble, cloud: CloudDouble, attempt: Attempt, error: type[SentinelError]
) -> None:
    ledger.attempts = [attempt]
    with pytest.raises(error, match="mut_1"):
        await line(ledger, cloud).execute(AGENT, asked(key="k"))
    assert ledger.events == ["view"]


async def test_a_caller_that_disconnects_does_not_stop_it(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    cloud.hold = asyncio.Event()
    waiting = asyncio.ensure_future(line(ledger, cloud).execute(AGENT, asked()))
    await asyncio.wait_for(cloud.sending.wait(), 300)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    cloud.hold.set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert ledger.outcomes == [APPLIED]


@pytest.mark.parametrize("error", [NotAuthenticated("who?", key_id="AKIAX"), Malformed("what?")])
async def test_an_unauthenticated_request_is_recorded_with_the_key_it_named(
    ledger: LedgerDouble, cloud: CloudDouble, error: SentinelError
) -> None:
    reads = Reads(asked(), error)
    with pytest.raises(type(error)):
        await line(ledger, cloud).admit(inbound("/a?b"), reads, reads)
    (refusal,) = ledger.refusals
    assert (refusal.actor, refusal.about, refusal.code) == ("", "POST /a", error.code)
    assert refusal.key_id == getattr(error, "key_id", "")


async def test_an_unreadable_request_is_recorded_with_its_caller(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    reads = Reads(Malformed("what?", code="json"))
    with pytest.raises(Malformed):
        await line(ledger, cloud).admit(inbound(), reads, reads)
    assert (ledger.refusals[0].actor, ledger.refusals[0].key_id) == (AGENT.actor, AGENT.key_id)


async def test_an_agent_may_not_read_secrets_and_a_human_may(ledger: LedgerDouble, cloud: CloudDouble) -> None:
    secret = asked(call_class=CallClass.SECRET)
    with pytest.raises(NotAllowed):
        await line(ledger, cloud).admit(inbound(), Reads(secret), Reads(secret))
    assert ledger.refusals[0].code == "not_allowed"
    reads = Reads(secret, HUMAN)
    admitted = replace(secret, sender=sender_of(inbound()))
    assert await line(ledger, cloud).admit(inbound(), reads, reads) == (HUMAN, admitted)


FAILURES: list[Callable[[], Exception]] = [
    lambda: ClaimTaken("taken"),
    lambda: LedgerUnavailable("down"),
    lambda: ApprovalSpent("spent"),
    lambda: RuntimeError("broken"),
]
_failures = st.lists(st.none() | st.sampled_from(FAILURES).map(lambda make: make()), max_size=3)


@given(
    ledger=st.builds(
        LedgerDouble,
        events=st.builds(list),
        view_fails=_failures,
        decided_fails=_failures,
        settled_fails=_failures,
        attempts=st.builds(list),
    ),
    prepare=st.lists(st.none() | st.just(NotSendable("no")), max_size=2),
    outcome=st.sampled_from([APPLIED, FAILED, DOUBT]),
    verdict=st.sampled_from(Verdict),
)
async def test_whatever_fails_it_is_sent_at_most_once_and_only_after_it_was_recorded(
    ledger: LedgerDouble,
    prepare: list[Exception | None],
    outcome: Applied | Failed | InDoubt,
    verdict: Verdict,
) -> None:
    cloud = CloudDouble(events=ledger.events, outcome=outcome, prepare_fails=prepare)
    try:
        with capture_logs():
            result = await line(ledger, cloud, verdict).execute(AGENT, asked())
    except Exception:  # noqa: BLE001  whatever escaped must mean that nothing was sent
        assert "send" not in ledger.events
        return
    assert ledger.events.count("send") == (not isinstance(result.outcome, Refused))
    if "send" in ledger.events:
        assert "decided" in ledger.events[: ledger.events.index("send")]
        assert verdict is Verdict.ALLOW
        assert isinstance(result.outcome, InDoubt) or result.outcome == outcome


@pytest.mark.parametrize(("sha256", "verdict"), [("a" * 64, Verdict.HOLD), ("", Verdict.DENY)])
async def test_a_human_approves_only_an_upload_whose_content_is_known(
    ledger: LedgerDouble, cloud: CloudDouble, sha256: str, verdict: Verdict
) -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b""

    upload = UploadBody(source(), PlainCheck(""), length=1, sha256=sha256)
    result = await line(ledger, cloud, Verdict.HOLD).execute(AGENT, replace(asked(), upload=upload))
    assert isinstance(result.outcome, Refused)
    assert result.outcome.decision.verdict is verdict
    assert not upload.begun
