"""A token bucket as one moment: what fits, when the rest does, and that rounding neither gives nor takes a token."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.budget import Charge, FairShare, charged, fair_share_from_json, fair_share_to_json, first_misfit
from gateway.core.model.circuit_breaker import Breaker, BreakerRule, BreakerState

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def spend(charge: Charge, moments: list[datetime]) -> list[bool]:
    """Which of these calls fit, each charged if it does."""
    full: datetime | None = None
    fitted = []
    for at in moments:
        fits = charge.fits(full, at)
        fitted.append(fits)
        if fits:
            full = charge.full_at(full, at)
    return fitted


@pytest.mark.parametrize("most", [1, 2, 3, 7, 60, 61, 1_000])
@pytest.mark.parametrize("seconds", [60, 3_600, 86_400])
def test_exactly_that_many_fit_at_once(most: int, seconds: int) -> None:
    assert spend(Charge(most=most, seconds=seconds), [NOW] * (most + 3)) == [True] * most + [False] * 3


def test_it_fills_again_with_time() -> None:
    charge = Charge(most=2, seconds=60)
    full = charge.full_at(charge.full_at(None, NOW), NOW)
    assert charge.fits_at(full, NOW) == NOW + 30 * SECOND
    assert not charge.fits(full, NOW + 29 * SECOND)
    assert charge.fits(full, NOW + 30 * SECOND)
    assert [charge.left(full, NOW + seconds * SECOND) for seconds in (0, 29, 30, 59, 60, 600)] == [0, 0, 1, 1, 2, 2]


@given(most=st.integers(1, 50), gaps=st.lists(st.integers(0, 90), max_size=120), seconds=st.sampled_from([60, 3_600]))
def test_no_span_ever_has_more_than_twice_the_budget(most: int, gaps: list[int], seconds: int) -> None:
    """A full bucket, and what fills in while it is emptied: the usual bound of a token bucket."""
    charge, at, moments = Charge(most=most, seconds=seconds), NOW, []
    for gap in gaps:
        at += gap * SECOND
        moments.append(at)
    taken = [at for at, fits in zip(moments, spend(charge, moments), strict=True) if fits]
    for first in taken:
        assert sum(first <= at < first + charge.span for at in taken) <= 2 * most


@given(
    most=st.integers(1, 1_000),
    cost=st.integers(1, 1_000),
    before=st.integers(-100, 100),
    seconds=st.sampled_from([60, 3_600]),
)
def test_it_fits_from_the_moment_that_is_told(most: int, cost: int, before: int, seconds: int) -> None:
    charge = Charge(most=max(most, cost), seconds=seconds, cost=cost)
    full = NOW + before * SECOND
    again = charge.fits_at(full, NOW)
    assert charge.fits(full, again)
    assert charge.fits(full, NOW) is (again == NOW)


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    charge = Charge(most=1, seconds=60)
    full = charge.full_at(None, NOW)
    assert not charge.fits(full, NOW - 600 * SECOND)
    assert charge.left(full, NOW - 600 * SECOND) == 0


def test_an_empty_bucket_is_never_later_than_its_span() -> None:
    """What is only observed is charged and never refused: it must not be in debt for ever."""
    charge, full = Charge(most=2, seconds=60), None
    for _ in range(10):
        full = charge.full_at(full, NOW)
    assert full == NOW + 60 * SECOND


def test_only_what_is_sent_costs_a_size() -> None:
    charges = {
        "minute": Charge(most=2, seconds=60),
        "instances/day": Charge(most=9, seconds=90, cost=3, when_sent=True),
    }
    held = charged({}, charges, NOW, sent=False)
    assert held == {"minute": NOW + 30 * SECOND}
    assert charged({}, charges, NOW, sent=True) == {**held, "instances/day": NOW + 30 * SECOND}
    assert charged({"old": NOW}, {}, NOW, sent=True) == {}, "full buckets are forgotten"


def test_the_longest_wait_is_told() -> None:
    charges = {"hour": Charge(most=1, seconds=3_600), "minute": Charge(most=1, seconds=60)}
    assert first_misfit({}, charges, NOW, sent=True) is None
    levels = charged({}, charges, NOW, sent=True)
    assert first_misfit(levels, charges, NOW, sent=True) == ("hour", NOW + 3_600 * SECOND)
    assert first_misfit(levels, charges, NOW + 60 * SECOND, sent=True) == ("hour", NOW + 3_600 * SECOND)


@pytest.mark.parametrize(
    "rule",
    [None, BreakerRule(in_a_row=3, open_seconds=30), BreakerRule(in_a_row=3, open_seconds=30, within_seconds=600)],
)
def test_a_share_is_read_as_it_was_recorded(rule: BreakerRule | None) -> None:
    share = FairShare(charges={"minute": Charge(most=2, seconds=60, cost=4, when_sent=True)}, breaker=rule)
    assert fair_share_from_json(fair_share_to_json(share)) == share
    assert fair_share_from_json({"claim_seconds": 3}) == FairShare()


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


def test_a_row_ends_its_time_after_the_first_refusal() -> None:
    rule = BreakerRule(in_a_row=3, open_seconds=30, within_seconds=600)
    late = NOW + timedelta(seconds=600)
    twice = Breaker().refused(NOW, rule).failed(late - timedelta(seconds=1), "mut_1", rule)
    assert twice == Breaker(in_a_row=2, until=late)
    assert twice.refused(late - timedelta(seconds=1), rule).state is BreakerState.OPEN
    assert twice.refused(late, rule) == Breaker(in_a_row=1, until=late + timedelta(seconds=600))
    assert (twice.row_until, twice.open_until, OPEN.open_until) == (late, None, LATER)


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
