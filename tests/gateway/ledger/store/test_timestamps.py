"""Stored times keep their order and their microseconds."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ledger.store.timestamps import from_text, to_text

_TIMES = st.datetimes(timezones=st.just(UTC))


@given(_TIMES, _TIMES)
def test_text_sorts_as_time_does_and_reads_back(one: datetime, other: datetime) -> None:
    assert from_text(to_text(one)) == one
    assert (to_text(one) < to_text(other)) == (one < other)
    assert len(to_text(one)) == 27


def test_another_zone_is_the_same_moment() -> None:
    at = datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert to_text(at) == "2026-02-28T23:00:00.000000Z"


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        to_text(datetime(2026, 3, 1))  # noqa: DTZ001  the mistake itself
