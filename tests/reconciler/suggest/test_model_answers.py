"""One question costs what its answer says; without an answer it costs all that was taken, and is only no answer."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.core.times import SystemClock
from reconciler.suggest.language_model import BoundedModel, TokenBudget
from tests.kit.messages_api import MessagesApi, messages_api

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


class _Word(BaseModel):
    word: str


def _model(api: MessagesApi, tmp_path: Path, a_day: int = 10_000) -> BoundedModel:
    from anthropic import AsyncAnthropic  # noqa: PLC0415  a second, which each process that only collects the tests would take

    def client() -> AsyncAnthropic:
        return AsyncAnthropic(api_key="sk-test", base_url=api.url, max_retries=0)

    budget = TokenBudget(file=tmp_path / "tokens.json", a_day=a_day, clock=SystemClock())
    return BoundedModel(client=client, name="claude-haiku-5-5", budget=budget)


@pytest.mark.slow
async def test_an_answer_has_its_form_and_its_price(tmp_path: Path) -> None:
    async with messages_api({"word": "yes"}) as api:
        model = _model(api, tmp_path)
        found = await model.ask("Say a word.", "Which?", _Word, most_answer=200)
    assert found is not None
    assert (found.answer, found.tokens, model.budget.left) == (_Word(word="yes"), 1000, 9000)
    assert (api.asked[0]["system"], api.asked[0]["max_tokens"]) == ("Say a word.", 200)


@pytest.mark.parametrize("answer", ["no JSON", {"other": 1}, 400, 401, 529])
async def test_no_answer_keeps_what_was_taken(tmp_path: Path, answer: Any) -> None:
    async with messages_api(answer) as api:
        model = _model(api, tmp_path)
        assert await model.ask("1234", "5678", _Word, most_answer=200) is None
    assert model.budget.left in (10_000 - 204, 9_000)
    assert len(api.asked) == 1


async def test_what_the_budget_does_not_allow_is_not_sent(tmp_path: Path) -> None:
    async with messages_api() as api:
        assert await _model(api, tmp_path, a_day=203).ask("1234", "5678", _Word, most_answer=200) is None
    assert api.asked == []
