"""A model is asked with redacted code and within the budget; whatever goes wrong there, it is only no suggestion."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.masking import PER_RUN
from gateway.core.times import SystemClock
from reconciler.model import Wanted
from reconciler.suggest.claude import ClaudeSuggester, question_text
from reconciler.suggest.language_model import BoundedModel, TokenBudget
from reconciler.suggest.question import Question, Replacement, Suggestion
from tests.kit.messages_api import MessagesApi, messages_api
from tests.reconciler.suggest.conftest import CODE, Ask

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
GIVEN = {"path": "main.tf", "find": "= 30\n}", "replace": "= 60\n}"}


async def _suggest(
    api: MessagesApi, tmp_path: Path, question: Question, a_day: int = 100_000
) -> tuple[Suggestion | None, int]:
    from anthropic import AsyncAnthropic  # noqa: PLC0415  a second, which each process that only collects the tests would take

    budget = TokenBudget(file=tmp_path / "tokens.json", a_day=a_day, clock=SystemClock())
    model = BoundedModel(
        client=lambda: AsyncAnthropic(api_key="sk-test", base_url=api.url, max_retries=0),
        name="claude-sonnet-5-5",
        budget=budget,
    )
    return await ClaudeSuggester(model=model).suggest(question), budget.left


@pytest.mark.slow
async def test_an_answer_is_a_suggestion_and_costs_what_it_says(ask: Ask, tmp_path: Path) -> None:
    async with messages_api({"replacements": [GIVEN], "reason": "It is a literal."}) as api:
        suggestion, left = await _suggest(api, tmp_path, ask())
    assert suggestion == Suggestion(replacements=(Replacement(**GIVEN),), reason="It is a literal.", tokens=1000)
    assert left == 99_000
    assert api.keys == ["sk-test"]
    (asked,) = api.asked
    assert "Answer with replacements" in asked["system"]
    assert "visibility_timeout_seconds" in asked["messages"][0]["content"]
    assert asked["output_config"]["format"]["type"] == "json_schema"


@pytest.mark.parametrize("answer", [{"replacements": [], "reason": "None."}, "no JSON", {"other": 1}, 500, 529, 401])
async def test_anything_else_is_no_suggestion(ask: Ask, tmp_path: Path, answer: Any) -> None:
    async with messages_api(answer) as api:
        suggestion, left = await _suggest(api, tmp_path, ask())
    assert suggestion is None
    assert left < 100_000


async def test_a_server_that_cannot_be_reached_is_no_suggestion(ask: Ask, tmp_path: Path) -> None:
    async with messages_api() as api:
        pass
    assert (await _suggest(api, tmp_path, ask()))[0] is None


async def test_secrets_are_not_sent(ask: Ask, tmp_path: Path) -> None:
    code = CODE + b'\nresource "aws_db_instance" "x" {\n  password = "hunter-two"\n}\n'
    async with messages_api({"replacements": [], "reason": ""}) as api:
        await _suggest(api, tmp_path, ask(code=code))
    assert "hunter-two" not in str(api.asked)


async def test_what_is_spent_must_be_kept(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    async with messages_api() as api:
        assert (await _suggest(api, tmp_path / "a file", ask()))[0] is None
    assert api.asked == []


@pytest.mark.parametrize(
    ("address", "attribute", "value"),
    [
        ("aws_db_instance.x", "password", "hunter-two"),
        ("aws_lambda_function.x", "environment.0.variables.DB", "hunter-two"),
        ("aws_sqs_queue.orders", "tags.a", "is hunter-two"),
    ],
)
async def test_nothing_is_asked_about_a_value_that_may_be_a_secret(
    ask: Ask, tmp_path: Path, address: str, attribute: str, value: str
) -> None:
    question = ask(code=CODE + b'\nlocals {\n  token = "hunter-two"\n}\n')
    wanted = Wanted(address=address, attribute=attribute, value=value)
    question = replace(question, left=replace(question.left, wanted=wanted), before=None)
    async with messages_api() as api:
        assert await _suggest(api, tmp_path, question) == (None, 100_000)
    assert api.asked == []


async def test_the_reason_is_shown_without_secrets_and_without_code_nothing_is_asked(ask: Ask, tmp_path: Path) -> None:
    code = CODE + b'\nlocals {\n  token = "hunter-two"\n}\n'
    assert "hunter-two" not in (question_text(ask(code=code, reason="hunter-two is not a number."), PER_RUN) or "")
    assert question_text(ask(code=b"locals {"), PER_RUN) is None


async def test_without_budget_or_with_too_much_code_nothing_is_sent(ask: Ask, tmp_path: Path) -> None:
    async with messages_api() as api:
        assert await _suggest(api, tmp_path, ask(), a_day=100) == (None, 100)
        assert (await _suggest(api, tmp_path, ask(code=CODE + b"locals {\n" + b" " * 60_000 + b"}\n")))[0] is None
    assert api.asked == []
