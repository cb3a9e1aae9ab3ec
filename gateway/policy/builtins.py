"""The built-in functions that OPA's Wasm expects from its host, with the same results as in OPA."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from gateway.policy.rego_values import Term, go_float, to_text

Builtin: TypeAlias = Callable[..., Term]

_VERB = re.compile(r"%(?P<flags>[-+ 0]*)(?P<width>[0-9]{1,3})?(?:\.(?P<precision>[0-9]{1,2}))?(?P<verb>.)?", re.DOTALL)
_INT64 = 2**63
_SHORT_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}  # fmt: skip


class UnsupportedFormat(ValueError):
    """A use of `sprintf` that this host cannot format as OPA does. A decision that needs it is a denial."""


def sprintf(template: Term, values: Term) -> str:
    """Go's `fmt.Sprintf` for Rego values, as in OPA's `sprintf` (opa v1.22 topdown/strings.go).

    Supports %v %s %d %f %q %t %x and %%, flags `-`, `+`, space and `0`, width and precision. A verb that does not fit its
    value gives the same text as in Go, e.g. `%!d(string=x)`. Raises `UnsupportedFormat` for anything else.
    """
    if not isinstance(template, str) or not isinstance(values, list):
        raise UnsupportedFormat("sprintf needs a string and an array.")
    arguments = iter([_argument(value) for value in values])
    text = _VERB.sub(lambda match: _format_match(match, arguments), template)
    extra = ", ".join(f"{_go_type(value)}={_default_text(value)}" for value in arguments)
    return f"{text}%!(EXTRA {extra})" if extra else text


SUPPLIED: Mapping[str, Builtin] = {"sprintf": sprintf}
"""Every built-in that a policy may use besides those of OPA's Wasm. Never http.send, opa.runtime or a clock."""


def _argument(value: Term) -> int | float | str:
    """The argument that OPA passes to Go: integers, floats and strings as they are, anything else (also true and null) as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return to_text(value)
    return value


def _format_match(match: re.Match[str], arguments: Iterator[int | float | str]) -> str:
    verb = match["verb"]
    if verb is None:
        return "%!(NOVERB)"
    if verb == "%":
        return "%"
    if verb in "*[#":
        raise UnsupportedFormat(f"sprintf does not support {match[0]!r} here.")
    value = next(arguments, None)
    if value is None:
        return f"%!{verb}(MISSING)"
    return _format_value(match, verb, value)


def _format_value(match: re.Match[str], verb: str, value: float | str) -> str:
    body = _body(verb, match["precision"], value)
    if body is None:
        if match["flags"] or match["width"] or match["precision"]:
            raise UnsupportedFormat(f"sprintf cannot format a {_go_type(value)} with {match[0]!r}.")
        return f"%!{verb}({_go_type(value)}={_default_text(value)})"
    return _pad(body, match["flags"], int(match["width"] or 0), isinstance(value, str))


def _body(verb: str, precision: str | None, value: float | str) -> str | None:
    """The text before padding; None if Go has no such verb for this type."""
    digits = int(precision) if precision is not None else None
    match verb, value:
        case "v" | "s", str():
            return value if digits is None else value[:digits]
        case "q", str():
            return _quote(value)
        case "x", str():
            return value.encode().hex()
        case "v" | "d", int() if digits is None:
            return str(value)
        case "x", int() if digits is None:
            return f"{value:x}"
        case "v", float() if digits is None:
            return go_float(value)
        case "f", float():
            return f"{value:.{6 if digits is None else digits}f}"
        case ("t" | "d" | "f", str()) | ("s" | "t" | "f", int()) | ("s" | "t" | "d", float()):
            return None
        case _:
            raise UnsupportedFormat(f"sprintf does not support %{verb} for a {_go_type(value)} here.")


def _pad(body: str, flags: str, width: int, is_text: bool) -> str:
    sign = ""
    if not is_text:
        if body.startswith("-"):
            sign, body = "-", body[1:]
        elif "+" in flags:
            sign = "+"
        elif " " in flags:
            sign = " "
    if "-" in flags:
        return (sign + body).ljust(width)
    if "0" in flags and not is_text:
        return sign + body.rjust(width - len(sign), "0")
    if "0" in flags:
        raise UnsupportedFormat("sprintf does not pad text with zeros here.")
    return (sign + body).rjust(width)


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
    if not isinstance(value, int):
        return "string" if isinstance(value, str) else "float64"
    if not -_INT64 <= value < _INT64:
        raise UnsupportedFormat("sprintf does not support a number this large here.")
    return "int64"


def _default_text(value: float | str) -> str:
    return go_float(value) if isinstance(value, float) else str(value)
