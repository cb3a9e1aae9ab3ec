"""`sprintf`, as OPA's: Go's `fmt.Sprintf` for Rego values."""

import math
import re
from collections.abc import Iterator
from typing import Final

from gateway.policy.builtins.evaluation import BuiltinError, TooMuch, limited
from gateway.policy.rego_values import RegoLiteral, Term, go_float, to_text

_VERB = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>[0-9]+)?(?:\.(?P<precision>[0-9]*))?(?P<verb>.)?", re.DOTALL)
_INT64 = 2**63
_MOST_DIGITS: Final = 3
_CHARACTERS: Final = 0x110000
_SURROGATES: Final = (0xD800, 0xDFFF)
_SHORT_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}  # fmt: skip


class UnsupportedFormat(TooMuch):
    """A use of `sprintf` that this host cannot format as OPA does. A decision that needs it is a denial."""


def sprintf(template: Term, values: Term) -> str:
    """Go's `fmt.Sprintf` for Rego values, as in OPA's `sprintf` (opa v1.22 topdown/strings.go).

    A verb that does not fit its value gives the same text as in Go, e.g. `%!d(string=x)`. Raises `UnsupportedFormat` for `%*d`, `%[1]d`,
    widths and precisions of more than three digits, and flags that mean nothing for their verb.
    """
    if not isinstance(template, str) or not isinstance(values, list):
        raise BuiltinError("sprintf needs a string and an array")
    arguments = iter([_argument(value) for value in values])
    text = _VERB.sub(lambda match: _format_match(match, arguments), template)
    extra = ", ".join(f"{_go_type(value)}={_default_text(value)}" for value in arguments)
    return f"{text}%!(EXTRA {extra})" if extra else text


def _argument(value: Term) -> int | float | str:
    """The argument that OPA passes to Go: integers, floats and strings as they are, anything else (also true and null) as text."""
    if isinstance(value, RegoLiteral) and not math.isfinite(value):
        return value.text
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return to_text(value)
    return value


def _format_match(match: re.Match[str], arguments: Iterator[int | float | str]) -> str:
    verb = match["verb"]
    if verb is None:
        return "%!(NOVERB)"
    if verb == "%":
        return "%"
    if verb in "*[" or max(len(match["width"] or ""), len(match["precision"] or "")) > _MOST_DIGITS:
        raise UnsupportedFormat(f"sprintf does not support {match[0]!r} here")
    value = next(arguments, None)
    if value is None:
        return f"%!{verb}(MISSING)"
    return limited(_format_value(match, verb, value))


def _format_value(match: re.Match[str], verb: str, value: float | str) -> str:
    flags, precision = match["flags"], None if match["precision"] is None else int(match["precision"] or 0)
    body = _body(verb, flags, precision, value)
    if body is None:  # Go shows the value with the flags that were given
        return f"%!{verb}({_go_type(value)}={_format_value(match, 'v', value)})"
    zeros = "0" in flags and "-" not in flags and not (isinstance(value, int) and precision is not None)
    return _pad(
        body, flags, int(match["width"] or 0), zeros=zeros, signed=not isinstance(value, str) and verb not in "cqU"
    )


def _body(verb: str, flags: str, precision: int | None, value: float | str) -> str | None:
    """The text before padding; None if Go has no such verb for this type."""
    match value:
        case str():
            return _text_body(verb, flags, precision, value)
        case int():
            return _whole_body(verb, flags, precision, value)
        case _:
            return _float_body(verb, flags, precision, value)


def _text_body(verb: str, flags: str, precision: int | None, value: str) -> str | None:
    if "#" in flags or (verb in "xX" and " " in flags):
        raise UnsupportedFormat("sprintf does not support this flag for a text here")
    shown = value if precision is None else value[:precision]
    match verb:
        case "v" | "s":
            return shown
        case "q":
            return _quote(shown)
        case "x" | "X":
            content = value.encode(errors="surrogateescape")
            digits = (content if precision is None else content[:precision]).hex()
            return digits if verb == "x" else digits.upper()
        case _:
            return None


_BASES: Final = {"b": "b", "o": "o", "O": "o", "x": "x", "X": "X", "d": "d", "v": "d"}
_MARKS: Final = {"b": "0b", "o": "0", "x": "0x", "X": "0X"}


def _whole_body(verb: str, flags: str, precision: int | None, value: int) -> str | None:
    if verb in _BASES or (verb == "s" and not _is_int64(value)):
        digits = format(abs(value), _BASES.get(verb, "d"))
        if precision is not None:
            digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
        mark = "0o" if verb == "O" else _MARKS.get(verb, "") if "#" in flags else ""
        return ("-" if value < 0 else "") + mark + digits
    if not _is_int64(value):
        return None
    if verb in "cqU" and ("#" in flags or "+" in flags or precision is not None):
        raise UnsupportedFormat("sprintf does not support this flag for a character here")
    if verb == "U":
        return f"U+{value & (1 << 64) - 1:04X}"
    if verb in "cq":
        is_character = 0 <= value < _CHARACTERS and not _SURROGATES[0] <= value <= _SURROGATES[1]
        character = chr(value) if is_character else "\ufffd"
        return character if verb == "c" else _quoted_character(character)
    return None


def _float_body(verb: str, flags: str, precision: int | None, value: float) -> str | None:
    if verb not in "vgGeEfF":
        if verb in "bxX":
            raise UnsupportedFormat(f"sprintf does not support %{verb} for a float64 here")
        return None
    if "#" in flags:
        raise UnsupportedFormat("sprintf does not support the flag # for a float64 here")
    kind = verb.lower()
    if kind in "ef":
        written = f"{value:.{6 if precision is None else precision}{kind}}"
    elif precision is None:
        # %v has an exponent from 1e21 on, and %g like it: Go's own threshold for the shortest form.
        written = go_float(value)
    else:
        written = f"{value:.{precision or 1}g}"
    return written.upper() if verb in "GE" else written


def _pad(body: str, flags: str, width: int, *, zeros: bool, signed: bool) -> str:
    sign = ""
    if signed:
        if body.startswith("-"):
            sign, body = "-", body[1:]
        elif "+" in flags:
            sign = "+"
        elif " " in flags:
            sign = " "
    if "-" in flags:
        return (sign + body).ljust(width)
    if zeros and signed:
        return sign + body.rjust(width - len(sign), "0")
    if zeros and width > len(body):
        raise UnsupportedFormat("sprintf does not pad text with zeros here")
    return (sign + body).rjust(width)


def _quoted_character(character: str) -> str:
    """A Go character literal (strconv.QuoteRune)."""
    if character == "'":
        return r"'\''"
    inner = '"' if character == '"' else _quote(character)[1:-1]
    return f"'{inner}'"


def _is_int64(value: int) -> bool:
    return -_INT64 <= value < _INT64


def _quote(text: str) -> str:
    """A Go string literal (strconv.Quote)."""
    return '"' + "".join(_SHORT_ESCAPES.get(character) or _escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    number = ord(character)
    if character == " " or character.isprintable():
        return character
    if number < 0x80:  # noqa: PLR2004  the end of ASCII
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # noqa: PLR2004  the end of the basic plane


def _go_type(value: float | str) -> str:
    """The name of the Go type, as in Go's error texts."""
    match value:
        case str():
            return "string"
        case int():
            return "int64" if _is_int64(value) else "big.Int"
        case _:
            return "float64"


def _default_text(value: float | str) -> str:
    return go_float(value) if isinstance(value, float) else str(value)
