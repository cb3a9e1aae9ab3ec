"""Terraform's functions of text, and of the paths of files as text."""

import posixpath
import re
import urllib.parse
from collections.abc import Callable, Mapping

import re2

from gateway.core import go_regexp
from gateway.terraform.lang.values import (
    LONGEST_TEXT,
    EvaluationFailed,
    ListOf,
    Unknown,
    Value,
    decimal,
    items,
    letters,
    text,
    within,
)

_GREEK = 0x250
"""From here on, letters without a capital of their own may have a title case that Go uses instead."""
_WIDEST_INDENT = 1000


def _lower(value: Value) -> str:
    changed = [letter.lower() for letter in text(value)]
    if any(len(letter) != 1 for letter in changed):
        raise Unknown("letters that become several letters in another case are not changed")
    return "".join(changed)


def _upper(value: Value) -> str:
    string = text(value)
    if any(len(letter.upper()) != 1 and ord(letter) >= _GREEK for letter in string):
        raise Unknown("letters that become several letters in another case are not changed")
    return "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in string)


def _title(value: Value) -> str:
    string = text(value)
    if not string.isascii():
        raise Unknown("title() of text beyond ASCII")
    return re.sub(r"(?<![A-Za-z0-9_])[a-z]", lambda match: match[0].upper(), string)


def _replace(source: Value, old: Value, new: Value) -> Value:
    wanted = text(old)
    if len(wanted) > 1 and wanted.startswith("/") and wanted.endswith("/"):
        return "".join(within(go_regexp.substituted(_compiled(wanted[1:-1]), text(new), text(source))))
    string, written = text(source), text(new)
    if len(string) + string.count(wanted) * len(written) > LONGEST_TEXT:
        raise Unknown(f"replace() to more than {LONGEST_TEXT} characters")
    return string.replace(wanted, written)


def _compiled(pattern: str) -> "re2._Regexp":
    try:
        return go_regexp.compiled(pattern)
    except go_regexp.NotARegexp as error:
        raise EvaluationFailed(str(error)) from None


def _captured(match: "re2._Match") -> Value:
    """What `regex` returns: the match, a list of its groups, or a map of its named groups."""
    names: dict[str, str | None] = match.groupdict()
    groups: tuple[str | None, ...] = match.groups()
    if names and len(names) != len(groups):
        raise EvaluationFailed("a regular expression has either named groups or unnamed ones")
    if names:
        return dict(names)
    return list(groups) if groups else str(match.group(0))


def _regex(pattern: Value, source: Value) -> Value:
    found = _compiled(text(pattern)).search(text(source))
    if found is None:
        raise EvaluationFailed("regex() finds no match")
    return _captured(found)


def _regexall(pattern: Value, source: Value) -> Value:
    return ListOf(_captured(match) for match in go_regexp.matches(_compiled(text(pattern)), text(source)))


def _split(separator: Value, source: Value) -> Value:
    by, string = text(separator), text(source)
    return ListOf(string.split(by) if by else string)


def _join(separator: Value, *lists: Value) -> str:
    written = text(separator)
    return written.join(within((text(item) for each in lists for item in items(each, "join()")), len(written)))


def _substr(source: Value, offset: Value, length: Value) -> str:
    string, start, size = letters(text(source)), int(decimal(offset)), int(decimal(length))
    if start < 0:
        start = max(start + len(string), 0)
    return string[start:] if size < 0 else string[start : start + size]


def _indent(spaces: Value, source: Value) -> str:
    width = int(decimal(spaces))
    if width > _WIDEST_INDENT:
        raise Unknown(f"indent() by more than {_WIDEST_INDENT} spaces")
    return text(_replace(source, "\n", "\n" + " " * width))


def _dirname(path: Value) -> str:
    directory, slash, _ = text(path).rpartition("/")
    return posixpath.normpath(directory or slash or ".").replace("//", "/")


def _basename(path: Value) -> str:
    stripped = text(path).rstrip("/")
    return posixpath.basename(stripped) if stripped else "/" if text(path) else "."


def _urlencode(value: Value) -> str:
    return urllib.parse.quote_plus(text(value), safe="-_.~")


def _to_string(value: Value) -> Value:
    return None if value is None else text(value)


def _trim(value: Value, characters: Value) -> str:
    return text(value).strip(text(characters)) if text(characters) else text(value)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "basename": _basename,
    "chomp": lambda value: text(value).rstrip("\r\n"),
    "dirname": _dirname,
    "endswith": lambda value, suffix: text(value).endswith(text(suffix)),
    "indent": _indent,
    "join": _join,
    "lower": _lower,
    "regex": _regex,
    "regexall": _regexall,
    "replace": _replace,
    "split": _split,
    "startswith": lambda value, prefix: text(value).startswith(text(prefix)),
    "strcontains": lambda value, part: text(part) in text(value),
    "strrev": lambda value: letters(text(value))[::-1],
    "substr": _substr,
    "title": _title,
    "tostring": _to_string,
    "trim": _trim,
    "trimprefix": lambda value, part: text(value).removeprefix(text(part)),
    "trimspace": lambda value: text(value).strip(),
    "trimsuffix": lambda value, part: text(value).removesuffix(text(part)),
    "upper": _upper,
    "urlencode": _urlencode,
}
