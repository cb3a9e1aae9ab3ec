"""What is to become of a change for a time whose end has come, whoever changed the attribute meanwhile."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.errors import NotFound
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.path import overlaps
from gateway.core.model.time_box import TimeBoxState
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.time_box_queries import MOST_LISTED
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.statements import Session, Statement, Values
from tests.kit import nouns
from tests.kit.history import APPLIED, NOW, History, effect
from tests.kit.time_boxes import BACK, HOUR, TimeBoxHistory

LATER = NOW + 2 * HOUR
LONG = timedelta(hours=9)


@pytest.fixture
def timed(ledger: SqlLedger) -> TimeBoxHistory:
    """Changes for a time."""
    return TimeBoxHistory(ledger)


async def _fate(timed: TimeBoxHistory, boxed: Mutation) -> tuple[list[str], list[tuple[TimeBoxState, str]], str]:
    """What is to be put back, what is left to whom, and why it waits."""
    due = await timed.boxes.due_change(LATER, boxed.id)
    assert (due is not None) == (boxed.id in await timed.boxes.due_mutations(LATER))
    if due is None:
        return [], [], "not due"
    back = [part.attribute for part in due.back]
    return back, [(state, by) for _, state, by in due.alone], due.waits


async def test_what_nobody_touched_is_put_back(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    assert not await timed.boxes.due_mutations(NOW)
    assert not await timed.boxes.due_change(NOW, boxed.id)
    assert await _fate(timed, boxed) == (["delay"], [], "")


async def test_an_unknown_outcome_waits(timed: TimeBoxHistory) -> None:
    boxed = await timed.change(outcome=None)
    assert "not known yet" in (await _fate(timed, boxed))[2]


async def test_a_later_change_has_it_also_after_its_claim_ended(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    other = await timed.change(8, lasts=None, obligations={"claim_seconds": 60})
    await timed.ledger.expire(LATER)
    assert await _fate(timed, boxed) == ([], [(TimeBoxState.SUPERSEDED, other.id)], "")


async def test_the_same_value_for_good_keeps_it(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    other = await timed.change(6, lasts=None)
    assert await _fate(timed, boxed) == ([], [(TimeBoxState.SUPERSEDED, other.id)], "")


async def test_a_change_under_way_waits(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    other = await timed.change(8, lasts=None, outcome=None)
    assert other.id in (await _fate(timed, boxed))[2]


async def test_what_is_around_or_inside_it_counts(timed: TimeBoxHistory) -> None:
    boxed = await timed.change({"a": "b"}, "tags")
    inside = await timed.change("c", "tags.a", lasts=None)
    assert await _fate(timed, boxed) == ([], [(TimeBoxState.SUPERSEDED, inside.id)], "")


async def test_of_several_attributes_each_has_its_own_fate(timed: TimeBoxHistory) -> None:
    boxed = await timed.change(6, "delay", "size")
    other = await timed.change(8, "size", lasts=None)
    assert await _fate(timed, boxed) == (["delay"], [(TimeBoxState.SUPERSEDED, other.id)], "")


async def test_a_chain_goes_back_to_what_was_there_before_the_first(timed: TimeBoxHistory) -> None:
    first = await timed.change(6)
    second = await timed.change(8)
    third = await timed.change(9)
    assert await _fate(timed, first) == ([], [(TimeBoxState.SUPERSEDED, third.id)], "")
    assert await _fate(timed, second) == ([], [(TimeBoxState.SUPERSEDED, third.id)], "")
    assert await _fate(timed, third) == (["delay"], [], "")
    [part] = [each for each in await timed.boxes.time_boxes() if each.mutation_id == third.id]
    assert (part.base, part.root) == (4, first.id)


async def test_the_latest_of_equal_wishes_puts_it_back(timed: TimeBoxHistory) -> None:
    first = await timed.change(6)
    second = await timed.change(6)
    assert await _fate(timed, first) == ([], [(TimeBoxState.STILL_WANTED, second.id)], "")
    assert await _fate(timed, second) == (["delay"], [], "")


async def test_the_longest_of_equal_wishes_keeps_it(timed: TimeBoxHistory) -> None:
    first = await timed.change(6, lasts=LONG)
    second = await timed.change(6, actor="rival")
    assert await _fate(timed, second) == ([], [(TimeBoxState.STILL_WANTED, first.id)], "")
    parts = await timed.boxes.time_boxes(mutation_id=second.id)
    await timed.boxes.leave_time_box(second.id, parts, TimeBoxState.STILL_WANTED, by=first.id, reason="", at=LATER)
    [remaining] = await timed.boxes.due_mutations(NOW + LONG)
    due = await timed.boxes.due_change(NOW + LONG, remaining)
    assert due
    assert (due.mutation_id, [part.base for part in due.back]) == (first.id, [4])


async def test_a_superseded_change_does_not_prolong_a_later_one_of_the_same_value(timed: TimeBoxHistory) -> None:
    await timed.change(6, lasts=LONG)
    await timed.change(8, lasts=None)
    later = await timed.change(6, base=8)
    assert await _fate(timed, later) == (["delay"], [], "")


async def test_what_was_deleted_or_set_by_aws_is_left(timed: TimeBoxHistory, ledger: SqlLedger) -> None:
    boxed = await timed.change()
    history = History(ledger)
    gone = history.mutation(effect(None, "delay", action=EffectAction.INVOKE))
    await ledger.record_decision(gone, history.facts(gone), nouns.decision())
    await ledger.record_outcome(gone, APPLIED, NOW)
    assert await _fate(timed, boxed) == ([], [(TimeBoxState.SUPERSEDED, "")], "")


async def test_the_call_that_puts_it_back_is_in_the_record(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    assert await timed.boxes.put_back_call(boxed.id) == BACK
    with pytest.raises(NotFound):
        await timed.boxes.put_back_call("mut_none")


@pytest.mark.slow
async def test_the_changes_of_one_actor_hide_none_of_the_others(timed: TimeBoxHistory) -> None:
    assert MOST_LISTED == 1_000
    for number in range(20):
        await timed.change(6, *(f"a{number}_{name}" for name in range(50)), actor="flood", lasts=HOUR / 2)
    boxed = await timed.change()
    parts = await timed.boxes.time_boxes(mutation_id=boxed.id)
    assert boxed.id not in {part.mutation_id for part in await timed.boxes.time_boxes()}
    assert list(await timed.boxes.time_boxes(actor="agent")) == list(parts)
    assert not await timed.boxes.time_boxes(left=True)
    await timed.boxes.leave_time_box(boxed.id, parts, TimeBoxState.LEFT, by="", reason="", at=LATER)
    for found in (await timed.boxes.time_boxes(left=True), await timed.boxes.time_boxes(left=True, actor="agent")):
        assert [part.mutation_id for part in found] == [boxed.id]
    assert not await timed.boxes.time_boxes(left=True, actor="flood")


async def test_a_resource_is_read_once_however_many_of_its_attributes_are_listed(
    timed: TimeBoxHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent with 1,000 attributes of one resource made each listing read a million rows: 1.5 s, for which mutations waited."""
    for number in range(3):
        await timed.change(6, *(f"a{number}_{name}" for name in range(20)), lasts=HOUR / 2)
    read: list[int] = []

    def fetch(session: Session, statement: Statement, values: Values) -> list[tuple[Any, ...]]:
        rows = fetched(session, statement, values)
        read.append(len(rows))
        return rows

    fetched = Session.fetch
    monkeypatch.setattr(Session, "fetch", fetch)
    assert len(await timed.boxes.time_boxes()) == 60
    # What is listed, applied and open, then the attempt and the part of each.
    assert sum(read) == 5 * 60


