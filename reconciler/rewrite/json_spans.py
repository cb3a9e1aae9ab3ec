"""The spans of the members of a JSON document that is written as text, with interpolations of Terraform in it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"[-+.\w]+")
_ESCAPED = ("$${", "%%{")


class NotJson(Exception):
    """The text is not one JSON document."""


@dataclass(slots=True)
class Span:
    """One value of a document: offsets into the text, and what is inside."""

    start: int
    end: int
    kind: str
    """`object`, `list`, `text` or `word`; `interpolation` for a value that Terraform puts in."""
    keys: list[tuple[str, int]] = field(default_factory=list)
    """Of an object: each key, and where it begins."""
    items: "list[Span]" = field(default_factory=list)
    """The values inside, of an object in the order of its keys."""

    def at(self, steps: Sequence[str]) -> "Span | None":
        """The value at the steps of a path; None if there is none."""
        if not steps:
            return self
        if self.kind == "object":
            for length in range(len(steps), 0, -1):
                name = ".".join(steps[:length])
                for (key, _), item in zip(self.keys, self.items, strict=True):
                    if key == name:
                        return item.at(steps[length:])
        if self.kind == "list" and steps[0].isdecimal() and int(steps[0]) < len(self.items):
            return self.items[int(steps[0])].at(steps[1:])
        return None


def spans(source: bytes) -> Span:
    """The document in a text. Raises `NotJson`. Offsets are bytes."""
    text = source.decode("latin-1")
    masked, holes = _masked(text)
    position = _skip(masked, 0)
    try:
        found, position = _value(masked, position, holes)
    except IndexError:
        raise NotJson from None
    if masked[position:].strip():
        raise NotJson
    return found


def _masked(text: str) -> tuple[str, frozenset[int]]:
    """The text with each interpolation replaced by letters of the same length, a text of its own if it is a whole value."""
    result: list[str] = []
    holes: set[int] = set()
    position, inside = 0, False
    while position < len(text):
        if text.startswith(_ESCAPED, position):
            result.append(text[position : position + 3])
            position += 3
        elif text.startswith(("${", "%{"), position):
            end = _end_of_interpolation(text, position + 2)
            length = end - position
            result.append("x" * length if inside else '"' + "x" * (length - 2) + '"')
            if not inside:
                holes.add(position)
            position = end
        elif inside and text[position] == "\\":
            result.append(text[position : position + 2])
            position += 2
        else:
            inside ^= text[position] == '"'
            result.append(text[position])
            position += 1
    return "".join(result), frozenset(holes)


def _end_of_interpolation(text: str, position: int) -> int:
    depth, inside = 1, False
    while depth:
        if position >= len(text):
            raise NotJson
        character = text[position]
        if inside and character == "\\":
            position += 1
        elif character == '"':
            inside = not inside
        elif not inside:
            depth += {"{": 1, "}": -1}.get(character, 0)
        position += 1
    return position


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _value(text: str, start: int, holes: frozenset[int]) -> tuple[Span, int]:
    opening = text[start]
    if opening == "{":
        return _object(text, start, holes)
    if opening == "[":
        return _list(text, start, holes)
    match = _STRING.match(text, start) if opening == '"' else _WORD.match(text, start)
    if match is None:
        raise NotJson
    kind = "interpolation" if start in holes else "text" if opening == '"' else "word"
    return Span(start, match.end(), kind), match.end()


def _list(text: str, start: int, holes: frozenset[int]) -> tuple[Span, int]:
    found = Span(start, start, "list")
    position = _skip(text, start + 1)
    while text[position] != "]":
        item, position = _value(text, position, holes)
        found.items.append(item)
        position = _after_item(text, position, "]")
    found.end = position + 1
    return found, found.end


def _object(text: str, start: int, holes: frozenset[int]) -> tuple[Span, int]:
    found = Span(start, start, "object")
    position = _skip(text, start + 1)
    while text[position] != "}":
        match = _STRING.match(text, position)
        if match is None:
            raise NotJson
        found.keys.append((_key(match.group()), position))
        position = _skip(text, match.end())
        if text[position] != ":":
            raise NotJson
        item, position = _value(text, _skip(text, position + 1), holes)
        found.items.append(item)
        position = _after_item(text, position, "}")
    found.end = position + 1
    return found, found.end


def _after_item(text: str, position: int, closing: str) -> int:
    position = _skip(text, position)
    if text[position] == ",":
        return _skip(text, position + 1)
    if text[position] != closing:
        raise NotJson
    return position


def _key(written: str) -> str:
    try:
        return str(json.loads(written.encode("latin-1").decode()))
    except ValueError:
        raise NotJson from None
