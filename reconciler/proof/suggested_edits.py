"""Adds suggested edits for values that no editor could write, before all of it is proved."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gateway.terraform.config.module import Module, load_module
from reconciler.model import Edited, Left, is_gone, is_new
from reconciler.proof.declarations import read_declared
from reconciler.suggest.code_settings import marked_sensitive
from reconciler.suggest.question import Question
from reconciler.suggest.suggestions import SuggestedEdit, Suggestions

_MOST = 5
"""Values of one proposal that are asked about."""
_MOST_KEPT = 1_000
"""Answers that a service keeps; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedEdits:
    """Edits, and the suggestions among them."""

    edited: Edited
    suggested: tuple[SuggestedEdit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SuggestionRounds:
    """Suggestions that are asked for once: rounds of proving do not ask again about the same value in the same code."""

    suggestions: Suggestions
    found: dict[str, SuggestedEdit | None] = field(default_factory=dict)

    async def complete(self, root: Path, edited: Edited) -> SuggestedEdits:
        """`edited` with a suggested edit for as many of the values left as have one."""
        done = SuggestedEdits(edited=edited)
        for left in [each for each in edited.left if _may_be_asked(each)][:_MOST]:
            question = question_about(root, done.edited, left)
            found = await self._find(root, question) if question else None
            if found is not None:
                done = SuggestedEdits(edited=_with(done.edited, found), suggested=(*done.suggested, found))
        return done

    def passed(self, suggested: tuple[SuggestedEdit, ...]) -> None:
        """Remember suggestions of which every proof held."""
        for each in suggested:
            self.suggestions.passed(each)

    async def _find(self, root: Path, question: Question) -> SuggestedEdit | None:
        key = hashlib.sha256(repr((question.wanted, sorted(question.files.items()))).encode()).hexdigest()
        if key not in self.found:
            if len(self.found) >= _MOST_KEPT:
                del self.found[next(iter(self.found))]
            self.found[key] = await self.suggestions.find(root, question)
        return self.found[key]


def question_about(root: Path, edited: Edited, left: Left) -> Question | None:
    """The question about a value that is left, with the code as it is after the edits; None if the code does not declare its resource."""
    module = load_module(root, dict(edited.files))
    instance = module.instance(left.wanted.address)
    if instance is None:
        return None
    files = {path: content for path, content in _on_the_way(instance.module) if path.parts[:1] != ("..",)}
    before = read_declared(root, [left.wanted], edited.files)[0].value
    return Question(left=left, before=before, files=files, sensitive=frozenset(_sensitive(module)))


def _sensitive(module: Module) -> Iterator[str]:
    """The variables of all modules that say they are sensitive: a call gives them their values, in files without that mark."""
    for source in module.sources.values():
        for name, (document, block) in source.variables.items():
            if marked_sensitive(document, block):
                yield name


def _on_the_way(module: Module) -> Iterator[tuple[Path, bytes]]:
    """The files of a module and of those that call it, the root's values of variables too.

    Not code in JSON syntax: its secrets are not masked.
    """
    here: Module | None = module
    while here is not None:
        yield from (each for each in here.source.contents.items() if not each[0].name.endswith(".tf.json"))
        here = here.parent


def _may_be_asked(left: Left) -> bool:
    return not (is_new(left.wanted) or is_gone(left.wanted)) and not left.superseded_by


def _with(edited: Edited, found: SuggestedEdit) -> Edited:
    files: Mapping[Path, bytes] = {**edited.files, **found.edited.files}
    left = tuple(each for each in edited.left if each.wanted != found.question.wanted)
    return replace(edited, files=files, edits=(*edited.edits, *found.edited.edits), left=left)
