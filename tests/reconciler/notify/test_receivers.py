"""The receivers: what each is told, and how that is signed."""

import base64
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from gateway.core.errors import SettingsInvalid
from gateway.core.settings.notices import WebhookSettings
from gateway.notices.content import notice_of
from reconciler.notify.receivers import WebhookReceiver
from tests.kit.held import HELD, held_record

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()


def hook(**given: object) -> WebhookReceiver:
    settings = {"name": "ops", "url": "https://ops.example/", "secret": SECRET, **given}
    return WebhookReceiver(settings=WebhookSettings.model_validate(settings))


def test_a_webhook_is_the_same_at_each_attempt_but_for_its_time() -> None:
    record = held_record()
    notice = notice_of(record)
    assert notice is not None
    now = datetime.now(UTC)
    [first], [second] = (hook().sendings(notice, record, at) for at in (now, now.replace(year=now.year + 1)))
    assert (first.body, first.path) == (second.body, "")
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == notice.id
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert Webhook(SECRET).verify(first.body, dict(first.headers))["data"]["mutation_id"] == HELD
    assert not hook().ends_cards(record)


def test_without_a_secret_nothing_is_made() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    with pytest.raises(SettingsInvalid, match="no secret now"):
        hook(secret="", secret_env="NOT_SET_HERE").sendings(notice, held_record(), datetime.now(UTC))


def test_filters_are_those_of_the_settings() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    assert hook().fits(notice)
    assert not hook(stacks=["other"]).fits(notice)
    assert (hook().name, hook(retry_seconds=[1, 2]).schedule) == ("ops", (1, 2))
