"""What is due, in which order, and what an attempt changes."""

from typing import Any

import pytest

from reconciler.notify.outbox import AT_ONCE, MOST_OPEN, DeliveryAttempt, OpenNotice, Outbox

SCHEDULE = (5.0, 60.0)


def box(*mutations: str, **members: Any) -> Outbox:
    """An outbox with a notice about each of these mutations, numbered from 1."""
    notices = tuple(OpenNotice(seq=number, mutation_id=name) for number, name in enumerate(mutations, 1))
    return Outbox(read=len(mutations), open=notices, **members)


def answer(seq: int, status: int = 200, **members: Any) -> DeliveryAttempt:
    error = "" if status in range(200, 300) else "It said no."
    given = {
        "seq": seq,
        "asked": 0,
        "id": f"rec_{seq}_a",
        "type": "t",
        "mutation_id": "m",
        "status": status,
        "error": error,
    }
    return DeliveryAttempt(**{**given, **members})


def due(outbox: Outbox, now: float = 0.0) -> list[int]:
    return [notice.seq for notice in outbox.due(now)]


def test_of_a_mutation_only_the_first_is_due() -> None:
    outbox = box("a", "b", "a", "")
    assert due(outbox) == [1, 2, 4]
    after, _ = outbox.after([answer(1), answer(2)], 0, SCHEDULE)
    assert due(after) == [3, 4]


def test_what_failed_holds_up_its_mutation_and_nothing_else() -> None:
    outbox = box("a", "b", "a")
    after, results = outbox.after([answer(1, 400), answer(2)], 100, SCHEDULE)
    assert due(after, 104) == []
    assert due(after, 105) == [1]
    assert [(each["seq"], each["state"], each["attempt"], each["again_at"]) for each in results] == [
        (1, "retrying", 1, 105),
        (2, "delivered", 1, None),
    ]


def test_it_is_given_up_after_the_last_wait_and_the_next_one_goes() -> None:
    outbox, now = box("a", "a"), 0.0
    states = []
    for _ in range(3):
        outbox, [result] = outbox.after([answer(1, 422)], now, SCHEDULE)
        states.append(result["state"])
        now += 1_000
    assert states == ["retrying", "retrying", "given_up"]
    assert due(outbox, now) == [2]


@pytest.mark.parametrize("gone", [answer(1, 410), answer(1, 0, for_good=True)])
def test_what_is_gone_is_given_up_at_once(gone: DeliveryAttempt) -> None:
    after, [result] = box("a").after([gone], 0, SCHEDULE)
    assert (after.open, result["state"]) == ((), "given_up")


def test_a_receiver_that_is_down_is_asked_with_one_notice_and_ever_more_rarely() -> None:
    outbox = box(*"abc")
    pauses, tried, now = [], [], 0.0
    for _ in range(6):
        chosen = outbox.due(now)
        tried.append([notice.seq for notice in chosen])
        outbox, _ = outbox.after([answer(notice.seq, 503) for notice in chosen], now, (0.0,) * 20)
        pauses.append(outbox.resume_at - now)
        assert not outbox.due(outbox.resume_at - 0.1)
        now = outbox.resume_at
    assert tried == [
        [1, 2, 3],
        [1],
        [2],
        [3],
        [1],
        [2],
    ]  # never the same again and again: it may be this notice that breaks it
    assert pauses == [2, 4, 8, 16, 32, 64]
    after, _ = outbox.after([answer(3)], now, SCHEDULE)
    assert (after.failures, due(after, now)) == (0, [1, 2])


def test_one_notice_that_breaks_the_receiver_does_not_count_as_down() -> None:
    after, _ = box("a", "b").after([answer(1, 500), answer(2)], 0, SCHEDULE)
    assert (after.failures, after.resume_at) == (0, 0)


def test_the_receiver_may_say_when() -> None:
    after, [result] = box("a").after([answer(1, 429, retry_after=70.0)], 10, SCHEDULE)
    assert (after.resume_at, result["again_at"]) == (80, 80)


def test_a_pause_has_an_end() -> None:
    after, _ = box("a", failures=1_000).after([answer(1, 0)], 0, (0.0,) * 10)
    assert after.resume_at == 600


def test_what_was_asked_for_again_is_another_notice() -> None:
    outbox = box("a").with_record(9, OpenNotice(seq=1, mutation_id="", asked=9))
    assert [notice.key for notice in outbox.due(0)] == [(1, 0), (1, 9)]
    after, [result] = outbox.after([answer(1, asked=9)], 0, SCHEDULE)
    assert (result["asked"], [notice.key for notice in after.open]) == (9, [(1, 0)])


def test_attempts_are_summed_up_from_batch_to_batch() -> None:
    outbox, _ = box(*"abc").after([answer(1), answer(2, 400), answer(3, 410)], 0, SCHEDULE)
    assert outbox.totals == {"delivered": 1, "retrying": 1, "given_up": 1}
    outbox, _ = Outbox.from_json(outbox.to_json()).after([answer(2)], 5, SCHEDULE)
    assert outbox.totals == {"delivered": 2, "retrying": 1, "given_up": 1}


def test_it_is_stored_whole_and_has_a_limit() -> None:
    outbox = box(*(f"m{number}" for number in range(MOST_OPEN)), failures=2, resume_at=1.5)
    assert Outbox.from_json(outbox.to_json()) == outbox
    assert outbox.full
    assert len(box(*map(str, range(MOST_OPEN))).due(0)) == AT_ONCE
