"""JSON types, the canonical serialization that is hashed and stored, and JSON documents inside texts."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeGuard

import msgspec

from gateway.core.hmac_sha256 import hmac_sha256
from gateway.core.times import utc_text

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that JSON can hold."""

SCALARS: Final = frozenset({type(None), bool, int, float, str})
"""Most values are of these types. To find one here takes a tenth of asking whether it is a `Mapping`, which searches the classes of its type."""
NUMBERS: Final = SCALARS - {str}
"""The scalars that hold no text."""

Parameters: TypeAlias = Mapping[str, object]
"""Parameters of an AWS call as botocore takes them: JSON values plus bytes, datetime and Decimal."""


def to_json(value: object) -> Json:
    """A parsed AWS value as plain JSON: bytes become base64 text, times ISO 8601 in UTC, sets sorted lists.

    Raises TypeError for any other type, so that nothing is stored by accident.
    """
    kind = type(value)
    if kind in SCALARS:
        return value  # type: ignore[return-value]  # one of the types that JSON has
    if kind is dict or kind is list:
        return _copied(value)
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case datetime():
            return utc_text(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted((to_json(item) for item in value), key=repr)
        case Sequence():
            return [to_json(item) for item in value]
        case _:
            message = f"a {type(value).__name__} has no JSON form"
            raise TypeError(message)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether the value is a list, tuple or another sequence that is no text."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _copied(value: Any) -> Json:
    """A dict or a list of JSON, which most values are: to ask for them first takes half the time."""
    if type(value) is list:
        return [item if type(item) in SCALARS else to_json(item) for item in value]
    return {str(key): item if type(item) in SCALARS else to_json(item) for key, item in value.items()}


_sorted: Final = msgspec.json.Encoder(order="sorted").encode
_strict: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_any: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=to_json
).encode
WRITTEN_ALIKE: Final = frozenset({type(None), bool, int, str})
"""The types of single values that msgspec writes as Python does."""
_NESTED: Final = frozenset({dict, list, tuple})


def canonical(value: object) -> bytes:
    """The canonical JSON of a value: keys sorted, no spaces, no NaN. Like RFC 8785, except that numbers are written as Python does.

    Raises TypeError or ValueError for a value that has no JSON form or cannot be encoded as UTF-8.
    """
    if is_plain(value):
        try:
            return _sorted(value)
        except TypeError:
            pass  # a key that is no text
    return _any(value).encode()


def strict_json(value: object) -> bytes:
    """The canonical JSON of a value that is nothing but JSON.

    Raises TypeError or ValueError for anything else: NaN, bytes, times, a text that cannot be encoded as UTF-8; RecursionError for deep nesting.
    """
    if is_plain(value):
        try:
            return _sorted(value)
        except TypeError:
            pass  # a key that is no text
    return _strict(value).encode()


class _Written(threading.local):
    """The document that a thread wrote last. It is held, so no other has its identity."""

    document: object = None
    text: bytes = b"null"


_written: Final = _Written()


def written_once(document: object) -> bytes:
    """`strict_json` of a document that nobody changes. Its thread remembers the latest: two questions about each change and its record
    have one document of some 2,000 characters.
    """
    if _written.document is not document:
        _written.text = strict_json(document)  # if it raises, the one before stays with its text
        _written.document = document
    return _written.text


def canonical_again(document: object) -> bytes:
    """`canonical` of a document that `written_once` may have written already."""
    return _written.text if _written.document is document else canonical(document)


def is_plain(value: Any) -> bool:
    """Whether msgspec writes it as Python does, in a tenth of the time. It writes floats, times and decimals otherwise, and NaN as null."""
    kind = type(value)
    if kind in WRITTEN_ALIKE:
        return True
    if kind not in _NESTED:
        return False
    items = value.values() if kind is dict else value
    if WRITTEN_ALIKE.issuperset(map(type, items)):  # as most are, seen without a step of Python for each item
        return True
    for item in items:  # noqa: SIM110  a generator takes twice the time
        if type(item) not in WRITTEN_ALIKE and not is_plain(item):
            return False
    return True


def canonical_text(value: object) -> str:
    """`canonical` as text."""
    return canonical(value).decode()


from_canonical: Final = msgspec.json.Decoder().decode
"""The value of a canonical text, in a fifth of the time of `json.loads`. Raises ValueError for what is no JSON."""


def digest(value: object, key: bytes = b"") -> str:
    """SHA-256 of the canonical form, 64 hex digits. With a key the HMAC-SHA-256, from which nobody without the key can guess the value."""
    if key:
        return hmac_sha256(key, canonical(value)).hex()
    return hashlib.sha256(canonical(value)).hexdigest()


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
