"""What the settings of chat and webhooks come to in a gateway."""

import base64
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import Any

from gateway.app.doors import delivery_book, slack_chat
from gateway.core.settings import Settings
from tests.kit.doubles import FixedClock

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
SLACK = {"signing_secret": "s" * 32, "team": "T1", "webhook_url": "https://hooks.slack.com/services/x"}


def _ports(**settings: Any) -> Any:
    nothing = SimpleNamespace()
    parts = {"ledger": nothing, "keys": nothing, "wakeups": nothing, "clock": FixedClock()}
    return SimpleNamespace(settings=Settings.model_validate(settings), **parts)


def test_the_receivers_are_those_that_the_reconciler_delivers_to() -> None:
    hooks = [{"name": "ops", "url": "https://a.example", "secret": SECRET}]
    assert delivery_book(_ports()).receivers == []
    assert delivery_book(_ports(webhooks=hooks, chat={"slack": SLACK})).receivers == ["ops", "chat-slack"]


async def test_the_chat_is_closed_with_the_gateway() -> None:
    async with AsyncExitStack() as stack:
        chat = slack_chat(_ports(chat={"slack": SLACK}), stack)
        assert (chat.settings.on, chat.links.team) == (True, "T1")
        assert not slack_chat(_ports(), stack).settings.on
