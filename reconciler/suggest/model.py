"""Asks a Claude model one question in a fixed form, within a budget of tokens. Whatever goes wrong is only no answer.

Source: Anthropic's Messages API with structured outputs, by the `anthropic` package.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import structlog
from anthropic import AnthropicError, AsyncAnthropic
from pydantic import BaseModel, ValidationError

from reconciler.suggest.budget import TokenBudget

log = structlog.get_logger()

_CHARACTERS_A_TOKEN: Final = 2
"""Fewer than a token really has, so that what is taken from the budget is never too little."""

Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer(Generic[Form]):
    """An answer, and the tokens that it cost."""

    answer: Form
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedModel:
    """One model, and what may be spent on it."""

    client: Callable[[], AsyncAnthropic]
    """Makes a client. Each request has its own: a client's connections belong to one event loop, and a service has several."""
    name: str
    budget: TokenBudget

    async def ask(self, task: str, asked: str, form: type[Form], *, most_answer: int) -> ModelAnswer[Form] | None:
        """The answer in the given form, or None. `most_answer`: tokens that the answer may have."""
        most = len(task + asked) // _CHARACTERS_A_TOKEN + most_answer
        try:
            if self.budget.take(most):
                return await self._ask(task, asked, form, most_answer=most_answer, taken=most)
            log.info("not_suggested", reason=f"{self.budget.left} tokens are left today, and {most} may be needed.")
        except OSError as error:
            log.warning(
                "not_suggested", reason=f"What is spent cannot be kept in {self.budget.file}: {error.strerror}."
            )
        return None

    async def _ask(
        self, task: str, asked: str, form: type[Form], *, most_answer: int, taken: int
    ) -> ModelAnswer[Form] | None:
        try:
            async with self.client() as client:
                message = await client.messages.parse(
                    model=self.name,
                    max_tokens=most_answer,
                    system=task,
                    messages=[{"role": "user", "content": asked}],
                    output_format=form,
                )
        except (AnthropicError, ValidationError) as error:
            # What it cost is not known, so all that was taken stays taken.
            log.warning("not_suggested", reason=f"The model did not answer: {type(error).__name__}.")
            return None
        used = message.usage.input_tokens + message.usage.output_tokens
        self.budget.give_back(taken - used)
        answer = message.parsed_output
        return None if answer is None else ModelAnswer(answer=answer, tokens=used)
