"""Texts for people: what others wrote, made safe to show, and what rules said, each rule once."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

Rule = TypeVar("Rule", bound=Hashable)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")


def visible(text: str) -> str:
    """The text with control characters as escapes, also those that change the direction of writing. Line breaks stay."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


def by_rule(said: Iterable[tuple[Rule, str]]) -> dict[Rule, list[str]]:
    """The reasons by the rule that gave them, each rule and each reason once, in the order in which they came.

    A sentence that an earlier reason ended with as well, such as what to do next, is not said again; a reason is never left out for that.
    """
    found: dict[Rule, dict[str, None]] = {}
    told: set[str] = set()
    for rule, reason in dict.fromkeys(said):
        sentences = _SENTENCE_END.split(reason)
        new = " ".join(each for each in sentences if each not in told) or reason
        told.update(sentences)
        found.setdefault(rule, {})[new] = None
    return {rule: list(reasons) for rule, reasons in found.items()}


def texts_in(value: object) -> Iterator[str]:
    """Every text in a value, at any depth; not the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def names_in(value: object) -> Iterator[str]:
    """The name of every member in a value, at any depth."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from names_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_in(item)
