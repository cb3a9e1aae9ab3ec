"""The built-in functions that OPA's Wasm leaves to its host, answering exactly as OPA does."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from gateway.policy.values import Term, go_float, to_text

Builtin: TypeAlias = Callable[..., Term]

_VERB = re.compile(r"%(?P<flags>[-+ 0]*)(?P<width>[0-9]{1,3})?(?:\.(?P<precision>[0-9]{1,2}))?(?P<verb>.)?", re.DOTALL)
_INT64 = 2**63
_SHORT_ESCAPES = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}  # fmt: skip


class UnsupportedFormat(ValueError):
    """A use of `sprintf` that this host does not answer as OPA would; the decision that needs it is a denial."""


def sprintf(template: Term, values: Term) -> str:
    """Go's `fmt.Sprintf` over Rego values, as OPA's `sprintf` does it (opa v1.22 topdown/strings.go).

    Knows %v %s %d %f %q %t %x and %%, flags `-`, `+`, space and `0`, width and precision. A verb that does not fit its value
    is written as Go writes it, e.g. `%!d(string=x)`. Raises `UnsupportedFormat` for anything else.
    """
    if not isinstance(template, str) or not isinstance(values, list):
        raise UnsupportedFormat("sprintf needs a string and an array.")
    arguments = iter([_argument(value) for value in values])
    text = _VERB.sub(lambda match: _placed(match, arguments), template)
    extra = ", ".join(f"{_type(value)}={_plain(value)}" for value in arguments)
    return f"{text}%!(EXTRA {extra})" if extra else text


SUPPLIED: Mapping[str, Builtin] = {"sprintf": sprintf}
"""All that a policy may use beyond what its Wasm can do itself. Never http.send, opa.runtime or a clock."""


def _argument(value: Term) -> int | float | str:
    """OPA gives Go integers, floats and strings; everything else, true and null too, as its text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return to_text(value)
    return value


def _placed(match: re.Match[str], arguments: Iterator[int | float | str]) -> str:
    verb = match["verb"]
    if verb is None:
        return "%!(NOVERB)"
    if verb == "%":
        return "%"
    if verb in "*[#":
        raise UnsupportedFormat(f"sprintf does not take {match[0]!r} here.")
    value = next(arguments, None)
    if value is None:
        return f"%!{verb}(MISSING)"
    return _formatted(match, verb, value)


def _formatted(match: re.Match[str], verb: str, value: float | str) -> str:
    body = _body(verb, match["precision"], value)
    if body is None:
        if match["flags"] or match["width"] or match["precision"]:
            raise UnsupportedFormat(f"sprintf cannot write a {_type(value)} with {match[0]!r}.")
        return f"%!{verb}({_type(value)}={_plain(value)})"
    return _padded(body, match["flags"], int(match["width"] or 0), isinstance(value, str))


def _body(verb: str, precision: str | None, value: float | str) -> str | None:
    """The text before padding; None where Go has no such verb for such a value."""
    digits = int(precision) if precision is not None else None
    match verb, value:
        case "v" | "s", str():
            return value if digits is None else value[:digits]
        case "q", str():
            return _quoted(value)
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
            raise UnsupportedFormat(f"sprintf does not take %{verb} for a {_type(value)} here.")


def _padded(body: str, flags: str, width: int, is_text: bool) -> str:
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


def _quoted(text: str) -> str:
    """A Go string literal (strconv.Quote)."""
    return '"' + "".join(_SHORT_ESCAPES.get(letter) or _escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    number = ord(letter)
    if letter == " " or letter.isprintable():
        return letter
    if number < 0x80:  # noqa: PLR2004  the end of ASCII
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # noqa: PLR2004  the end of the basic plane


def _type(value: float | str) -> str:
    """The name of the Go type, as it stands in Go's complaints."""
    if not isinstance(value, int):
        return "string" if isinstance(value, str) else "float64"
    if not -_INT64 <= value < _INT64:
        raise UnsupportedFormat("sprintf does not name the type of so large a number.")
    return "int64"


def _plain(value: float | str) -> str:
    return go_float(value) if isinstance(value, float) else str(value)
