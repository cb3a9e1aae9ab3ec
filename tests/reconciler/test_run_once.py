"""Options that do not go together are said before anything runs."""

from pathlib import Path

import pytest

from gateway.errors import SettingsInvalid
from reconciler.run_once import OneRun, cache_of, run_once


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (OneRun(path=Path(), only=("aws_x.y",)), "go together"),
        (OneRun(path=Path(), planned=False), "go together"),
        (OneRun(path=Path("/nowhere"), planned=False, only=("aws_x.y",)), "--state"),
        (OneRun(path=Path(), tokens=1000), "ANTHROPIC_API_KEY"),
    ],
)
async def test_options_that_do_not_go_together_are_refused(run: OneRun, reason: str) -> None:
    with pytest.raises(SettingsInvalid, match=reason):
        await run_once(run, {})


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
