"""The budget holds over restarts, starts again each day, and a file that was touched gives nothing away."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reconciler.suggest.language_model import TokenBudget


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


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"day": 1}', "[" * 100_000, '{"day": "2026-11-21"}', '{"day": "yesterday", "tokens": 0}', '{"day": "2026-11-23", "tokens": 0}']
    + [f'{{"day": "2026-11-22", "tokens": {tokens}}}' for tokens in ("-1", "-1e9", "1.5", "NaN", "Infinity", "-Infinity", "true", '"0"', "null", "[]")],
)  # fmt: skip
def test_a_file_that_says_what_we_never_write_counts_as_spent(tmp_path: Path, clock: _Clock, content: str) -> None:
    (tmp_path / "tokens.json").write_text(content)
    assert _budget(tmp_path, clock).left == 0
    assert not _budget(tmp_path, clock).take(1)


def test_less_than_nothing_is_not_taken(tmp_path: Path, clock: _Clock) -> None:
    assert not _budget(tmp_path, clock).take(-50)
    assert _budget(tmp_path, clock).left == 100


@pytest.mark.slow
def test_processes_that_take_at_once_spend_no_token_twice(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from gateway.core.times import SystemClock; from reconciler.suggest.language_model import TokenBudget;"
        "budget = TokenBudget(file=Path(sys.argv[1]), a_day=100, clock=SystemClock()); sys.stdin.readline();"
        "print(sum(budget.take(1) for _ in range(60)))"
    )
    argv = [sys.executable, "-c", script, str(tmp_path / "tokens.json")]
    runs = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    taken = [int(run.communicate("go\n")[0]) for run in runs]
    assert sum(taken) == 100
