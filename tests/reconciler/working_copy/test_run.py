"""Options that do not go together are said before anything runs."""

from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from reconciler.suggest.claude import ClaudeSuggester
from reconciler.working_copy.run import WorkingCopyRun, _suggestions, cache_of, reconcile_working_copy
from tests.kit.growth import count_parses


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (WorkingCopyRun(path=Path(), only=("aws_x.y",)), "go together"),
        (WorkingCopyRun(path=Path(), planned=False), "go together"),
        (WorkingCopyRun(path=Path("/nowhere"), planned=False, only=("aws_x.y",)), "--state"),
        (WorkingCopyRun(path=Path(), tokens=1000), "ANTHROPIC_API_KEY"),
    ],
)
async def test_options_that_do_not_go_together_are_refused(run: WorkingCopyRun, reason: str) -> None:
    with pytest.raises(SettingsInvalid, match=reason):
        await reconcile_working_copy(run, {})


async def test_one_run_parses_each_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".terraform").mkdir()
    (tmp_path / "main.tf").write_text("locals {}\n")
    (tmp_path / "terraform.tfstate").write_text('{"version": 4, "resources": []}')
    parses = count_parses(monkeypatch)
    report = await reconcile_working_copy(WorkingCopyRun(path=tmp_path, planned=False, only=("aws_x.y",)), {})
    assert "has no resource" in report.left[0].reason
    assert parses == {Path("main.tf"): 1}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/sentinel/providers"),
        ({"HOME": "/h"}, "/h/.cache/sentinel/providers"),
        ({"XDG_CACHE_HOME": "c", "HOME": "/h"}, "/h/.cache/sentinel/providers"),
        ({}, None),
    ],
)
def test_what_can_be_asked_for_again_is_kept_in_the_users_cache(
    environment: dict[str, str], expected: str | None
) -> None:
    assert cache_of(environment) == (None if expected is None else Path(expected))


@pytest.mark.slow
def test_nothing_is_kept_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloned repository could bring a budget that never ends, and edits that it wants."""
    state, clone = tmp_path / "state", tmp_path / "clone"
    clone.mkdir()
    monkeypatch.chdir(clone)
    run = WorkingCopyRun(path=clone, tokens=1000)
    environment = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(state), "ANTHROPIC_API_KEY": "sk-test"}
    suggestions = _suggestions(run, environment)
    assert suggestions is not None
    assert isinstance(suggestions.suggester, ClaudeSuggester)
    assert suggestions.knowledge.file.is_relative_to(state)
    assert suggestions.suggester.model.budget.file.is_relative_to(state)
