"""Reads members of a parsed message or file of a source. A member of another type is a mistake of the sender, named in a sentence."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from gateway.core.errors import Malformed

LONGEST: Final = 200
"""Characters of a text that is kept: a label, a name, a reference. Longer ones are cut."""
MOST_LABELS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledSignal:
    """What a file says about one signal: it is open from `since` until `until`."""

    key: str
    name: str
    since: datetime
    until: datetime | None = None
    """None: as long as the file says so."""
    labels: Mapping[str, str]
    references: tuple[str, ...] = ()


def member(document: Mapping[str, Any], name: str) -> Any:
    """A member that must be there. Raises `errors.Malformed`."""
    if name not in document:
        raise Malformed(f"The message has no `{name}`, so nothing of it was taken.")
    return document[name]


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """An object. Raises `errors.Malformed`."""
    if not isinstance(value, Mapping):
        raise Malformed(f"`{name}` of the message is not an object, so nothing of it was taken.")
    return value


def items(value: Any, name: str) -> Sequence[Any]:
    """A list. Raises `errors.Malformed`."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Malformed(f"`{name}` of the message is not a list, so nothing of it was taken.")
    return value


def text(document: Mapping[str, Any], name: str) -> str:
    """A member that must be a text with something in it. Raises `errors.Malformed`."""
    found = optional(document, name)
    if not found:
        raise Malformed(f"`{name}` of the message is missing or empty, so nothing of it was taken.")
    return found


def optional(document: Mapping[str, Any], name: str) -> str:
    """A text or number as a text without control characters; empty if it is absent or null. Raises `errors.Malformed` for another type."""
    value = document.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Malformed(f"`{name}` of the message is not a text, so nothing of it was taken.")
    return clean(str(value))


def labels(value: Any, name: str) -> dict[str, str]:
    """The texts of an object by name. Raises `errors.Malformed` for another type."""
    found = {} if value is None else mapping(value, name)
    named = {clean(str(key)): optional(found, key) for key in list(found)[:MOST_LABELS]}
    return {key: content for key, content in named.items() if key}


def texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts in a list, which may be absent; items of another type are left out. Raises `errors.Malformed` if it is no list."""
    return tuple(clean(each) for each in items(document.get(name) or [], name) if isinstance(each, str))


def time(document: Mapping[str, Any], name: str) -> datetime:
    """A time in RFC 3339. Raises `errors.Malformed`."""
    return moment(member(document, name), name)


def moment(value: Any, name: str) -> datetime:
    """The time of a text in RFC 3339, in UTC. Raises `errors.Malformed`."""
    try:
        found = datetime.fromisoformat(value if isinstance(value, str) else "")
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Malformed(f"`{name}` of the message is not a time with a zone (RFC 3339), so nothing of it was taken.")


def clean(value: str) -> str:
    """The text without control characters, cut to `LONGEST`."""
    kept = "".join(each for each in value[: 2 * LONGEST] if unicodedata.category(each)[0] != "C")
    return kept.strip()[:LONGEST]
