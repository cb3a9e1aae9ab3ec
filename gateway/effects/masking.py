"""Masks the secrets in the parameters of a call, so that people may see them, and bounds their size."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.model.json import Json, is_document, to_json, with_strings
from gateway.core.model.mutation import Call
from gateway.effects.sensitive_members import sensitive_parameters
from gateway.terraform.secret_vocabulary import (
    KNOWN_KEY,
    NAME_IN_TEXT,
    PRIVATE_KEY,
    URL,
    folded,
    is_often_secret_name,
    is_secret_name,
    with_secret,
)

MASK: Final = "***"
"""Stands for a secret."""

_OFTEN_SECRET: Final = frozenset({
    "connectionproperties", "connectorconfiguration", "customheaders", "defaultarguments", "environment", "headerparameters",
    "nonoverridablearguments", "optionsettings", "stagevariables", "variables",
})  # fmt: skip
"""Members of calls, beside those of the vocabulary, whose values commonly hold secrets under any name."""
_NAMES: Final = frozenset({"name", "key", "parameterkey", "parametername", "headername"})
_VALUES: Final = frozenset({"value", "parametervalue", "headervalue"})
"""In `{Name: …, Value: …}` the name says whether the value is a secret."""

# Bounded repetitions, so that no text takes more than linear time. A masked literal has no quote, bracket, blank or other character that a
# shell would execute, and follows its name without one that ends a command, so what is masked is an argument and no command of its own.
LONGEST_TEXT: Final = 64 * 1024
"""Characters of a text that is searched for secrets, at half a second for a megabyte. No longer text is shown anyway."""
_VALUE: Final = r"[\w+/=.~@%^-]{4,512}"
_INLINE: Final = re.compile(
    rf"(?:{NAME_IN_TEXT})(?:[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}|[ \t]{{1,8}}=[ \t]{{0,8}}|[\"']?=)[\"']?(?P<pair>{_VALUE})"
    rf"|--(?:[a-z]{{1,16}}-){{0,3}}(?:{NAME_IN_TEXT})[ \t]{{1,8}}[\"']?(?P<argument>{_VALUE})"
    rf"|{URL}|{PRIVATE_KEY}|{KNOWN_KEY}",
    re.IGNORECASE,
)
_SECRET_VALUE: Final = re.compile(_VALUE)
_OPTION: Final = re.compile(rf"--?(?:[a-z]{{1,16}}[-_]){{0,3}}(?:{NAME_IN_TEXT})", re.IGNORECASE)
_LITERAL: Final = re.compile(r"[\w+/=.~@%^:-]{1,512}")
_as_json: Final = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(slots=True, kw_only=True)
class _View:
    """How the parameters of one call are shown."""

    marked: frozenset[str] = frozenset()
    """The members that AWS marks as sensitive."""
    runs: bool = False
    """Whether the call runs code, so that blobs of text are shown too."""
    hides: bool = False
    """Set once a part of a text was masked, which could be a part of what runs."""


def is_often_secret(member: str) -> bool:
    """Whether the values of a member of a call or reply commonly hold secrets, whatever service it is of."""
    return folded(member) in _OFTEN_SECRET or is_often_secret_name(member)


def masked_parameters(call: Call) -> dict[str, Json]:
    """The parameters with every secret masked: what AWS marks as sensitive, what has the name of a secret, and secrets inside texts.

    Commands and documents are shown, because a person must see what would run. A blob is shown by its length: the call's digest says
    which one it is.
    """
    return _parameters(call, _View(marked=sensitive_parameters(call.service, call.operation)))


def bounded_parameters(call: Call, most: int, *, runs: bool = False) -> tuple[dict[str, Json], bool]:
    """`masked_parameters` in at most about `most` characters of JSON, and whether they are whole. The largest members are left out first.

    `runs` says that the call runs code. Then they are not whole either if a part of a text was masked: a person could not see what runs.
    """
    view = _View(marked=sensitive_parameters(call.service, call.operation), runs=runs)
    shown = _parameters(call, view)
    sizes = {name: len(_as_json(value)) + len(name) for name, value in shown.items()}
    kept, left = dict(shown), most
    for name in sorted(sizes, key=lambda each: (sizes[each], each)):
        left -= sizes[name]
        if left < 0:
            kept[name] = f"(not kept: {sizes[name]} characters)"
    return kept, left >= 0 and not _leaves_out(shown) and not (runs and view.hides)


def _parameters(call: Call, view: _View) -> dict[str, Json]:
    shown = _inside(call.parameters, view)
    return dict(shown) if isinstance(shown, Mapping) else {}


def _leaves_out(value: Json) -> bool:
    """Whether a text in the value was too long to be shown."""
    match value:
        case str():
            return value.startswith("(not kept: ")
        case Mapping():
            return any(_leaves_out(item) for item in value.values())
        case list() | tuple():
            return any(_leaves_out(item) for item in value)
    return False


def _shown(name: str, value: object, view: _View) -> Json:
    if name in view.marked and not isinstance(value, (bytes, bytearray)):
        return _names_only(value)
    if is_secret_name(name):
        if isinstance(value, (list, tuple)):
            # AWS names no list as a secret: the author of an automation document has, whose commands the items may become.
            view.hides = True
        return value if value is None or isinstance(value, bool) else MASK
    if is_often_secret(name):
        return _names_only(value)
    return _inside(value, view)


def _inside(value: object, view: _View) -> Json:
    match value:
        case str():
            return _text(value, view)
        case bytes() | bytearray():
            return _blob(bytes(value), view)
        case Mapping():
            secret = _names_a_secret(value)
            return {
                str(key): MASK if secret and folded(str(key)) in _VALUES else _shown(str(key), item, view)
                for key, item in value.items()
            }
        case Sequence() | set() | frozenset():
            return _items(value if isinstance(value, Sequence) else sorted(value, key=repr), view)
        case _:
            return to_json(value)


def _items(items: Sequence[object], view: _View) -> Json:
    shown: list[Json] = []
    for before, item in zip([None, *items], items, strict=False):
        if _is_argument_of_secret(before, item):
            view.hides = True
            shown.append(MASK)
        else:
            shown.append(_inside(item, view))
    return shown


def _text(text: str, view: _View) -> Json:
    """The text without the secrets in it. A JSON document is masked one string at a time, so that it keeps its structure."""
    if len(text) > LONGEST_TEXT:
        return f"(not kept: {len(text)} characters)"
    shown = _masked_text(text)
    view.hides = view.hides or shown != text
    return shown


def _masked_text(text: str) -> str:
    return (
        with_strings(text, _masked_string)
        if is_document(text)
        else _INLINE.sub(lambda found: with_secret(found, MASK), text)
    )


def _masked_string(name: str, string: str) -> str:
    if is_secret_name(name) and (secret := _SECRET_VALUE.match(string)):
        return MASK + string[secret.end() :]
    return _masked_text(string)


def _blob(value: bytes, view: _View) -> Json:
    """The length of a blob; of a call that runs code the text in it, which is what runs, or what the code is given."""
    try:
        return _text(value.decode(), view) if view.runs else f"({len(value)} bytes)"
    except UnicodeDecodeError:
        return f"({len(value)} bytes)"


def _is_argument_of_secret(before: object, item: object) -> bool:
    """Whether an item of a command follows an option such as `--password`, and is a literal that no shell would execute."""
    return (
        isinstance(before, str)
        and isinstance(item, str)
        and _OPTION.fullmatch(before) is not None
        and _LITERAL.fullmatch(item) is not None
    )


def _names_only(value: object) -> Json:
    """The value with its keys, and of `{name: …, value: …}` the name; every other text in it is masked."""
    match value:
        case Mapping():
            return {
                str(key): to_json(item) if folded(str(key)) in _NAMES and isinstance(item, str) else _names_only(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_names_only(item) for item in value]
        case None | bool():
            return value
        case _:
            return MASK


def _names_a_secret(value: Mapping[object, object]) -> bool:
    """Whether a member such as `Name` holds the name of a secret, or `Type` says that the value is one."""
    for key, item in value.items():
        if not isinstance(item, str):
            continue
        member = folded(str(key))
        if (member in _NAMES and is_secret_name(item)) or (member == "type" and folded(item) == "securestring"):
            return True
    return False
