"""The receivers: what each is told, and how that is signed."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from slack_sdk.models.blocks import Block
from standardwebhooks import Webhook

from gateway.errors import SettingsInvalid
from gateway.notices.content import notice_of
from gateway.settings_notices import SlackSettings, WebhookSettings
from reconciler.notify.post import PostAnswer
from reconciler.notify.receivers import SlackReceiver, WebhookReceiver
from tests.kit.held import HELD, effect, held_record
from tests.kit.hook import HookStub, receiving

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def hook(**given: object) -> WebhookReceiver:
    settings = {"name": "ops", "url": "https://ops.example/", "secret": SECRET, **given}
    return WebhookReceiver(settings=WebhookSettings.model_validate(settings))


def test_a_webhook_is_the_same_at_each_attempt_but_for_its_time() -> None:
    record = held_record()
    notice = notice_of(record)
    assert notice is not None
    now = datetime.now(UTC)
    first, second = (hook().message(notice, record, at) for at in (now, now.replace(year=now.year + 1)))
    assert first[0] == second[0]
    assert first[1]["webhook-id"] == second[1]["webhook-id"] == notice.id
    assert first[1]["webhook-signature"] != second[1]["webhook-signature"]
    assert Webhook(SECRET).verify(first[0], dict(first[1]))["data"]["mutation_id"] == HELD


def test_without_a_secret_nothing_is_made() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    with pytest.raises(SettingsInvalid, match="no secret now"):
        hook(secret="", secret_env="NOT_SET_HERE").message(notice, held_record(), datetime.now(UTC))


def test_filters_are_those_of_the_settings() -> None:
    notice = notice_of(held_record())
    assert notice is not None
    assert hook().fits(notice)
    assert not hook(stacks=["other"]).fits(notice)
    assert (hook().name, hook(retry_seconds=[1, 2]).schedule) == ("ops", (1, 2))


async def test_a_card_is_posted_to_the_chat_of_the_settings() -> None:
    with receiving(HookStub()) as stub:
        origin = f"http://127.0.0.1:{stub.port}"
        settings = SlackSettings.model_validate(
            {"signing_secret": "s" * 32, "team": "T1", "host": origin, "webhook_url": f"{origin}/services/T/B/x"}
        )
        slack = SlackReceiver(settings=settings, public_url="https://s.example", schedule=(1.0,))
        record = held_record()
        notice = notice_of(record)
        assert notice is not None
        assert slack.fits(notice)
        assert not slack.fits(replace(notice, stack="", type=notice.type.SETTLED))
        post = slack.open()
        assert await post.send(*slack.message(notice, record, datetime.now(UTC))) == PostAnswer(status=200)
        await post.close()
        [received] = stub.received
        assert received.path == "/services/T/B/x"
        assert Block.parse_all(received.document["blocks"])
        assert "webhook-signature" not in received.headers


def test_rights_are_shown_without_buttons() -> None:
    settings = SlackSettings.model_validate({"signing_secret": "s" * 32, "team": "T1"})
    slack = SlackReceiver(settings=settings, public_url="", schedule=())
    record = held_record(effect("aws_iam_role.a", "inline_policy"))
    notice = notice_of(record)
    assert notice is not None
    body, _ = slack.message(notice, record, datetime.now(UTC))
    assert "actions" not in {block["type"] for block in json.loads(body)["blocks"]}
    assert slack.name == "chat-slack"


async def test_the_chat_may_be_on_this_machine_only_if_the_settings_say_so() -> None:
    settings = SlackSettings.model_validate(
        {"signing_secret": "s" * 32, "team": "T1", "host": "https://127.0.0.1", "webhook_url": "https://127.0.0.1/x"}
    )
    post = SlackReceiver(settings=settings, public_url="", schedule=()).open()
    assert "nothing was sent" in (await post.send(b"{}", {})).error
    await post.close()
