"""The templates that a module names by `templatefile("${path.module}/…", …)`: which files they are, and how one is read.

Only files on disk inside the module's own directory are read, none behind a symbolic link and none that is large.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from gateway.errors import CodeInvalid
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse_template
from gateway.terraform.lang.values import Unknown

_CALL = re.compile(rb'\btemplatefile\(\s*"\$\{path\.module\}/((?:[^"$%{}\\]|\$\{[^"{}]*\})+)"')
_HOLE = re.compile(r"\$\{[^{}]*\}")
_LARGEST = 262_144
"""Bytes of a template that is read."""
_MOST = 200
"""Files of one directory that a name with an interpolation stands for."""


def template_names(texts: Iterable[bytes]) -> frozenset[str]:
    """The names of templates in the HCL of a directory, relative to it; `*` where Terraform puts in a value."""
    found: set[str] = set()
    for content in texts:
        for match in _CALL.finditer(content):
            name = posixpath.normpath(_HOLE.sub("*", match[1].decode(errors="replace")))
            if not name.startswith(("..", "/")) and "*" not in posixpath.dirname(name):
                found.add(name)
    return frozenset(found)


def read_templates(
    root: Path, overlay: Mapping[Path, bytes], directory: str, texts: Iterable[bytes]
) -> Mapping[Path, bytes]:
    """The templates of one directory by path relative to the root; files in the overlay replace those on disk."""
    replaced = {posixpath.normpath(path.as_posix()): content for path, content in overlay.items()}
    found: dict[Path, bytes] = {}
    for name in sorted(template_names(texts)):
        for path in _paths(root, posixpath.normpath(posixpath.join(directory, name))):
            content = replaced.get(path, _read(root, path))
            if content is not None:
                found[Path(path)] = content
    return found


def _paths(root: Path, pattern: str) -> Iterator[str]:
    if "*" not in pattern:
        yield pattern
        return
    folder, name = posixpath.split(pattern)
    try:
        names = sorted(entry.name for entry in os.scandir(root / folder) if fnmatchcase(entry.name, name))
    except OSError:
        return
    yield from (posixpath.join(folder, each) for each in names[:_MOST])


def _read(root: Path, path: str) -> bytes | None:
    file = Path(os.path.normpath(root.resolve() / path))
    try:
        if not file.is_file() or file.resolve() != file or file.stat().st_size > _LARGEST:
            return None
        return file.read_bytes()
    except OSError:
        return None


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
