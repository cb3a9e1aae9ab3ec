"""Asks a Claude model one question in a fixed form, within a day's budget of tokens. Whatever goes wrong is only no answer.

Source: Anthropic's Messages API with structured outputs, by the `anthropic` package.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from gateway.core.ports import Clock

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

log = structlog.get_logger()
_CHARACTERS_A_TOKEN: Final = 2
"""Fewer than a token really has, so that what is taken from the budget is never too little."""
Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """How many tokens may still be spent today (UTC).

    What a request may cost at most is taken before it is sent, and corrected afterwards: if the process dies in between, the
    most it can have cost stays taken.
    """

    file: Path
    a_day: int
    clock: Clock

    def take(self, tokens: int) -> bool:
        """Take tokens if that many are left. Returns whether they were. Raises `OSError` if the file cannot be written."""
        with self._alone():
            spent = self._spent()
            if tokens < 0 or spent + tokens > self.a_day:
                return False
            self._write(spent + tokens)
            return True

    def give_back(self, tokens: int) -> None:
        """Correct what was taken by what was not used; a negative number if more was used than taken. Raises `OSError`."""
        with self._alone():
            self._write(max(0, self._spent() - tokens))

    @property
    def left(self) -> int:
        """Tokens left today."""
        return max(0, self.a_day - self._spent())

    @property
    def _today(self) -> date:
        return self.clock.now().astimezone(UTC).date()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Only one process at a time reads and writes the file, so that two runs cannot spend the same tokens."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.file.with_name(f"{self.file.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _spent(self) -> int:
        """Tokens spent today. A file that says anything that we do not write counts as spent, as one of a later day does."""
        try:
            kept: Any = json.loads(self.file.read_text())
            day, tokens = date.fromisoformat(kept["day"]), kept["tokens"]
        except FileNotFoundError:
            return 0
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return self.a_day
        if type(tokens) is not int or tokens < 0 or day > self._today:
            return self.a_day
        return tokens if day == self._today else 0

    def _write(self, tokens: int) -> None:
        temporary = self.file.with_name(f"{self.file.name}.new")
        temporary.write_text(json.dumps({"day": self._today.isoformat(), "tokens": tokens}))
        os.replace(temporary, self.file)  # noqa: PTH105  atomic on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer(Generic[Form]):
    """An answer, and the tokens that it cost."""

    answer: Form
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedModel:
    """One model, and what may be spent on it."""

    client: "Callable[[], AsyncAnthropic]"
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
        from anthropic import AnthropicError  # noqa: PLC0415  half of what a reconciler imports, which one without a key need not

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
