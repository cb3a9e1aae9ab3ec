"""Notices: their ids, and their size."""

import json
from typing import Any

import pytest

from gateway.core.records.notice import DeliveryState, Notice, NoticeType, notice_id, seq_of
from gateway.core.records.record import Stage
from gateway.notices.content import notice_of
from tests.kit.doubles import NOW
from tests.kit.hold_records import held_record, record


def test_an_id_names_the_record_and_its_hash() -> None:
    first, second = held_record(seq=7), held_record(seq=8)
    assert (seq_of(notice_id(first)), seq_of(notice_id(second))) == (7, 8)
    assert notice_id(first) != notice_id(record(Stage.DECIDED, {}, seq=7, hash="f" * 64))
    assert "." not in notice_id(first)  # Standard Webhooks signs `id.time.body`


@pytest.mark.parametrize(
    "text", ["", "rec_7", "rec_x_ab", "rec_-1_ab", "rec_7_ab_c", "mut_7_ab", "rec_٧_ab", "rec_" + "9" * 30 + "_a"]
)
def test_what_is_no_id_names_no_record(text: str) -> None:
    assert seq_of(text) == 0


def test_the_same_record_always_makes_the_same_bytes() -> None:
    first, second = notice_of(held_record()), notice_of(held_record())
    assert first is not None
    assert second is not None
    assert first.body() == second.body()


def test_a_large_notice_tells_less_and_says_so() -> None:
    data: Any = {"actor": "a", "record": 7, "effects": ["x" * 1000] * 100}
    made = Notice(id="rec_7_a", type=NoticeType.HELD, at=NOW, mutation_id="m", stack="s", actor="a", data=data)
    document = json.loads(made.body())
    assert document == {
        "type": "mutation.held",
        "timestamp": "2026-11-21T00:00:00Z",
        "data": {"actor": "a", "record": 7, "cut": True},
    }


def test_the_states_are_those_in_records() -> None:
    assert [state.value for state in DeliveryState] == ["delivered", "retrying", "given_up"]
