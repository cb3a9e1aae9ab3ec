"""Writes values as HCL text that evaluates back to exactly the value, so that a value never becomes code."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal

from gateway.core.model.json import Json
from gateway.terraform.lang.quoting import quoted_text

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
SHORT = 60
"""Characters of a map that is written on one line."""
_KEYWORDS = frozenset({"for", "null", "true", "false", "if"})


class CannotEdit(Exception):
    """This value cannot be written at this site. The message is a whole sentence."""


class RefusedByRule(CannotEdit):
    """A rule of the code itself refuses the value, wherever it is written."""


class Expression(str):
    """HCL that stands for a value. Only our own code makes one, never a value that was read."""

    __slots__ = ()


def quoted(value: str) -> str:
    """A string as an HCL quoted string (hclsyntax/spec.md, quoted template expressions).

    Raises `CannotEdit` for text that no HCL string holds: lone surrogates, and text that is not in normal form C.
    """
    if unicodedata.normalize("NFC", value) != value or any("\ud800" <= character <= "\udfff" for character in value):
        raise CannotEdit("Terraform cannot hold this text unchanged (it is not Unicode in normal form C).")
    return quoted_text(value)


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
        case Expression():
            return str(value)
        case str():
            return quoted(value)
        case Mapping():
            return object_text(value, indent)
        case _:
            return _list(value, indent)


def _list(value: Sequence[Json], indent: str) -> str:
    if not any(isinstance(item, Mapping | Sequence) and not isinstance(item, str) for item in value):
        return "[" + ", ".join(to_hcl(item) for item in value) + "]"
    inner = indent + "  "
    return "[\n" + "".join(f"{inner}{to_hcl(item, inner)},\n" for item in value) + indent + "]"


def inline(value: Json) -> str:
    """A value on one line. Raises `CannotEdit`."""
    if isinstance(value, Mapping):
        rows = ", ".join(f"{key(name)} = {inline(item)}" for name, item in value.items())
        return f"{{ {rows} }}" if rows else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return to_hcl(value)


def object_text(value: Mapping[str, Json], indent: str, *, quoted: bool = False, sign: str = "=") -> str:
    """A map with one entry on a line, aligned as `terraform fmt` does it. Raises `CannotEdit`."""
    if not value:
        return "{}"
    inner = indent + "  "
    rows = [(key(name, always_quoted=quoted), _entry(value[name], inner)) for name in value]
    width = _widths(rows)
    return (
        "{\n"
        + "".join(
            f"{inner}{name} {sign} {text}\n" if sign == ":" else f"{inner}{name.ljust(wide)} {sign} {text}\n"
            for (name, text), wide in zip(rows, width, strict=True)
        )
        + indent
        + "}"
    )


def _entry(value: Json, indent: str) -> str:
    """The value of an entry: a map of one plain value stays on the line, as people write `{ AWS = "…" }`."""
    if isinstance(value, Mapping) and len(value) == 1 and len(line := inline(value)) <= SHORT:
        return line
    return to_hcl(value, indent)


def _widths(rows: Sequence[tuple[str, str]]) -> list[int]:
    """For each row the width of the keys of its run: a value of several lines ends a run and is not aligned."""
    widths: list[int] = []
    run: list[int] = []
    for name, text in [*rows, ("", "\n")]:
        if "\n" in text:
            widths += [max(run)] * len(run) if run else []
            widths.append(0)
            run = []
        else:
            run.append(len(name))
    return widths[:-1]
