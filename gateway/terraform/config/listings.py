"""What `fileset()` finds: the files below a folder of the stack whose path matches a pattern.

Source of the patterns: https://developer.hashicorp.com/terraform/language/functions/fileset. A folder behind a link, a pattern with a class of
characters, and a folder with very much in it are not listed: then nobody knows what `fileset()` finds.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gateway.core.go_regexp import NotARegexp, compiled
from gateway.terraform.file_tree import FileTree

if TYPE_CHECKING:
    import re2

_CALL: Final = re.compile(
    rb"\bfileset\(\s*(?:path\.(module|root)|"
    rb'"(?:\$\{path\.(module|root)\}/?)?([^"$%{}\\~]*)")\s*,\s*"([^"$%\\~]*)"\s*\)'
)
_PART: Final = re.compile(r"\*\*/|/\*\*$|^\*\*$|\*+|\?|\{[^{}]*\}|[^*?{}]+")
_MEANS: Final[Mapping[str, str]] = {"**/": "(?:[^/]+/)*", "/**": "(?:/[^/]+)+", "**": ".+", "*": "[^/]*", "?": "[^/]"}
_MOST_FOLDERS: Final = 200
_MOST_FILES: Final = 1_000
_LONGEST: Final = 200
"""Characters of a pattern."""
Asked = tuple[str, str]
"""A folder, relative to the root, and a pattern."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files below a folder that match a pattern."""

    names: tuple[str, ...]
    """Their paths relative to the folder, in order."""
    folders: tuple[str, ...]
    """The folders that were looked at, relative to the root."""


def asked_listings(directory: str, texts: Iterable[bytes]) -> frozenset[Asked]:
    """What the HCL of a directory asks `fileset` for, as far as it is written out."""
    found: set[Asked] = set()
    for content in texts:
        for match in _CALL.finditer(content):
            in_module = b"module" in (match[1], match[2])
            folder, pattern = ((each or b"").decode(errors="replace") for each in (match[3], match[4]))
            folder = posixpath.normpath(posixpath.join(directory if in_module else ".", folder))
            if not folder.startswith(("..", "/")) and len(pattern) <= _LONGEST:
                found.add((folder, pattern))
    return frozenset(found)


def read_listings(files: FileTree, directory: str, texts: Iterable[bytes]) -> Mapping[Asked, Listing]:
    """What each of them finds; without those that are not listed with certainty. Raises `errors.CodeInvalid`."""
    found = {(folder, pattern): _listed(files, folder, pattern) for folder, pattern in asked_listings(directory, texts)}
    return {asked: listing for asked, listing in found.items() if listing is not None}


def _listed(files: FileTree, folder: str, pattern: str) -> Listing | None:
    matched = _matcher(pattern)
    if matched is None:
        return None
    depth = len(pattern) if "**" in pattern else pattern.count("/")
    names: list[str] = []
    folders: list[str] = []
    for below in _folders(files, folder, depth):
        if below is None or len(folders) >= _MOST_FOLDERS:
            return None
        folders.append(below)
        inside = posixpath.relpath(below, folder)
        paths = (posixpath.normpath(posixpath.join(inside, name)) for name in files.names(below))
        try:
            names += (path for path in paths if matched.fullmatch(path))
        except UnicodeEncodeError:
            return None  # a name that is no UTF-8
        if len(names) > _MOST_FILES:
            return None
    return Listing(tuple(sorted(names)), tuple(folders))


def _folders(files: FileTree, folder: str, depth: int) -> Iterator[str | None]:
    """A folder and those below it, so many levels deep; None for one behind a link."""
    todo = [(folder, depth)]
    while todo:
        here, left = todo.pop()
        yield here
        if left:
            inner = files.folders(here)
            if inner is None:
                yield None
                return
            todo += ((posixpath.normpath(posixpath.join(here, name)), left - 1) for name in sorted(inner))


def _matcher(pattern: str) -> "re2._Regexp | None":
    """The pattern as a regular expression, which takes linear time however many wildcards it has; None if it is not understood."""
    parts = _PART.findall(pattern)
    if (
        not pattern
        or "[" in pattern
        or "".join(parts) != pattern
        or pattern != posixpath.normpath(pattern)
        or ".." in pattern
    ):
        return None
    if any(part.startswith("*") and part not in ("*", "**", "**/") for part in parts):
        return None
    if "**" in pattern and any(step != "**" and "**" in step for step in pattern.split("/")):
        return None
    try:
        return compiled("".join(_meaning(part) for part in parts))
    except NotARegexp:
        return None  # larger than one may be, or no UTF-8


def _meaning(part: str) -> str:
    if part.startswith("{"):
        return f"(?:{'|'.join(_alternative(each) for each in part[1:-1].split(','))})"
    return _MEANS.get(part) or re.escape(part)


def _alternative(text: str) -> str:
    return "".join(_MEANS.get(each) or re.escape(each) for each in re.findall(r"\*|\?|[^*?]+", text))
