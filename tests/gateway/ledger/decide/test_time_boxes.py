"""What decisions, outcomes and people do to changes for a time, and that it follows from the records."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import ClaimTaken, NotAllowed, NotFound, Stopped
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.motive import Motivation
from gateway.core.model.stop import StopScope
from gateway.core.model.time_box import ClaimSpans, TimeBoxState
from gateway.core.ports import MOST_MOVES, RecordQuery, TimeBoxLedger
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger
from tests.kit.history import APPLIED, DOUBT, FAILED, HUMAN, NOW
from tests.kit.time_boxes import ADDRESS, HOUR, TimeBoxHistory

LATER = NOW + 2 * HOUR
AGENT = Caller(actor="agent", kind=ActorKind.AGENT, key_id="SNTLAGENT")
RIVAL = Caller(actor="rival", kind=ActorKind.AGENT, key_id="SNTLRIVAL")


@pytest.fixture
async def timed(ledger: SqlLedger) -> AsyncIterator[TimeBoxHistory]:
    """Changes for a time; the ledger is verified at the end of each test."""
    yield TimeBoxHistory(ledger)
    assert await ledger.verify()


async def _last(timed: TimeBoxHistory, stage: Stage) -> Any:
    [record] = await timed.ledger.records(RecordQuery(stage=stage, limit=1))
    return record


async def test_it_stands_until_it_is_put_back_once(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    assert await timed.states(boxed) == {"delay": TimeBoxState.STANDING}
    back = await timed.put_back(boxed, at=LATER, outcome=None)
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUTTING_BACK}
    with pytest.raises(ClaimTaken):
        await timed.put_back(boxed, at=LATER)
    await timed.ledger.record_outcome(back, APPLIED, LATER)
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUT_BACK}
    with pytest.raises(ClaimTaken):
        await timed.put_back(boxed, at=LATER)


async def test_it_is_not_put_back_before_its_end(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    with pytest.raises(ClaimTaken, match="not to be put back now"):
        await timed.put_back(boxed, at=NOW + HOUR / 2)


async def test_what_aws_refused_has_nothing_to_go_back(timed: TimeBoxHistory) -> None:
    boxed = await timed.change(outcome=FAILED)
    assert await timed.states(boxed) == {"delay": TimeBoxState.FAILED}


async def test_a_put_back_that_aws_refused_can_be_tried_again(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    await timed.put_back(boxed, at=LATER, outcome=FAILED)
    assert await timed.states(boxed) == {"delay": TimeBoxState.STANDING}
    await timed.put_back(boxed, at=LATER)
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUT_BACK}


@pytest.mark.parametrize(("carried_out", "state"), [(True, TimeBoxState.PUT_BACK), (False, TimeBoxState.STANDING)])
async def test_a_put_back_in_doubt_waits_for_the_truth(
    timed: TimeBoxHistory, carried_out: bool, state: TimeBoxState
) -> None:
    boxed = await timed.change()
    back = await timed.put_back(boxed, at=LATER, outcome=DOUBT)
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUTTING_BACK}
    [waiting] = await timed.boxes.due_mutations(LATER)
    due = await timed.boxes.due_change(LATER, waiting)
    assert due
    assert back.id in due.waits
    await timed.ledger.settle_by_hand(back.id, approver=HUMAN, carried_out=carried_out, reason="Seen.", at=LATER)
    assert await timed.states(boxed) == {"delay": state}


async def test_a_put_back_takes_no_claim_that_lasts(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    await timed.put_back(boxed, at=LATER)
    claims = await timed.ledger.claims(open_only=False)
    assert {claim.end for claim in claims if claim.actor == "reconciler"} == {ClaimEnd.RESTATED}


@pytest.mark.parametrize("caller", [AGENT, HUMAN])
async def test_holder_and_approver_move_its_end(timed: TimeBoxHistory, caller: Caller) -> None:
    boxed = await timed.change(obligations={"claim_seconds": 5400})
    until = NOW + timedelta(hours=3)
    [part] = await timed.boxes.extend_time_box(boxed.id, until, caller=caller, reason="still on", at=NOW)
    assert part.until == until
    record = await _last(timed, Stage.RESCHEDULED)
    assert (record.actor, record.body.members["holder"], record.body.members["reason"]) == (
        caller.actor,
        "agent",
        "still on",
    )
    with pytest.raises(ClaimTaken):
        await timed.put_back(boxed, at=LATER)
    [claim] = await timed.ledger.claims(open_only=False)
    assert claim.until == NOW + timedelta(seconds=5400)  # no longer than policy granted


@pytest.mark.parametrize(
    ("without_motive", "hours"), [(2 * 3600, 2), (9 * 3600, 3), (600, 1)], ids=["granted", "as wanted", "as before"]
)
async def test_a_claim_moves_with_the_change_as_far_as_policy_grants(
    timed: TimeBoxHistory, without_motive: float, hours: int
) -> None:
    boxed = await timed.change(obligations={"claim_seconds": 3600})  # the change was wanted for an hour
    spans = ClaimSpans(
        by_motivation=dict.fromkeys(Motivation, without_motive), without_motive=without_motive, longest={"agent": 10**6}
    )
    until = NOW + timedelta(hours=3)
    await timed.boxes.extend_time_box(boxed.id, until, caller=AGENT, reason="", at=NOW, spans=spans)
    [claim] = await timed.ledger.claims(open_only=False)
    assert claim.until == NOW + timedelta(hours=hours)
    await timed.ledger.verify()


async def test_others_do_not_move_it(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    for move in (
        timed.boxes.extend_time_box(boxed.id, LATER, caller=RIVAL, reason="", at=NOW),
        timed.boxes.end_time_box(boxed.id, caller=RIVAL, reason="", at=NOW),
        timed.boxes.end_time_box("mut_none", caller=HUMAN, reason="", at=NOW),
    ):
        with pytest.raises(NotFound):
            await move


async def test_an_end_lies_in_the_future_and_is_moved_only_before_it_came(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    with pytest.raises(NotAllowed, match="passed already"):
        await timed.boxes.extend_time_box(boxed.id, NOW, caller=AGENT, reason="", at=NOW)
    with pytest.raises(NotAllowed, match="is over"):
        await timed.boxes.extend_time_box(boxed.id, LATER + HOUR, caller=AGENT, reason="", at=LATER)


async def test_the_end_of_what_a_later_change_has_is_not_moved(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    other = await timed.change(8, lasts=None)
    with pytest.raises(
        NotAllowed, match=rf"^{other.id} has what {boxed.id} changed, so its end changes nothing\. Make"
    ):
        await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)
    assert not await timed.ledger.records(RecordQuery(stage=Stage.RESCHEDULED))


async def test_an_end_is_not_moved_for_ever(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    for _ in range(MOST_MOVES):
        await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)
    with pytest.raises(NotAllowed, match="which is the most"):
        await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)


async def test_it_is_ended_early_with_its_claims(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    await timed.boxes.end_time_box(boxed.id, caller=AGENT, reason="done", at=NOW)
    assert not await timed.ledger.claims()
    assert (await _last(timed, Stage.RELEASED)).actor == "agent"
    await timed.put_back(boxed, at=NOW)
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUT_BACK}
    with pytest.raises(NotAllowed, match="over already"):
        await timed.boxes.end_time_box(boxed.id, caller=AGENT, reason="", at=NOW)


async def test_who_is_stopped_prolongs_nothing(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    chief = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTLC", roles=("operator",))
    stop = await timed.ledger.stop(StopScope.ACTOR, "agent", by=chief, reason="Amok.", at=NOW)
    session = replace(AGENT, actor="other", on_behalf_of="agent")
    with pytest.raises(Stopped, match="was not moved"):
        await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)
    with pytest.raises(NotFound):
        await timed.boxes.extend_time_box(boxed.id, LATER, caller=session, reason="", at=NOW)
    assert await timed.boxes.extend_time_box(boxed.id, LATER, caller=HUMAN, reason="", at=NOW)
    await timed.ledger.resume(stop.id, by=chief, reason="", at=NOW)
    assert await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)
    await timed.ledger.stop(StopScope.ALL, "", by=chief, reason="Freeze.", at=NOW)
    assert await timed.boxes.extend_time_box(boxed.id, LATER, caller=AGENT, reason="", at=NOW)


async def test_ending_it_again_and_again_is_recorded_once_and_keeps_no_human_from_being_asked(
    timed: TimeBoxHistory,
) -> None:
    boxed = await timed.change()
    for minutes in range(5):
        at = NOW + timedelta(minutes=minutes)
        [part] = await timed.boxes.end_time_box(boxed.id, caller=AGENT, reason="done", at=at)
        assert part.until == NOW
    assert len(await timed.ledger.records(RecordQuery(stage=Stage.RESCHEDULED))) == 1


async def test_only_a_human_tries_again_what_is_left_to_humans(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    parts = await timed.boxes.time_boxes(mutation_id=boxed.id)
    await timed.boxes.leave_time_box(boxed.id, parts, TimeBoxState.LEFT, by="", reason="No.", at=LATER)
    with pytest.raises(NotAllowed, match="left to a human"):
        await timed.boxes.end_time_box(boxed.id, caller=AGENT, reason="", at=LATER)
    assert await timed.states(boxed) == {"delay": TimeBoxState.LEFT}


async def test_it_is_not_ended_before_its_outcome_is_known(timed: TimeBoxHistory) -> None:
    boxed = await timed.change(outcome=None)
    with pytest.raises(NotAllowed, match="not known yet"):
        await timed.boxes.end_time_box(boxed.id, caller=AGENT, reason="", at=NOW)


async def test_what_is_left_is_recorded_once_and_may_be_ended_again(timed: TimeBoxHistory) -> None:
    boxed = await timed.change(6, "delay", "size")
    parts = await timed.boxes.time_boxes(mutation_id=boxed.id)
    [one] = [part for part in parts if part.attribute == "delay"]
    left: Any = {"state": TimeBoxState.LEFT, "by": "", "reason": "No.", "at": LATER}
    assert await timed.boxes.leave_time_box(boxed.id, [one], **left)
    assert not await timed.boxes.leave_time_box(boxed.id, [one], **left)
    assert await timed.states(boxed) == {"delay": TimeBoxState.LEFT, "size": TimeBoxState.STANDING}
    assert [part.attribute for part in await timed.boxes.time_boxes()] == ["delay", "size"]
    await timed.boxes.end_time_box(boxed.id, caller=HUMAN, reason="again", at=LATER)
    assert set((await timed.states(boxed)).values()) == {TimeBoxState.STANDING}


async def test_nothing_is_left_before_its_end(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    parts = await timed.boxes.time_boxes(mutation_id=boxed.id)
    assert not await timed.boxes.leave_time_box(boxed.id, parts, TimeBoxState.LEFT, by="", reason="", at=NOW + HOUR / 2)


async def test_the_ledger_knows_time_boxed_changes(ledger: SqlLedger) -> None:
    boxes: TimeBoxLedger = ledger
    assert not await boxes.time_boxes()
    await TimeBoxHistory(ledger).change()
    [part] = await boxes.standing_time_boxes([ADDRESS])
    assert (part.address, part.attribute, part.base) == (ADDRESS, "delay", 4)
    assert not await boxes.standing_time_boxes(["aws_x.other"])
