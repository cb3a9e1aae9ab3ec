"""Finds regular expressions whose cost can grow faster than their input, by their structure."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre
from re import _parser
from typing import Any

_SEARCHES = frozenset({"search", "finditer", "findall", "sub", "split"})
_FUNCTIONS = _SEARCHES | {"compile", "match", "fullmatch"}
_SAMPLE = [chr(code) for code in range(256)]


def patterns_of(path: Path) -> Iterator[tuple[str, str | bytes, bool]]:
    """Name or line, text, and whether it is searched for (not only matched at one place), of each pattern in a source file."""
    tree = ast.parse(path.read_text())
    searched = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _SEARCHES
        and isinstance(node.func.value, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if (text := _text(node.value)) is not None:
                yield name, text, name in searched
        elif isinstance(node, ast.Call) and (text := _text(node)) is not None and _function(node) != "compile":
            yield f"line {node.lineno}", text, _function(node) in _SEARCHES


def _function(node: ast.Call) -> str:
    named = (
        isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
    )
    return node.func.attr if named and isinstance(node.func, ast.Attribute) else ""


def _text(node: ast.Call) -> str | bytes | None:
    if _function(node) in _FUNCTIONS and node.args and isinstance(node.args[0], ast.Constant):
        value = node.args[0].value
        return value if isinstance(value, str | bytes) else None
    return None


def risk(pattern: str | bytes, *, searched: bool) -> str:
    """Why this pattern may take more than linear time; empty if its structure rules that out.

    Refused are: an unlimited repeat within an unlimited repeat; two unlimited repeats next to each other that share a character, with
    more to match behind them; and, where the pattern is searched for, an unlimited repeat with more to match behind it.
    """
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    items = list(_parser.parse(text))
    return _risk(items, inside=False) or (
        "searched for, with a repeat that is not last" if searched and _repeat_before_more(items) else ""
    )


def _unlimited(item: Any) -> bool:
    return item[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT) and item[1][1] is sre.MAXREPEAT


def _children(item: Any) -> list[list[Any]]:
    """The sequences within an item of the tree."""
    match item[0]:
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            return [list(item[1][2])]
        case sre.SUBPATTERN:
            return [list(item[1][3])]
        case sre.BRANCH:
            return [list(branch) for branch in item[1][1]]
        case sre.ASSERT | sre.ASSERT_NOT:
            return [list(item[1][1])]
        case sre.ATOMIC_GROUP:
            return [list(item[1])]
    return []


def _risk(items: list[Any], *, inside: bool) -> str:
    for position, item in enumerate(items):
        if _unlimited(item):
            if inside:
                return "an unlimited repeat within an unlimited repeat"
            following = next(
                (other for other in items[position + 1 :] if _unlimited(other) or not _optional(other)), None
            )
            if following is not None and _unlimited(following) and _characters(item) & _characters(following):
                return "two unlimited repeats that share a character"
        for sequence in _children(item):
            if found := _risk(sequence, inside=inside or _unlimited(item)):
                return found
    return ""


def _optional(item: Any) -> bool:
    return item[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT) and item[1][0] == 0


def _characters(item: Any) -> set[str]:
    """The characters that a repeat can consume first, of the first 256."""
    first = next(iter(item[1][2]))
    if first[0] is sre.SUBPATTERN:
        first = next(iter(first[1][3]))
    if first[0] is sre.BRANCH:
        return set().union(*(_characters((0, (0, 0, branch))) for branch in first[1][1]))
    match first[0]:
        case sre.LITERAL:
            return {chr(first[1])}
        case sre.NOT_LITERAL:
            return set(_SAMPLE) - {chr(first[1])}
        case sre.ANY:
            return set(_SAMPLE)
        case sre.IN:
            return {character for character in _SAMPLE if _among(first[1], character)}
    return set(_SAMPLE)


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _among(members: list[Any], character: str) -> bool:
    negated = members[0][0] is sre.NEGATE
    found = any(
        (kind is sre.LITERAL and ord(character) == value)
        or (kind is sre.RANGE and value[0] <= ord(character) <= value[1])
        or (kind is sre.CATEGORY and re.match(_CATEGORIES[value], character) is not None)
        for kind, value in members
        if kind is not sre.NEGATE
    )
    return found is not negated


def _repeat_before_more(items: list[Any]) -> bool:
    for position, item in enumerate(items):
        behind = any(not _optional(other) for other in items[position + 1 :])
        nested = any(
            _repeat_before_more(sequence) or (behind and _holds_repeat(sequence)) for sequence in _children(item)
        )
        if (_unlimited(item) and behind) or nested:
            return True
    return False


def _holds_repeat(items: list[Any]) -> bool:
    return any(_unlimited(item) or any(_holds_repeat(sequence) for sequence in _children(item)) for item in items)
