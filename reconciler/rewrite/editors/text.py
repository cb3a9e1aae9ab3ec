"""Writes values as HCL text that evaluates back to exactly the value, so that a value never becomes code."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal

from gateway.model.json import Json

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEYWORDS = frozenset({"for", "null", "true", "false", "if"})


class CannotEdit(Exception):
    """This value cannot be written at this place. The message is a whole sentence."""


def quoted(value: str) -> str:
    """A string as an HCL quoted string (hclsyntax/spec.md, quoted template expressions).

    Raises `CannotEdit` for text that no HCL string holds: lone surrogates, and text that is not in normal form C.
    """
    if unicodedata.normalize("NFC", value) != value or any("\ud800" <= character <= "\udfff" for character in value):
        raise CannotEdit("Terraform cannot hold this text unchanged (it is not Unicode in normal form C).")
    escaped = "".join(_escaped(character) for character in value)
    # `$${` is a literal `${`. A dollar sign before it would be read differently by different parsers, so it is escaped.
    escaped = re.sub(r"([$%]+)\{", lambda match: _introducer(match.group(1)) + "{", escaped)
    return f'"{escaped}"'


def _escaped(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  the two escapes HCL has


def _introducer(run: str) -> str:
    before = "".join(f"\\u{ord(character):04x}" for character in run[:-1])
    return before + run[-1] * 2


def key(name: str, *, always_quoted: bool = False) -> str:
    """The key of an object's entry: bare if it is a plain word, else quoted."""
    plain = _WORD.fullmatch(name) and name not in _KEYWORDS and not always_quoted
    return name if plain else quoted(name)


def to_hcl(value: Json, indent: str = "") -> str:
    """A value in the format of `terraform fmt`; `indent` is that of the line it begins on. Raises `CannotEdit`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                raise CannotEdit("Terraform has no such number.")
            return format(Decimal(repr(value)), "f")
        case str():
            return quoted(value)
        case Mapping():
            return _object(value, indent)
        case _:
            return _list(value, indent)


def _list(value: Sequence[Json], indent: str) -> str:
    if not any(isinstance(item, Mapping | Sequence) and not isinstance(item, str) for item in value):
        return "[" + ", ".join(to_hcl(item) for item in value) + "]"
    inner = indent + "  "
    return "[\n" + "".join(f"{inner}{to_hcl(item, inner)},\n" for item in value) + indent + "]"


def _object(value: Mapping[str, Json], indent: str) -> str:
    if not value:
        return "{}"
    inner = indent + "  "
    rows = [(key(name), to_hcl(value[name], inner)) for name in value]
    single = [len(name) for name, text in rows if "\n" not in text]
    width = max(single, default=0) if len(single) == len(rows) else 0
    return "{\n" + "".join(f"{inner}{name.ljust(width)} = {text}\n" for name, text in rows) + indent + "}"
