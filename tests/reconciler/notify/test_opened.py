"""The receivers of the settings."""

import base64
from typing import Any

from gateway.core.settings import Settings
from reconciler.notify.opened import open_receivers
from tests.kit.doubles import FixedClock

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()


def _names(**given: Any) -> list[str]:
    nothing: Any = None
    return list(open_receivers(Settings.model_validate(given), nothing, FixedClock()))


def test_nobody_is_told_by_default() -> None:
    assert _names() == []


def test_each_webhook_and_the_chat_has_its_worker() -> None:
    hooks = [{"name": name, "url": "https://a.example", "secret": SECRET} for name in ("ops", "audit")]
    slack = {"signing_secret": "s" * 32, "team": "T1"}
    assert _names(webhooks=hooks, chat={"slack": slack}) == ["ops", "audit"]
    slack["webhook_url"] = "https://hooks.slack.com/services/x"
    assert _names(webhooks=hooks, chat={"slack": slack}) == ["ops", "audit", "chat-slack"]
