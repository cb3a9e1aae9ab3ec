"""Finds an edit for a value that no editor could write: what worked before is tried first, then a model is asked."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog

from reconciler.model import Edited
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.suggest.knowledge import Knowledge
from reconciler.suggest.question import Question, Suggestion
from reconciler.suggest.replacement import replace_as_suggested

log = structlog.get_logger()


class Suggester(Protocol):
    """Something that suggests replacements, e.g. a language model."""

    async def suggest(self, question: Question) -> Suggestion | None:
        """A suggestion, or None if there is none. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedEdit:
    """An edit that may be proved, and the suggestion it comes from."""

    question: Question
    suggestion: Suggestion
    edited: Edited


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """Replacements that worked before, and a suggester, if there is one."""

    knowledge: Knowledge
    suggester: Suggester | None = None

    async def find(self, root: Path, question: Question) -> SuggestedEdit | None:
        """The first suggestion that changes the wanted value and nothing else that can be evaluated; None if there is none."""
        for known in self._known(root, question):
            return known
        suggestion = await self.suggester.suggest(question) if self.suggester else None
        if suggestion is None:
            return None
        try:
            edited = replace_as_suggested(root, question, suggestion)
        except CannotEdit as error:
            log.info("suggestion_dropped", address=question.wanted.address, reason=str(error))
            return None
        return SuggestedEdit(question=question, suggestion=suggestion, edited=edited)

    def passed(self, suggested: SuggestedEdit) -> None:
        """Remember an edit of which every proof held, if the file can be written."""
        try:
            self.knowledge.learn(suggested.question, suggested.suggestion)
        except OSError as error:
            log.warning("not_remembered", file=str(self.knowledge.file), reason=error.strerror)

    def _known(self, root: Path, question: Question) -> Iterator[SuggestedEdit]:
        for suggestion in self.knowledge.suggestions(question):
            with suppress(CannotEdit):
                edited = replace_as_suggested(root, question, suggestion)
                yield SuggestedEdit(question=question, suggestion=suggestion, edited=edited)
