"""The budget holds over restarts, starts again each day, and a file that was touched gives nothing away."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reconciler.suggest.budget import TokenBudget


class _Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 11, 22, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def _budget(tmp_path: Path, clock: _Clock) -> TokenBudget:
    return TokenBudget(file=tmp_path / "tokens.json", a_day=100, clock=clock)


def test_no_more_than_a_days_tokens_are_taken(tmp_path: Path, clock: _Clock) -> None:
    assert _budget(tmp_path, clock).take(60)
    assert not _budget(tmp_path, clock).take(41)
    assert _budget(tmp_path, clock).take(40)
    assert _budget(tmp_path, clock).left == 0


def test_what_was_not_used_comes_back(tmp_path: Path, clock: _Clock) -> None:
    budget = _budget(tmp_path, clock)
    assert budget.take(60)
    budget.give_back(50)
    assert budget.left == 90
    budget.give_back(-200)
    assert budget.left == 0


def test_the_next_day_has_its_own(tmp_path: Path, clock: _Clock) -> None:
    assert _budget(tmp_path, clock).take(100)
    clock.time += timedelta(days=1)
    assert _budget(tmp_path, clock).take(100)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"day": 1}'])
def test_a_file_that_cannot_be_read_counts_as_spent(tmp_path: Path, clock: _Clock, content: str) -> None:
    (tmp_path / "tokens.json").write_text(content)
    assert _budget(tmp_path, clock).left == 0
