"""Options that do not go together are said before anything runs."""

from pathlib import Path

import pytest

from gateway.errors import SettingsInvalid
from reconciler.run_once import OneRun, run_once


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
