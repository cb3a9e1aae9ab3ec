"""What a contestant has to answer where something was created: the exit code, and what is left with its identity and its maker."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench.drift.made import Created, words_of
from tests.bench.drift.scenario import Scenario

DONE, LEFT = 0, 2
"""Exit codes: everything is accounted for; something is left to a human."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a contestant said it left to a human: addresses, and its words."""

    left: Sequence[str] = ()
    words: str = ""
    admits: bool = False
    """Whether it said at all that something is left, by its exit code."""
    code: int = DONE
    entries: Sequence[str] = field(default_factory=list)
    """Each entry of its list `left` as text."""


def expected(scenario: Scenario, created: Sequence[Created]) -> Said:
    """The right answer: each creation that stays out is listed by its type, an identity and its maker, and the exit code says so."""
    maker = words_of(scenario)[0]
    entries = [f"{each.type} {each.import_id} by {maker}" for each in created if each.left]
    return Said(code=LEFT if entries else DONE, entries=entries, admits=bool(entries))


def fault(scenario: Scenario, created: Sequence[Created], said: Said) -> str:
    """What is wrong with the answer, as a sentence; empty if it is right or nothing was created."""
    if not scenario.creations:
        return ""
    makers = words_of(scenario)
    for each in created:
        if each.left and not any(_names(entry, each, makers) for entry in said.entries):
            kind = f"{each.type} (or {', '.join(each.events)})"
            return f"No entry of `left` names {kind}, {' or '.join(each.names)}, and {' or '.join(makers)}: {list(said.entries)}"
    wanted = expected(scenario, created).code
    if said.code != wanted:
        return f"The exit code is {said.code} and not {wanted}: {list(said.entries)} {said.words}"
    return f"It lists what nobody has to see to: {list(said.entries)}" if wanted == DONE and said.entries else ""


def _names(entry: str, created: Created, makers: Sequence[str]) -> bool:
    what = [created.type, *created.events]
    return all(any(_has(entry, word) for word in words) for words in (what, created.names, makers))


def _has(text: str, word: str) -> bool:
    """Whether a word stands in a text, and not as a part of a longer one."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
