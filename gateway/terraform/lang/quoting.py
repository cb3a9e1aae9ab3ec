"""Writes texts as HCL quoted strings, and converts templates between HCL and JSON code, which have other escapes."""

import re
from collections.abc import Iterator

from gateway.terraform.lang.values import Unknown

_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPE = re.compile(r'\\(?:([nrt"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))')
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_STRIPPED = re.compile(r"[$%]\{~|~\}")
_SEQUENCES = ("${", "%{")
_IN_PLAIN = re.compile(r"\$\$\{|%%\{|[$%]\{")
_IN_ESCAPED = re.compile(rf"\\.|{_IN_PLAIN.pattern}", re.DOTALL)
_IN_STRING = re.compile(rf'{_IN_ESCAPED.pattern}|"', re.DOTALL)
_IN_CODE = re.compile(r'[{}"]')
"""The next of what has a meaning, by where it stands."""


def quoted_text(value: str) -> str:
    """A text as an HCL quoted string (hclsyntax/spec.md, quoted template expressions), in which nothing is a template."""
    escaped = "".join(escaped_character(character) for character in value)
    # `$${` is a literal `${`. A dollar sign before it would be read differently by different parsers, so it is escaped.
    escaped = re.sub(r"([$%]+)\{", lambda match: _introducer(match.group(1)) + "{", escaped)
    return f'"{escaped}"'


def quoted_template(text: str) -> str:
    """A template without escapes by backslash, as JSON code has it, as an HCL quoted string. Raises `Unknown` if it does not end.

    In a template of several lines a marker that strips spaces ends at the line, and in a quoted string it does not. With such a marker the
    lines stay as they are, which no quoted string may have, so that the text counts as not known.
    """
    kept = "\n" if _STRIPPED.search(text) else ""
    pieces = [(code, piece) for code, piece in _pieces(text, escapes=False)]
    written = (
        piece if code else "".join(c if c in kept else escaped_character(c) for c in piece) for code, piece in pieces
    )
    return f'"{"".join(written)}"'


def plain_template(quoted: str) -> str:
    """The inverse of `quoted_template`, of an HCL quoted string with its quotes. Raises `Unknown`."""
    pieces = _pieces(quoted[1:-1], escapes=True)
    return "".join(piece if code else _ESCAPE.sub(_unescaped, piece) for code, piece in pieces)


def escaped_character(character: str) -> str:
    """A character as it stands in an HCL quoted string."""
    if character in _NAMED:
        return _NAMED[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  the two escapes HCL has


def _introducer(run: str) -> str:
    before = "".join(f"\\u{ord(character):04x}" for character in run[:-1])
    return before + run[-1] * 2


def _unescaped(match: re.Match[str]) -> str:
    name, short, long = match.groups()
    return _PLAIN[name] if name else chr(int(short or long, 16))


def _pieces(text: str, *, escapes: bool) -> Iterator[tuple[bool, str]]:
    """The text between interpolations and directives, and each of those (True). With `escapes` a backslash takes the next character with it."""
    start = position = 0
    marks = _IN_ESCAPED if escapes else _IN_PLAIN
    while (match := marks.search(text, position)) is not None:
        position = match.end()
        if match.group() in _SEQUENCES:
            position = _end_of_sequence(text, match.start())
            yield False, text[start : match.start()]
            yield True, text[match.start() : position]
            start = position
    yield False, text[start:]


def _end_of_sequence(text: str, start: int) -> int:
    """The end of the interpolation or directive that begins at an offset. It may hold thousands, one in the other."""
    around = ["{"]
    """The brackets and quotes that are open, from the outermost."""
    position = start + 2
    while around:
        in_string = around[-1] == '"'
        match = (_IN_STRING if in_string else _IN_CODE).search(text, position)
        if match is None:
            raise Unknown(
                f"{'a string in an interpolation' if in_string else 'an interpolation in a text'} does not end"
            )
        position, mark = match.end(), match.group()
        if mark == ('"' if in_string else "}"):
            around.pop()
        elif not in_string or mark in _SEQUENCES:
            around.append(mark[-1])
    return position
