"""Regular expressions of Go's `regexp`, which Terraform and OPA have, in linear time: RE2 with Go's way to go from match to match and to substitute."""

import functools
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

import re2

Compiled: TypeAlias = "re2._Regexp"  # noqa: SLF001  the library names its type so
"""A pattern that is ready to match."""
MEMORY: Final = 1 << 22
"""Bytes for one compiled pattern. Linear time is no help where the pattern is compiled to a million steps."""
_KEPT: Final = 16
_REFERENCE = re.compile(r"\$(?:(\$)|\{(\w+)\}|(\w+))", re.ASCII)


class NotARegexp(ValueError):
    """The text is not a regular expression, or is one that would be compiled to too much."""


@functools.lru_cache(maxsize=_KEPT)
def compiled(pattern: str) -> "re2._Regexp":
    """The pattern, ready to match. Raises `NotARegexp`."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        found: re2._Regexp = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        raise NotARegexp(f"{pattern} is not a regular expression") from None
    return found


def matches(pattern: "re2._Regexp", string: str) -> Iterator["re2._Match"]:
    """Every match, as Go finds them: none that is empty where another one ends."""
    end = -1
    for match in pattern.finditer(string):
        if match.start() != match.end() or match.start() != end:
            yield match
        end = match.end()


def substituted(pattern: "re2._Regexp", template: str, string: str) -> Iterator[str]:
    """The parts of the string with every match replaced by the template, as `ReplaceAllString` does."""
    done = 0
    for match in matches(pattern, string):
        yield string[done : match.start()]
        yield _expanded(match, template)
        done = match.end()
    yield string[done:]


def _expanded(match: "re2._Match", template: str) -> str:
    """The replacement of a match, with `$1`, `${name}` and `$$` as Go's regexp has them."""

    def group(found: re.Match[str]) -> str:
        name = found[2] or found[3]
        if found[1]:
            return "$"
        key: int | str = int(name) if name.isdecimal() else name
        present = key in match.groupdict() if isinstance(key, str) else key <= len(match.groups())
        return (match.group(key) or "") if present else ""

    return _REFERENCE.sub(group, template)
