"""A failure makes the next attempt wait, ever longer; what was left is tried again when its circumstances changed."""

import time

from gateway.core.model.json import Json
from reconciler.retry import LeftRetries, Retry


def test_the_wait_doubles_and_has_an_end() -> None:
    assert Retry().due
    retry = Retry()
    assert [retry.failed() for _ in range(3)] == [2, 4, 8]
    assert not retry.due
    assert [retry.failed() for _ in range(10)][-1] == 600
    assert retry.failed(at_least=3_000) == 3_000
    retry.again_at = time.monotonic()
    assert retry.due


THEN: dict[str, Json] = {"protected": "c0", "others": []}
NOW: dict[str, Json] = {"protected": "c0", "others": ["mut_2"]}


def test_the_same_circumstances_give_no_reason_to_try_again() -> None:
    left_over = LeftRetries()
    assert not left_over.due("mut_1", THEN, THEN)
    assert left_over.due("mut_1", THEN, NOW)
    left_over.tried("mut_1", NOW)
    assert not left_over.due("mut_1", THEN, NOW)
    assert left_over.due("mut_1", THEN, THEN)


def test_a_record_of_an_earlier_version_is_tried_once() -> None:
    left_over = LeftRetries()
    assert left_over.due("mut_1", None, NOW)
    left_over.tried("mut_1", NOW)
    assert not left_over.due("mut_1", None, NOW)


def test_what_nothing_shows_is_tried_again_after_ever_longer_waits() -> None:
    left_over = LeftRetries()
    waits = []
    for _ in range(12):
        left_over.tried("mut_1", NOW)
        tried = left_over._tried["mut_1"]
        waits.append(tried.wait)
        assert not left_over.due("mut_1", NOW, NOW)
        tried.again_at = time.monotonic()
        assert left_over.due("mut_1", NOW, NOW)
    assert waits[:3] == [600, 1200, 2400]
    assert waits[-1] == 86_400


def test_what_is_no_longer_left_is_forgotten() -> None:
    left_over = LeftRetries()
    for name in ("mut_1", "mut_2"):
        left_over.tried(name, NOW)
    left_over.keep(frozenset({"mut_2"}))
    assert left_over.due("mut_1", None, NOW)
    assert not left_over.due("mut_2", None, NOW)
