"""The settings of webhooks and of the chat."""

import base64
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.errors import SettingsInvalid
from gateway.core.settings import Settings
from gateway.core.settings.notices import ChatSettings, SlackSettings, WebhookSettings, receiver_names

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
HOOK = {"name": "ops", "url": "https://ops.example/hook", "secret": SECRET}
SLACK = {"signing_secret": "s" * 32, "team": "T0001", "webhook_url": "https://hooks.slack.com/services/T/B/x"}


def hook(**given: Any) -> WebhookSettings:
    return WebhookSettings.model_validate({**HOOK, **given})


def test_everything_is_off_by_default() -> None:
    assert not Settings().webhooks
    assert not SlackSettings().on


def test_no_secret_is_shown() -> None:
    bot = SlackSettings.model_validate({**SLACK, "webhook_url": "", "bot_token": "xoxb-1", "channel": "C1"})
    shown = repr(hook(previous_secret=OLD)) + repr(SlackSettings.model_validate(SLACK)) + repr(bot)
    assert "xoxb" not in shown
    assert SECRET not in shown
    assert OLD not in shown
    assert "ssss" not in shown
    assert "services/T/B/x" not in shown


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"secret": "short"}, "24 to 64 bytes"),
        ({"previous_secret": "short"}, "24 to 64 bytes"),
        ({"secret": ""}, "Set one of `secret`"),
        ({"secret_env": "A"}, "Set one of `secret`"),
        ({"url": "http://ops.example/"}, "begins with https"),
        ({"url": "ftp://ops.example/"}, "begins with https"),
        ({"url": "https://user:x@ops.example/"}, "no user"),
        ({"url": "https:///x"}, "has a host"),
        ({"url": "https://a:99999/"}, "has a host"),
        ({"url": "https://a/#x"}, "no fragment"),
        ({"url": "https://a/\nx"}, "begins with https"),
        ({"private_addresses": ["10.0.0.1/8"]}, "host bits"),
        ({"events": ["mutation.sung"]}, "mutation.held"),
        ({"events": []}, "at least 1"),
        ({"name": "chat-slack"}, "the cards of the chat"),
        ({"allow": True}, "Extra inputs"),
    ],
)
def test_a_mistake_is_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        hook(**given)


def test_two_webhooks_have_two_names() -> None:
    with pytest.raises(ValidationError, match="same name"):
        Settings(webhooks=(hook(), hook()))


def test_http_needs_a_private_network() -> None:
    assert hook(url="http://hooks.internal:8080/x", private_addresses=["10.0.0.0/8"]).private_addresses


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"signing_secret": "short"}, "at least 16"),
        ({"team": ""}, "needs `team`"),
        ({"signing_secret": ""}, "needs `signing_secret`"),
        ({"webhook_url": "https://evil.example/services/x"}, "a URL of `host`"),
        ({"webhook_url": "https://hooks.slack.com.evil.example/x"}, "a URL of `host`"),
        ({"host": "http://hooks.slack.com"}, "begins with https"),
        ({"host": "https://hooks.slack.com/x"}, "a scheme and a host"),
        ({"api_host": "http://slack.com"}, "begins with https"),
        ({"api_host": "https://slack.com/api"}, "`api_host` is a scheme and a host"),
        ({"bot_token": "xoxb-1", "channel": "C1"}, "not both"),
        ({"bot_token": "xoxb-1", "webhook_url": ""}, "need each other"),
        ({"channel": "C1"}, "need each other"),
        ({"channel": "#general"}, "String should match"),
        ({"bot_token": "xoxb-1", "channel": "C1", "webhook_url": "", "signing_secret": ""}, "`bot_token` needs"),
    ],
)
def test_a_mistake_of_the_chat_is_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        SlackSettings.model_validate({**SLACK, **given})


def test_the_chat_is_a_receiver_if_cards_are_posted() -> None:
    assert receiver_names([hook()], ChatSettings()) == ["ops"]
    bot = {**SLACK, "webhook_url": "", "bot_token": "xoxb-1", "channel": "C1"}
    for given in (SLACK, bot):
        assert receiver_names([hook()], ChatSettings.model_validate({"slack": given})) == ["ops", "chat-slack"]


def test_keys_are_read_at_each_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secrets"
    kept = hook(secret="", secret_file=file)
    with pytest.raises(SettingsInvalid, match="cannot be read"):
        kept.keys()
    file.write_text(f"{SECRET}\n")
    assert kept.keys() == [b"s" * 32]
    file.write_text(f"{OLD}\n{SECRET}\n\n{OLD}\n{SECRET}")
    assert kept.keys() == [b"o" * 32, b"s" * 32, b"o" * 32]
    file.write_text("hunter2\n")
    with pytest.raises(SettingsInvalid, match="24 to 64") as refused:
        kept.keys()
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SettingsInvalid, match="no secret now"):
        hook(secret="", secret_env="NO_SUCH_SECRET").keys()
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    assert hook(secret="", secret_env="HOOK_SECRET").keys() == [b"s" * 32]
    assert hook(previous_secret=OLD).keys() == [b"s" * 32, b"o" * 32]
