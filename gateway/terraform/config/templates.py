"""The templates and data files that a module names by `templatefile("${path.module}/…", …)`, `file("…")` and their like, and how one is read.

Only files on disk inside the module's own directory are read, or inside the root's if the name begins with neither or with `path.root`: there
Terraform runs. None is read behind a symbolic link, and none that is large.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.listings import Asked, Listing
from gateway.terraform.file_tree import FileTree
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse_template
from gateway.terraform.lang.values import Unknown

_CALL = re.compile(
    rb"\b(?:templatefile|file(?:exists|md5|sha(?:1|256|512)|base64(?:sha(?:256|512))?)?)\("
    rb'\s*"(\$\{path\.(?:module|root)\}/)?((?:[^"$%{}\\~]|\$\{[^"{}]*\})+)"'
)
_IN_MODULE = b"${path.module}/"
_HOLE = re.compile(r"\$\{[^{}]*\}")
_LARGEST = 262_144
"""Bytes of a template that is read."""
_LARGEST_ALL = 8_388_608
"""Bytes of all templates of one directory that are read."""
_MOST = 200
"""Files of one directory that a name with an interpolation stands for."""


def template_names(directory: str, texts: Iterable[bytes]) -> frozenset[str]:
    """The templates and data files that the HCL of a directory names, relative to the root; `*` where Terraform puts in a value."""
    found: set[str] = set()
    for content in texts:
        for match in _CALL.finditer(content):
            name = posixpath.normpath(_HOLE.sub("*", match[2].decode(errors="replace")))
            if not name.startswith(("..", "/")) and "*" not in posixpath.dirname(name):
                found.add(posixpath.normpath(posixpath.join(directory, name)) if match[1] == _IN_MODULE else name)
    return frozenset(found)


def read_templates(
    files: FileTree,
    overlay: Mapping[Path, bytes],
    directory: str,
    texts: Iterable[bytes],
    listings: Mapping[Asked, Listing] = MappingProxyType({}),
) -> Mapping[Path, bytes]:
    """The templates of one directory by path relative to the root, what its `listings` found among them; files in the overlay replace others.

    None is read that is large, and no more once all together are.
    """
    replaced = {posixpath.normpath(path.as_posix()): content for path, content in overlay.items()}
    found: dict[Path, bytes] = {}
    left = _LARGEST_ALL
    listed = {
        posixpath.normpath(posixpath.join(folder, name))
        for (folder, _), each in listings.items()
        for name in each.names
    }
    for name in sorted(template_names(directory, texts) | listed):
        for path in (name,) if name in listed else _paths(files, name):
            content = replaced[path] if path in replaced else files.small(path, min(_LARGEST, left))
            if content is not None:
                found[Path(path)] = content
                left -= len(content)
    return found


def watched_paths(
    directory: str,
    texts: Iterable[bytes],
    templates: Collection[Path],
    listings: Mapping[Asked, Listing] = MappingProxyType({}),
) -> Iterator[str]:
    """The paths whose change may change what the templates of a directory are: the files, and folders where the name is not known."""
    yield from (path.as_posix() for path in templates)
    for listing in listings.values():
        yield from listing.folders
    for path in template_names(directory, texts):
        yield posixpath.dirname(path) if "*" in path else path


def _paths(files: FileTree, pattern: str) -> Iterator[str]:
    if "*" not in pattern:
        yield pattern
        return
    folder, name = posixpath.split(pattern)
    names = sorted(each for each in files.names(folder) if fnmatchcase(each, name))
    yield from (posixpath.join(folder, each) for each in names[:_MOST])


@lru_cache(maxsize=256)
def read_template(path: Path, content: bytes) -> tuple[Document, Expression]:
    """A template as a document and the expression of its text. Raises `Unknown` if it cannot be read with certainty."""
    try:
        document = parse_template(path, content)
    except CodeInvalid as error:
        raise Unknown(f"the template cannot be read: {error}") from None
    (attribute,) = document.attributes(document.root).values()
    written = read_attribute(document, attribute)
    if not isinstance(written, e.Template):
        raise Unknown(f"the template {path} cannot be read: {getattr(written, 'reason', 'it is no text')}")
    parts = list(written.parts)
    if not content.endswith(b"\n") and parts and isinstance(parts[-1], str):
        parts[-1:] = [parts[-1].removesuffix("\n")] if parts[-1] != "\n" else []
    if len(parts) == 1 and not isinstance(parts[0], str):
        return document, e.Group(written.start, written.end, parts[0])
    return document, e.Template(written.start, written.end, tuple(parts), heredoc=True)
