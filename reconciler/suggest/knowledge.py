"""Remembers replacements that passed every proof, with blanks for the values, by the kind of value and the reason why no editor wrote it.

One JSON object a line in a file of our own. It is asked before any model is, costs nothing, and grows with each suggestion that is proved.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.terraform.address import resource_type_of
from reconciler.suggest.question import Question, Replacement, Suggestion

_NEW, _OLD = (
    "\N{LEFT WHITE SQUARE BRACKET}new\N{RIGHT WHITE SQUARE BRACKET}",
    "\N{LEFT WHITE SQUARE BRACKET}old\N{RIGHT WHITE SQUARE BRACKET}",
)
"""Blanks for the wanted value and the one before."""
_MOST: Final = 2_000
"""Patterns that are kept; the oldest go first."""
_MOST_TRIED: Final = 20
"""Patterns of one kind that are tried: each costs an evaluation of the code."""
_VARYING: Final = re.compile(r'"[^"]*"|\d+|\b[\w-]+\.tf\b|[\w"\[\].-]*\.[\w"\[\].-]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One kind of edit that passed."""

    key: str
    """Resource type, attribute, and the reason without its names and numbers."""
    replacements: tuple[tuple[str, str], ...]
    """(find, replace), with blanks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Patterns in a file."""

    file: Path

    def suggestions(self, question: Question) -> Iterator[Suggestion]:
        """The patterns that fit, newest first and only so many, filled in. Each find occurs exactly once in one of the question's files."""
        key = key_of(question)
        fitting = (
            filled
            for pattern in reversed(self._patterns())
            if pattern.key == key and (filled := _filled(pattern, question)) is not None
        )
        for filled in islice(fitting, _MOST_TRIED):
            yield Suggestion(replacements=filled, reason="It worked before for a value of this kind.")

    def learn(self, question: Question, suggestion: Suggestion) -> None:
        """Keep a suggestion that passed every proof, unless its values leave no blank: then it is of use only once."""
        blanks = tuple(
            (_blanked(each.find, question), _blanked(each.replace, question)) for each in suggestion.replacements
        )
        if not any(_NEW in replace for _, replace in blanks):
            return
        new = Pattern(key=key_of(question), replacements=blanks)
        patterns = [*(each for each in self._patterns() if each != new), new][-_MOST:]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.file.with_name(f"{self.file.name}.new")
        temporary.write_text("".join(f"{json.dumps(asdict(each), ensure_ascii=False)}\n" for each in patterns))
        temporary.replace(self.file)

    def _patterns(self) -> list[Pattern]:
        """All patterns; a line that cannot be read is passed over."""
        try:
            lines = self.file.read_text().splitlines()
        except OSError:
            return []
        return [pattern for line in lines if (pattern := _read(line)) is not None]


def key_of(question: Question) -> str:
    """The features that questions of one kind share."""
    kind = resource_type_of(question.wanted.address)
    attribute = re.sub(r"\.\d+(?=\.|$)", "", question.wanted.attribute)
    return f"{kind} {attribute} {_VARYING.sub('_', question.left.reason)}"


def _read(line: str) -> Pattern | None:
    try:
        found: Mapping[str, Any] = json.loads(line)
        pairs = tuple((str(find), str(replace)) for find, replace in found["replacements"])
        return Pattern(key=str(found["key"]), replacements=pairs)
    except (ValueError, KeyError, TypeError):
        return None


def _filled(pattern: Pattern, question: Question) -> tuple[Replacement, ...] | None:
    filled = []
    for find, replace in pattern.replacements:
        text, becomes = _unblanked(find, question), _unblanked(replace, question)
        paths = [path for path, content in question.files.items() if content.count(text.encode()) == 1]
        if len(paths) != 1:
            return None
        filled.append(Replacement(path=str(paths[0]), find=text, replace=becomes))
    return tuple(filled)


def _blanked(text: str, question: Question) -> str:
    for value, blank in ((question.wanted.value, _NEW), (question.before, _OLD)):
        if len(written := _written(value)) > 0:
            text = re.sub(rf"(?<![\w.]){re.escape(written)}(?![\w.])", blank, text)
    return text


def _unblanked(text: str, question: Question) -> str:
    return text.replace(_NEW, _written(question.wanted.value)).replace(_OLD, _written(question.before))


def _written(value: Json) -> str:
    """A primitive as HCL writes it, without quotes; empty for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