async def test_what_the_code_declared_before_the_first_is_known(timed: TimeBoxHistory) -> None:
    first = await timed.change(6)
    second = await timed.change(6, lasts=LONG)
    parts = await timed.boxes.time_boxes(mutation_id=second.id)
    [decided] = await timed.ledger.records(RecordQuery(mutation_id=first.id, stage=Stage.DECIDED))
    effects: Any = decided.body.members["effects"]
    assert await timed.boxes.declared_before(parts) == {parts[0].key: effects[0]["declared"]}
    assert not await timed.boxes.declared_before([replace(parts[0], root="mut_none")])


async def test_what_is_due_is_restricted_to_a_stack_and_a_change(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    assert await timed.boxes.due_mutations(LATER, stack="shop") == [boxed.id]
    assert await timed.boxes.due_change(LATER, boxed.id)
    assert not await timed.boxes.due_mutations(LATER, stack="other")
    assert not await timed.boxes.due_change(LATER, "mut_none")


@pytest.mark.slow
async def test_many_stuck_changes_hide_none_and_cut_none(timed: TimeBoxHistory) -> None:
    """An agent whose put-backs wait must not keep those of others from being found, nor have half of one found."""
    many = [f"a{number}" for number in range(50)]
    for number in range(21):
        await timed.change(6, *(f"{name}_{number}" for name in many), outcome=None, actor="flood")
    last = await timed.change(6, *many, at=NOW + HOUR / 2)
    assert (await timed.boxes.due_mutations(LATER))[0] == last.id
    due = await timed.boxes.due_change(LATER, last.id)
    assert due
    assert len(due.back) == 50


async def test_what_was_left_and_changed_since_is_listed_no_more(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    parts = await timed.boxes.time_boxes(mutation_id=boxed.id)
    await timed.boxes.leave_time_box(boxed.id, parts, TimeBoxState.LEFT, by="", reason="", at=LATER)
    assert await timed.boxes.time_boxes()
    await timed.change(8, lasts=None)
    assert not await timed.boxes.time_boxes()


async def test_the_list_foresees_that_a_later_change_has_it(timed: TimeBoxHistory) -> None:
    boxed = await timed.change()
    other = await timed.change(8, lasts=None)
    [part] = await timed.boxes.time_boxes()
    assert (part.mutation_id, part.state, part.ended_by) == (boxed.id, TimeBoxState.SUPERSEDED, other.id)


async def test_the_list_foresees_nothing_of_an_unknown_outcome(timed: TimeBoxHistory) -> None:
    await timed.change(outcome=None)
    [part] = await timed.boxes.time_boxes()
    assert part.state is TimeBoxState.STANDING


def test_attributes_overlap_if_one_is_a_part_of_the_other() -> None:
    assert overlaps("tags", "tags.a")
    assert overlaps("*", "x")
    assert not overlaps("tags.a", "tags.b")
