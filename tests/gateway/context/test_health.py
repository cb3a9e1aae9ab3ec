"""Every member is always there, and says whether a source was read."""

from datetime import UTC, datetime

import pytest

from gateway.context.health import DataHealth, DataSource, ReadStatus

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_every_member_is_always_there() -> None:
    bare = DataHealth(read_at=NOW, sources=()).to_json()
    full = DataHealth(read_at=NOW, sources=(DataSource(name="live"),), age_seconds=3, max_age_seconds=5).to_json()
    assert bare.keys() == full.keys()
    assert bare["read_at"] == "2026-11-21T00:00:00Z"
    assert full["sources"] == [{"name": "live", "status": "ok", "error": ""}]


@pytest.mark.parametrize(
    ("age", "wanted", "within"), [(None, None, None), (3, None, None), (3, 5, True), (5, 3, False), (None, 3, False)]
)
def test_whether_it_is_as_fresh_as_was_asked(age: float | None, wanted: float | None, within: bool | None) -> None:
    health = DataHealth(read_at=NOW, sources=(), age_seconds=age, max_age_seconds=wanted)
    assert health.to_json()["within_requested_age"] is within


def test_the_statuses_are_words() -> None:
    assert [each.value for each in ReadStatus] == ["ok", "not_read", "failed", "unsupported", "not_shown"]
