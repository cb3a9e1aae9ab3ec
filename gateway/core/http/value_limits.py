"""Limits on how much one request may contain, in every format: depth, items of one list or map, values in all.

No AWS change needs more. Without limits a few kilobytes of brackets or of one-byte values keep a parser, and all that follows it, busy.
Every check costs time in proportion to its input: text is scanned for single characters, never with a pattern that could backtrack.
"""

import re
from typing import Any, Final, NoReturn

from gateway.core.errors import Malformed

MAX_DEPTH: Final = 64
MAX_ITEMS: Final = 10_000
"""Items of one list or members of one map; the longest list that AWS documents for a change has as many (log events, addresses)."""
MAX_VALUES: Final = 50_000
"""Values in one request, counted at every depth."""
MAX_NAME: Final = 512
"""Characters of a member's name or of a map's key. Validators repeat the path of names for every value below it."""
_MAX_PATH: Final = 300

_STRUCTURAL = re.compile(r'["\[\]{},]')
_STRING_END = re.compile(r'["\\]')


def refuse_depth() -> NoReturn:
    """Raise `errors.Malformed` for a body that is nested too deep."""
    raise Malformed(
        f"The body is nested more than {MAX_DEPTH} levels deep. Nothing was sent.",
        aws_code="SerializationException",
        code="depth",
    )


def refuse_values() -> NoReturn:
    """Raise `errors.Malformed` for a request with too many values."""
    raise Malformed(
        f"The request contains more than {MAX_VALUES} values, or a list or map of more than {MAX_ITEMS}. "
        "Nothing was sent; make several smaller requests.",
        aws_code="ValidationError",
        code="too_many_values",
    )


def check_name(name: object) -> None:
    """Refuse a name or map key that is too long."""
    if isinstance(name, str) and len(name) > MAX_NAME:
        raise Malformed(
            f"The request contains a name or a map key of more than {MAX_NAME} characters. Nothing was sent.",
            aws_code="ValidationError",
            code="name_too_long",
        )


def path_below(path: str, part: str) -> str:
    """The path of a value below another, for messages. It stays short, because it is built for every value."""
    if len(path) > _MAX_PATH:
        return path
    return f"{path}{part[:MAX_NAME]}" if path else part[:MAX_NAME].removeprefix(".")


def check_json_text(text: str) -> None:
    """Refuse JSON text that is nested too deep or has too many values, before a parser sees it."""
    if text.count("[") + text.count("{") > MAX_DEPTH or text.count(",") > MAX_VALUES:
        _scan(text)


def _scan(text: str) -> None:
    """Count brackets and commas outside strings. Each character is looked at once."""
    depth = commas = position = 0
    while (found := _STRUCTURAL.search(text, position)) is not None:
        position = found.end()
        match found[0]:
            case '"':
                position = _after_string(text, position)
            case "[" | "{":
                depth += 1
                if depth > MAX_DEPTH:
                    refuse_depth()
            case ",":
                commas += 1
                if commas > MAX_VALUES:
                    refuse_values()
            case _:
                depth -= 1


def _after_string(text: str, position: int) -> int:
    """Where a string ends whose first character is at `position`; the end of the text if it does not end."""
    while (found := _STRING_END.search(text, position)) is not None:
        if found[0] == '"':
            return found.end()
        position = found.end() + 1  # a backslash and the character that it escapes
    return len(text)


def check_values(document: Any) -> None:
    """Refuse a parsed document with too many values, or with a name that is too long."""
    count = 0
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, dict | list):
            continue
        count += len(value)
        if count > MAX_VALUES or len(value) > MAX_ITEMS:
            refuse_values()
        if isinstance(value, list):
            waiting.extend(value)
            continue
        for key in value:
            check_name(key)
        waiting.extend(value.values())
