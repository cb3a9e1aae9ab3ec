"""Reads a CODEOWNERS file as GitHub does: who owns a file, by the last pattern that matches it.

Source: "About code owners" in GitHub's documentation. The syntax is gitignore's, without `!`, `[ ]` and escaped `#`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks, in this order; the first file counts."""
LARGEST: Final = 3 * 1024 * 1024
"""Bytes; GitHub ignores larger files."""

_DEEP: Final = 3
"""More `**` in a pattern would be tried in too many ways; such a line is skipped."""
_OWNER: Final = re.compile(
    r"@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:/[A-Za-z0-9._-]{1,100})?|[^\s@]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """Who owns some files."""

    users: tuple[str, ...] = ()
    """GitHub names, without `@`."""
    teams: tuple[str, ...] = ()
    """`organization/team`, without `@`."""
    emails: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerRule:
    """One line of the file."""

    pattern: re.Pattern[str]
    owners: tuple[str, ...]
    """As they are written; empty for files that nobody owns."""


def read_rules(text: str) -> tuple[OwnerRule, ...]:
    """The rules of a CODEOWNERS file, in their order. GitHub skips a line that it cannot read, and so does this."""
    return tuple(_rules(text))


def owners_of(rules: Iterable[OwnerRule], paths: Iterable[str]) -> Owners:
    """The owners of files, given relative to the top of the repository, in the order of the files."""
    known = tuple(rules)
    found = dict.fromkeys(owner for path in paths for owner in _owners(known, path))
    named = [owner.removeprefix("@") for owner in found if owner.startswith("@")]
    return Owners(
        users=tuple(name for name in named if "/" not in name),
        teams=tuple(name for name in named if "/" in name),
        emails=tuple(owner for owner in found if not owner.startswith("@")),
    )


def _owners(rules: tuple[OwnerRule, ...], path: str) -> tuple[str, ...]:
    return next((rule.owners for rule in reversed(rules) if rule.pattern.fullmatch(path)), ())


def _rules(text: str) -> Iterator[OwnerRule]:
    for line in text.splitlines():
        pattern, *rest = _words(line) or [""]
        owners = tuple(rest)
        readable = not pattern.startswith("!") and "[" not in pattern and pattern.count("**") <= _DEEP
        if pattern and readable and all(map(_OWNER.fullmatch, owners)):
            yield OwnerRule(pattern=re.compile(_expression(pattern)), owners=owners)


def _words(line: str) -> list[str]:
    """The words of a line, up to a comment. A blank behind a backslash belongs to its word."""
    words = re.findall(r"(?:\\.|\S)+", line)
    comment = next((index for index, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _expression(pattern: str) -> str:
    """The regular expression of a pattern, over the whole path of a file."""
    anchored = pattern.startswith("/")
    parts = pattern.removeprefix("/").split("/")
    if not anchored and (len(parts) == 1 or parts[1:] == [""]):
        parts = ["**", *parts]
    if len(parts) > 1 and not parts[-1]:
        parts[-1] = "**"
    return "".join(
        _part(part, first=index == 0, last=index == len(parts) - 1, parts=parts, index=index)
        for index, part in enumerate(parts)
    )


def _part(part: str, *, first: bool, last: bool, parts: list[str], index: int) -> str:
    slash = "" if first or (parts[0] == "**" and index == 1) else "/"
    if part == "**":
        if first:
            return ".+" if last else "(?:.+/)?"
        return f"{slash}.*" if last else f"(?:{slash}.+)?"
    if part == "*":
        return f"{slash}[^/]+"  # unlike in gitignore, `docs/*` does not reach into directories below
    return f"{slash}{_glob(part)}" + ("(?:/.*)?" if last else "")


def _glob(part: str) -> str:
    """One name with `*`, `?` and escaped characters. What a `*` took is not tried again: the first place that fits is as good as any other,
    so the cost does not grow with the number of stars.
    """
    first, *rest = _between_stars(part)
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{text})" for text in middle if text) + f"[^/]*{last}"


def _between_stars(part: str) -> list[str]:
    """The expressions of the texts before, between and after the stars of a name."""
    texts = [""]
    for sign in re.findall(r"\\.|.", part):
        if sign == "*":
            texts.append("")
        else:
            texts[-1] += "[^/]" if sign == "?" else re.escape(sign.removeprefix("\\") or "\\")
    return texts
