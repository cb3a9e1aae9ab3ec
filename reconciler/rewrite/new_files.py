"""Finds the file that a new instance would be made of, where its siblings are made of the files that `fileset()` finds: one more in their form."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from gateway.terraform.config.module import Module
from gateway.terraform.lang.hcl import Document, data_document
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.siblings import NewInstance

_READ: Final = frozenset({".json", ".yaml", ".yml"})
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
"""What a new name may have that becomes a part of a file's."""
_MOST: Final = 20
"""Files that are written once more, in the order of their names."""


def new_files(module: Module, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """A new file for each file with the sibling's text in its name that a module lists, with the new text and values in place of the sibling's."""
    if not like.old or not _NAME.fullmatch(like.new):
        return
    made = 0
    for (folder, _), listing in module.source.listings.items():
        paths = [Path(folder, name) for name in listing.names]
        for path in paths:
            name = _renamed(path.name, like)
            if path.suffix not in _READ or not name or path.with_name(name) in module.source.templates:
                continue
            if path not in module.source.templates or made == _MOST:
                continue
            made += 1
            with contextlib.suppress(CannotEdit):
                text = _copied(module, path, paths, like)
                yield data_document(path.with_name(name), b""), Splice(0, 0, text)


def _renamed(name: str, like: NewInstance) -> str:
    """The name of a file with the new text in place of the sibling's, which stands there as a word; empty if it does not."""
    before, found, after = name.rpartition(like.old)
    around = (before[-1:], PurePosixPath(after).name[:1])
    return f"{before}{like.new}{after}" if found and not any(each.isalnum() for each in around) else ""


def _copied(module: Module, path: Path, beside: list[Path], like: NewInstance) -> str:
    """The text of a file with the new values. Of its comments it has what all of them say. Raises `CannotEdit`."""
    from reconciler.rewrite.data_entries import DataFile  # noqa: PLC0415  it takes long to import, and few stacks have any

    templates = module.source.templates
    files = {each: DataFile(data_document(each, templates[each]), is_csv=False) for each in beside if each in templates}
    said = [each.comment_lines() for each in files.values()]
    shared = frozenset.intersection(*said) if len(said) > 1 else frozenset[str]()
    return files[path].with_values(((like.old, like.new), *like.values), shared)
