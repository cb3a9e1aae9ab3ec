"""JSON documents inside texts, such as the policy of a bucket: whether a text is one, and its strings one at a time."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"([ \t\r\n]*:)?', re.DOTALL)
"""One string of a valid document, and the colon that makes it the name of a member."""


class _Repeated(ValueError):
    """An object names a member twice."""


def looks_like_document(text: str) -> bool:
    """Whether the text begins as a JSON object or array does."""
    return text.lstrip(" \t\r\n")[:1] in ("{", "[")


def is_document(text: str) -> bool:
    """Whether the text is exactly one JSON object or array, by RFC 8259, in which no object names a member twice."""
    return looks_like_document(text) and _problem(text) is None


def is_ambiguous(text: str) -> bool:
    """Whether readers may differ on what the document says: a member is named twice, or it is nested too deeply to be read."""
    return looks_like_document(text) and isinstance(_problem(text), _Repeated | RecursionError)


def with_strings(document: str, replaced: Callable[[str, str], str]) -> str:
    """The document with each string replaced by `replaced(name, string)`; every other character stays, so its structure does too.

    `name` is the name of the member whose value the string is; empty for names of members and for items of arrays.
    """
    name, end = "", -1

    def replace(found: re.Match[str]) -> str:
        nonlocal name, end
        raw, colon = found[1], found[2]
        text = json.loads(f'"{raw}"', strict=False) if "\\" in raw else raw
        follows = name if end >= 0 and not document[end : found.start()].strip(" \t\r\n") else ""
        name, end = (text, found.end()) if colon else ("", -1)
        new = replaced(follows, text)
        return found[0] if new == text else json.dumps(new, ensure_ascii=False) + (colon or "")

    return _STRING.sub(replace, document)


def _problem(text: str) -> Exception | None:
    """Why the text is no unambiguous document; None if it is one. The length of a number does not matter."""
    try:
        json.loads(text, object_pairs_hook=_members, parse_constant=_refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        return error
    return None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Repeated
    return members


def _refuse(name: str) -> None:
    message = f"{name} is not JSON"
    raise ValueError(message)
