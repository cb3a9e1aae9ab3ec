"""Regular expressions of contracts: RE2, which takes linear time for every pattern, with ceilings on the pattern and on what it is held against."""

import functools

import re2

LONGEST_VALUE = 4096
"""Characters of one value. A longer one matches no pattern."""
MOST_TEXT = 65_536
"""Characters of all values of one attribute together. More text matches no pattern."""

_LONGEST_PATTERN = 2000
_LARGEST_PROGRAM = 3000
_MEMORY = 1 << 20
"""Bytes for the compiled pattern. Linear time is no help where the pattern is compiled to a million steps."""


class NotAPattern(Exception):
    """The text is not a regular expression that Sentinel matches; the message is the reason, as a sentence's end."""


def check_pattern(pattern: str) -> None:
    """Raise `NotAPattern` if the text is not a regular expression, or one that is too large."""
    _compiled(pattern)


def matches_whole(pattern: str, value: str) -> bool:
    """Whether the whole value matches. Raises `NotAPattern`."""
    compiled = _compiled(pattern)
    if len(value) > LONGEST_VALUE:
        return False
    try:
        return compiled.fullmatch(value) is not None
    except UnicodeEncodeError:
        return False  # half of a surrogate pair is no text


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re2._Regexp":
    if len(pattern) > _LONGEST_PATTERN:
        raise NotAPattern(f"a regular expression may have {_LONGEST_PATTERN} characters, not {len(pattern)}")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # remembering groups would cost more than linear time
    options.max_mem = _MEMORY
    try:
        compiled: re2._Regexp = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise NotAPattern("it is not a regular expression that can be matched in linear time (RE2)") from error
    if compiled.programsize > _LARGEST_PROGRAM:
        raise NotAPattern("the regular expression is too large; repeat less in it")
    return compiled
