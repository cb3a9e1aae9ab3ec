"""Every state of a breaker with everything that can happen in it."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.model.breaker import Breaker, BreakerState
from gateway.model.budget import BreakerRule

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULE = BreakerRule(in_a_row=3, open_seconds=30)
LATER = NOW + timedelta(seconds=30)
CLOSED, HALF = Breaker(in_a_row=2), Breaker(state=BreakerState.HALF_OPEN, in_a_row=3, trial="mut_t")
OPEN = Breaker(state=BreakerState.OPEN, in_a_row=3, until=LATER)
OPEN_LATER = Breaker(state=BreakerState.OPEN, in_a_row=4, until=LATER + timedelta(seconds=30))


def test_it_opens_after_that_many_in_a_row() -> None:
    assert Breaker().refused(NOW, RULE) == Breaker(in_a_row=1)
    assert CLOSED.refused(NOW, RULE) == OPEN
    assert CLOSED.failed(NOW, "mut_1", RULE) == OPEN
    assert CLOSED.succeeded("mut_1") == Breaker()


def test_it_keeps_out_until_its_time_and_then_lets_one_try() -> None:
    assert not CLOSED.shut(NOW)
    assert OPEN.shut(LATER - timedelta(microseconds=1))
    assert not OPEN.shut(LATER)
    assert OPEN.tried_by("mut_t") == HALF
    assert HALF.shut(LATER, "mut_other")
    assert not HALF.shut(LATER, "mut_t")
    assert CLOSED.tried_by("mut_1") == CLOSED


def test_the_trial_closes_it_or_opens_it_again() -> None:
    assert HALF.succeeded("mut_t") == Breaker()
    assert HALF.failed(LATER, "mut_t", RULE) == OPEN_LATER
    assert OPEN.refused(LATER, RULE) == OPEN_LATER, "the trial was denied"


@pytest.mark.parametrize("breaker", [OPEN, HALF])
def test_late_outcomes_of_calls_before_change_nothing_but_the_count(breaker: Breaker) -> None:
    assert breaker.succeeded("mut_before") == breaker
    failed = breaker.failed(LATER, "mut_before", RULE)
    assert (failed.state, failed.until, failed.trial) == (breaker.state, breaker.until, breaker.trial)
    assert failed.in_a_row == 4


def test_a_refusal_beside_the_trial_only_counts() -> None:
    assert HALF.refused(LATER, RULE).state is BreakerState.HALF_OPEN
    assert OPEN.refused(NOW, RULE).until == LATER


def test_without_a_rule_it_closes_when_the_trial_is_lost_and_never_opens() -> None:
    assert HALF.failed(LATER, "mut_t", None).state is BreakerState.CLOSED
    assert CLOSED.refused(NOW, None) == Breaker(in_a_row=3)
