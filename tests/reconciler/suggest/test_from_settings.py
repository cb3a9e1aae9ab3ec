"""Without a key nothing is suggested; with one the model in the settings is asked, at the endpoint in the settings."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.core.settings import SuggestSettings
from gateway.core.times import SystemClock
from reconciler.suggest.from_settings import open_suggestions, users_folder
from tests.kit.messages_api import messages_api
from tests.reconciler.suggest.conftest import Ask

TIMEOUT = "visibility_timeout_seconds = 30"


def test_without_a_key_there_are_none(tmp_path: Path) -> None:
    assert open_suggestions(SuggestSettings(), tmp_path, SystemClock()) is None


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_with_a_key_the_model_is_asked(ask: Ask, tmp_path: Path) -> None:
    replacement = {"path": "main.tf", "find": TIMEOUT, "replace": TIMEOUT.replace("30", "60")}
    async with messages_api({"replacements": [replacement], "reason": ""}) as api:
        settings = SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url, model="claude-haiku-5-5")
        suggestions = open_suggestions(settings, tmp_path, SystemClock())
        assert suggestions is not None
        found = await suggestions.find(tmp_path, ask(60))
    assert found is not None
    assert (api.asked[0]["model"], api.keys) == ("claude-haiku-5-5", ["sk-test"])


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("status", [408, 409, 429, 500, 529])
async def test_a_failed_request_is_not_sent_again(ask: Ask, tmp_path: Path, status: int) -> None:
    """What one request may cost was taken once."""
    async with messages_api(*[status] * 3) as api:
        settings = SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url)
        suggestions = open_suggestions(settings, tmp_path, SystemClock())
        assert suggestions is not None
        assert await suggestions.find(tmp_path, ask(60)) is None
    assert len(api.asked) == 1


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.local/state/sentinel/suggest"),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "/var/ada"}, "/var/ada/sentinel/suggest"),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "here"}, "/home/ada/.local/state/sentinel/suggest"),
    ],
)
def test_what_is_known_and_spent_lies_with_the_user_and_never_in_a_repository(
    environment: dict[str, str], folder: str
) -> None:
    assert users_folder(environment) == Path(folder)


@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_any_event_loop_may_ask(ask: Ask, tmp_path: Path) -> None:
    """DBOS runs workflows in a loop of its own, and connections of one loop are of no use in another."""
    nothing = {"replacements": [], "reason": ""}
    async with messages_api(nothing, nothing, nothing) as api:
        settings = SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url)
        suggestions = open_suggestions(settings, tmp_path, SystemClock())
        assert suggestions is not None
        for value in (60, 70):
            await asyncio.to_thread(lambda: asyncio.run(suggestions.find(tmp_path, ask(value))))  # noqa: B023  run at once
        await suggestions.find(tmp_path, ask(80))
    assert len(api.asked) == 3
