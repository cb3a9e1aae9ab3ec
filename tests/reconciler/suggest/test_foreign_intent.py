"""A model finds words for a burst of changes from outside; it is shown no secrets, and its words are short and in the fixed form."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.core.model.masking import PER_RUN
from gateway.core.settings import SuggestSettings
from gateway.core.times import SystemClock
from reconciler.suggest.foreign_intent import changes_text
from reconciler.suggest.from_settings import open_namer
from reconciler.suggest.question import ChangedOutside, NamedIntent
from tests.kit.messages_api import MessagesApi, messages_api

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
CHANGE = ChangedOutside(
    address="aws_sqs_queue.jobs",
    resource_type="aws_sqs_queue",
    attribute="delay_seconds",
    before=0,
    after=5,
    actor="arn:aws:iam::1:user/ada",
    event="sqs:SetQueueAttributes",
    at="2026-11-22T12:00:00+00:00",
)


async def _named(api: MessagesApi, tmp_path: Path, **changes: Any) -> NamedIntent | None:
    namer = open_namer(SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url, **changes), tmp_path, SystemClock())
    assert namer is not None
    return await namer([CHANGE, replace(CHANGE, address="aws_sqs_queue.mail")])


async def test_a_burst_gets_a_goal_and_a_sentence(tmp_path: Path) -> None:
    async with messages_api({"intent": "cost", "summary": " Two queues wait longer. "}) as api:
        assert await _named(api, tmp_path) == NamedIntent(intent="cost", summary="Two queues wait longer.")
    asked = api.asked[0]
    assert "aws_sqs_queue.mail" in asked["messages"][0]["content"]
    assert asked["output_config"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"intent": "unclear", "summary": "No goal."}, NamedIntent(intent="", summary="No goal.")),
        ({"intent": "cost", "summary": "x" * 999}, NamedIntent(intent="cost", summary="x" * 300)),
        ({"intent": "cost", "summary": " "}, None),
        ({"intent": "fame", "summary": "It."}, None),
        (529, None),
    ],
)
async def test_other_answers_are_cut_to_the_form_or_none(
    tmp_path: Path, answer: Any, named: NamedIntent | None
) -> None:
    async with messages_api(answer) as api:
        assert await _named(api, tmp_path) == named


async def test_the_budget_is_that_of_suggestions_and_without_a_key_nobody_is_asked(tmp_path: Path) -> None:
    async with messages_api() as api:
        assert await _named(api, tmp_path, tokens_a_day=100) is None
    assert api.asked == []
    assert open_namer(SuggestSettings(), tmp_path, SystemClock()) is None


@pytest.mark.parametrize(
    ("kind", "attribute", "value"),
    [
        ("aws_db_instance", "password", "hunter-two"),
        ("aws_lambda_function", "environment", [{"variables": {"DB": "hunter-two"}}]),
        ("aws_sqs_queue", "tags", {"api_key": "hunter-two"}),
        ("aws_sqs_queue", "name", "postgres://a:hunter-two@b"),
    ],
)
def test_secrets_are_not_shown(kind: str, attribute: str, value: Any) -> None:
    change = replace(CHANGE, resource_type=kind, attribute=attribute, before=value, after=value)
    assert "hunter-two" not in changes_text([change], PER_RUN)


def test_a_long_burst_is_cut() -> None:
    assert changes_text([CHANGE] * 1_000, PER_RUN).count("\n") == 49
    assert len(changes_text([replace(CHANGE, after="x" * 90_000)], PER_RUN)) == 20_000
