"""Parses JSON to values with byte spans, strictly as RFC 8259 says, or one clear error with its line."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.errors import CodeInvalid

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_HALF = re.compile("[\ud800-\udfff]")
_WORDS = {b"true": True, b"false": False, b"null": None}
_WORD = re.compile(rb"true|false|null")
_DEEPEST = 100
"""Levels of objects and lists."""


@dataclass(frozen=True, slots=True)
class JsonScalar:
    """A string, number, bool or null."""

    start: int
    end: int
    value: bool | str | None
    number: str = ""
    """The text of a number, whose `value` is None."""


@dataclass(frozen=True, slots=True)
class JsonMember:
    """One `"key": value` of an object; `start` is that of the key."""

    start: int
    key: str
    value: "JsonNode"

    @property
    def end(self) -> int:
        """The end of the value."""
        return self.value.end


@dataclass(frozen=True, slots=True)
class JsonObject:
    """`{"key": value}`, with its members in the order of the text; a key may come twice."""

    start: int
    end: int
    members: tuple[JsonMember, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class JsonArray:
    """`[value, value]`"""

    start: int
    end: int
    items: "tuple[JsonNode, ...]" = field(repr=False)


JsonNode = JsonScalar | JsonObject | JsonArray


def parse_tree(path: Path, source: bytes) -> JsonNode:
    """The value that a JSON text holds. Raises `CodeInvalid`, which names the file as `path`, for text that is not valid JSON."""
    return _Parser(path, source).whole()


def line_of(source: bytes, offset: int) -> int:
    """The line (from 1) of a byte offset."""
    return source.count(b"\n", 0, offset) + 1


@dataclass(frozen=True, slots=True)
class _Parser:
    path: Path
    source: bytes

    def whole(self) -> JsonNode:
        try:
            self.source.decode()
        except UnicodeDecodeError as error:
            raise self._wrong(error.start, "the file is not UTF-8 text") from None
        node = self._value(self._skip(0), 0)
        end = self._skip(node.end)
        if end != len(self.source):
            raise self._wrong(end, "something follows the value")
        return node

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self.source, position)
        return match.end() if match else position

    def _value(self, start: int, depth: int) -> JsonNode:
        if depth > _DEEPEST:
            raise self._wrong(start, f"it is nested more than {_DEEPEST} levels deep")
        first = self.source[start : start + 1]
        if first == b"{":
            members = tuple(self._members(start, depth))
            return JsonObject(start, self._closing(members[-1].end if members else start + 1, b"}"), members)
        if first == b"[":
            items = tuple(self._items(start, depth))
            return JsonArray(start, self._closing(items[-1].end if items else start + 1, b"]"), items)
        if first == b'"':
            text, end = self._string(start)
            return JsonScalar(start, end, text)
        return self._word(start)

    def _word(self, start: int) -> JsonScalar:
        if (word := _WORD.match(self.source, start)) is not None:
            return JsonScalar(start, word.end(), _WORDS[word.group()])
        if (number := _NUMBER.match(self.source, start)) is not None:
            return JsonScalar(start, number.end(), None, number.group().decode())
        raise self._wrong(start, "a value is missing")

    def _string(self, start: int) -> tuple[str, int]:
        match = _STRING.match(self.source, start)
        if match is None:
            raise self._wrong(start, "a string in double quotes is missing, or has a character that must be escaped")
        text = str(json.loads(match.group()))
        if _HALF.search(text):
            raise self._wrong(start, "a string has half of a Unicode character")
        return text, match.end()

    def _members(self, start: int, depth: int) -> Iterator[JsonMember]:
        for position in self._positions(start, b"}"):
            key, end = self._string(position[0])
            colon = self._skip(end)
            if self.source[colon : colon + 1] != b":":
                raise self._wrong(colon, "a colon is missing")
            member = JsonMember(position[0], key, self._value(self._skip(colon + 1), depth + 1))
            position[0] = member.end
            yield member

    def _items(self, start: int, depth: int) -> Iterator[JsonNode]:
        for position in self._positions(start, b"]"):
            item = self._value(position[0], depth + 1)
            position[0] = item.end
            yield item

    def _positions(self, start: int, closing: bytes) -> Iterator[list[int]]:
        """Where each item inside brackets begins; who reads it puts its end there instead."""
        position = [self._skip(start + 1)]
        if self.source[position[0] : position[0] + 1] == closing:
            return
        while True:
            yield position
            after = self._skip(position[0])
            found = self.source[after : after + 1]
            if found == closing:
                return
            if found != b",":
                raise self._wrong(after, f"a comma or `{closing.decode()}` is missing")
            position[0] = self._skip(after + 1)

    def _closing(self, position: int, closing: bytes) -> int:
        """The offset after the closing bracket."""
        return self.source.index(closing, position) + 1

    def _wrong(self, offset: int, what: str) -> CodeInvalid:
        return CodeInvalid(
            f"{self.path}:{line_of(self.source, offset)}: This is not valid JSON: {what}; the file was not read."
        )
