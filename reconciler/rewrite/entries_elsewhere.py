"""Writes an entry like that of a sibling into another branch of the data files, whether that has such a collection yet or not.

A branch is a file of those that `fileset()` finds, or an entry of a map whose entries are maps: a service, a tenant, a team. The new entry
belongs into another one than the sibling's if that one's name is in what tells the new resource from the sibling.
"""

import contextlib
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import functions, values
from gateway.terraform.lang.evaluate import find
from gateway.terraform.lang.hcl import Document, data_document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.siblings import NewInstance, part_of
from reconciler.rewrite.trace.sites import DocumentSite, YamlSite

_SUFFIXES: Final = frozenset({".json", ".yaml", ".yml"})
_LARGEST: Final = 65_536
"""Bytes of a file that is read."""
_MOST_ENTRIES: Final = 1_000
"""Entries that are looked at."""
_MOST: Final = 20
"""Places that are tried, those with the most values of the sibling first."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of a map or an item of a list, in a file."""

    path: Path
    steps: tuple[str, ...]
    """The steps to its collection."""
    key: str
    """Its key; empty for an item."""
    value: Json


@dataclass(frozen=True, slots=True)
class _Place:
    """A collection that may get the entry: as the sibling's, but with another branch in the place of its own."""

    path: Path
    steps: tuple[str, ...]
    was: str
    """The name of the sibling's branch."""
    now: str


def entries_elsewhere(module: Module, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """The changes of data files that write one more entry like the sibling's, with the new values, into another branch than the sibling's."""
    files = _files(module)
    entries = list(_entries(files))
    told = [str(new) for _, new in like.values if isinstance(new, str)] + [like.new]
    names = {key for entry in entries for key in (entry.key, entry.path.stem) if len(key) > 1}
    named = frozenset(name for name in names if any(name in each for each in told))
    found: list[tuple[int, _Entry, _Place, _Entry]] = []
    for entry in entries if named else ():
        for place in _places(entry, files, module, named):
            value, score = _moved(entry.value, like, place)
            key = _text_moved(entry.key, like, place) if entry.key else ""
            if score and (not entry.key or key != entry.key):
                found.append((score, entry, place, _Entry(place.path, place.steps, key, value)))
    for _, entry, place, new in sorted(found, key=lambda each: -each[0])[:_MOST]:
        with contextlib.suppress(CannotEdit, Unknown):
            yield _written(module, replace(new, value=_without_own(new.value, entry, entries)), files[place.path])


def _files(module: Module) -> Mapping[Path, Json]:
    """The documents of the data files that a module reads."""
    found = {}
    for path, content in module.source.templates.items():
        if path.suffix in _SUFFIXES and len(content) <= _LARGEST:
            decoder = "jsondecode" if path.suffix == ".json" else "yamldecode"
            with contextlib.suppress(Unknown, UnicodeDecodeError):
                found[path] = values.to_json(functions.call(decoder, [content.decode()]))
    return found


def _entries(files: Mapping[Path, Json]) -> Iterator[_Entry]:
    todo: list[tuple[Path, tuple[str, ...], Json]] = [(path, (), document) for path, document in files.items()]
    made = 0
    while todo and made < _MOST_ENTRIES:
        path, steps, held = todo.pop(0)
        rows = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, item in rows:
            made += 1
            yield _Entry(path, steps, key if isinstance(key, str) else "", item)
            todo.append((path, (*steps, str(key)), item))


def _places(entry: _Entry, files: Mapping[Path, Json], module: Module, named: frozenset[str]) -> Iterator[_Place]:
    """The same collection in other files of a listing, and below other entries of the maps above it: of those whose name is among `named`."""
    for (folder, _), listing in module.source.listings.items():
        if entry.steps and posixpath.relpath(entry.path, folder) in listing.names:
            beside = (Path(folder, name) for name in listing.names if PurePosixPath(name).stem in named)
            yield from (
                _Place(path, entry.steps, entry.path.stem, path.stem)
                for path in beside
                if path != entry.path and path in files
            )
    above: Json = files[entry.path]
    for level, step in enumerate(entry.steps):
        if not isinstance(above, dict):
            return
        if level + 1 < len(entry.steps):
            for name in sorted(named & above.keys() - {step}):
                if isinstance(above[name], dict):
                    steps = (*entry.steps[:level], name, *entry.steps[level + 1 :])
                    yield _Place(entry.path, steps, step, name)
        above = above.get(step)


def _moved(value: Json, like: NewInstance, place: _Place) -> tuple[Json, int]:
    """The value as the new instance has it in another branch, and how many of its texts differ."""
    if isinstance(value, dict):
        rows = {name: _moved(item, like, place) for name, item in value.items()}
        return {name: item for name, (item, _) in rows.items()}, sum(score for _, score in rows.values())
    if isinstance(value, list):
        items = [_moved(item, like, place) for item in value]
        return [item for item, _ in items], sum(score for _, score in items)
    if not isinstance(value, str):
        return value, 0
    text = _text_moved(value, like, place)
    return text, int(text != value)


def _without_own(value: Json, entry: _Entry, entries: Sequence[_Entry]) -> Json:
    """The new value without the members that stay as the sibling has them, and that not all such entries have: they are the sibling's own."""
    if not isinstance(value, dict) or not isinstance(entry.value, dict):
        return value
    alike = [
        each.value for each in entries if each.steps[-1:] == entry.steps[-1:] and bool(each.key) == bool(entry.key)
    ]
    usual = set(value).intersection(*(each for each in alike if isinstance(each, dict)))
    return {name: item for name, item in value.items() if name in usual or item != entry.value[name]}


def _text_moved(text: str, like: NewInstance, place: _Place) -> str:
    """What stands for a text of the sibling's entry: the new value, or the part of it that is in the place of the text in the sibling's."""
    pairs = [*like.values, (like.old, like.new)]
    if (whole := next((new for old, new in pairs if old == text and isinstance(new, str)), None)) is not None:
        return whole
    for old, new in pairs:
        if (
            isinstance(old, str)
            and isinstance(new, str)
            and len(text) > 1
            and (part := part_of(text, old, new, (place.was, place.now)))
        ):
            return part
    return text


def _written(module: Module, new: _Entry, whole: Json) -> tuple[Document, Splice]:
    """The change of a file that writes the entry into its collection, which is new if it is not there. Raises `CannotEdit`, `Unknown`."""
    document = data_document(new.path, module.source.templates[new.path])
    try:
        now = values.to_json(find(whole, new.steps))
    except Unknown:
        now = None
    if new.key and isinstance(now, dict) and new.key in now:
        raise CannotEdit(f"{new.path} has {new.key} already.")
    steps = (*new.steps, new.key) if new.key else new.steps
    wanted = new.value if new.key else [*(now if isinstance(now, list) else []), new.value]
    if new.path.suffix != ".json":
        from reconciler.rewrite.editors.yaml_value import edit_yaml  # noqa: PLC0415  it takes long to import, and few stacks have any

        return document, edit_yaml(YamlSite(document=document, steps=steps), wanted)
    from reconciler.rewrite.editors.json_member import edit_member  # noqa: PLC0415  few stacks have any

    listed = None if new.key else now
    site = DocumentSite(document=document, start=0, end=len(document.source), steps=steps, now=listed)
    return document, edit_member(site, wanted)
