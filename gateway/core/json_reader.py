"""The one reader of JSON that others wrote: RFC 8259 and nothing else, no member twice, no deeper and no longer than is sensible."""

import json
import math
from enum import StrEnum
from typing import Any, Final, NoReturn

LONGEST: Final = 256 * 1024 * 1024
"""Bytes, or characters of text. Callers have closer limits where what they read is known to be short."""
DEEPEST: Final = 200
"""Levels. A walk by recursion over the document does not run out of stack."""


class JsonFault(StrEnum):
    """Why a text was refused."""

    SYNTAX = "json"
    ENCODING = "encoding"
    REPEATED = "duplicate_parameter"
    NUMBER = "number"
    DEPTH = "depth"
    LENGTH = "length"


class JsonRefused(ValueError):
    """The text is not JSON that is accepted. The message continues a sentence that begins with its name: `is not JSON: …`."""

    def __init__(self, reason: str, fault: JsonFault, line: int = 1) -> None:
        super().__init__(reason)
        self.fault = fault
        self.line = line
        """Where the syntax is wrong."""


def read_json(content: bytes | str, *, longest: int = LONGEST, deepest: int = DEEPEST) -> Any:
    """The document. Raises `JsonRefused`.

    Refused are a member that an object names twice, since readers differ in which one they take; `NaN` and infinite numbers; what is
    nested more than `deepest` levels; what has more than `longest` bytes or characters; what is not UTF-8.
    """
    if len(content) > longest:
        raise JsonRefused(f"has more than {longest} bytes", JsonFault.LENGTH)
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        document = json.loads(text, object_pairs_hook=_members, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise JsonRefused(f"is not UTF-8 (byte {error.start})", JsonFault.ENCODING) from None
    except RecursionError:
        raise _too_deep(deepest) from None
    except JsonRefused:
        raise
    except json.JSONDecodeError as error:
        raise JsonRefused(f"is not JSON: {error}", JsonFault.SYNTAX, error.lineno) from None
    except ValueError as error:
        raise JsonRefused(f"contains a number that is too long: {error}", JsonFault.NUMBER) from None
    if _is_deeper(document, deepest):
        raise _too_deep(deepest)
    return document


def _too_deep(deepest: int) -> JsonRefused:
    return JsonRefused(f"is nested too deeply: more than {deepest} levels", JsonFault.DEPTH)


def _is_deeper(document: Any, deepest: int) -> bool:
    level = [document] if type(document) in (dict, list) else []
    for _ in range(deepest):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return bool(level)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonRefused("names the same member of an object twice", JsonFault.REPEATED)
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise JsonRefused(f"contains {name}, which is not JSON", JsonFault.NUMBER)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonRefused("contains a number that is too large", JsonFault.NUMBER)
    return number
