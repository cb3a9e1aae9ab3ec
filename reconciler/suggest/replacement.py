"""Makes a suggestion's replacements in the code, if they change the wanted value and nothing else, and each is needed.

Open are the attributes and nested blocks of resources, arguments of modules, locals, defaults of variables and given values of variables.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import META, load_module
from gateway.terraform.lang.hcl import Document, parse
from reconciler.model import Edit, Edited, Wanted
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.footprint.changes import FootprintChange, footprint_changes
from reconciler.rewrite.footprint.values import differences
from reconciler.suggest.code_settings import descendants
from reconciler.suggest.question import LONGEST_REPLACEMENT, MOST_REPLACEMENTS, Question, Replacement, Suggestion

_MODULE_META: Final = frozenset({"source", "version", "providers", "count", "for_each", "depends_on"})
SUGGESTED = "suggested: no editor could write it; held to the same proofs"
"""The step of the chain that says where the edit comes from."""


def replace_as_suggested(root: Path, question: Question, suggestion: Suggestion) -> Edited:
    """The edits of a suggestion. `root` holds the code; nothing is written.

    Raises `CannotEdit` if a text does not occur exactly once, the result does not parse, or it changes anything else than wanted.
    """
    if not 0 < len(suggestion.replacements) <= MOST_REPLACEMENTS:
        raise CannotEdit(f"A suggestion has 1 to {MOST_REPLACEMENTS} replacements, not {len(suggestion.replacements)}.")
    files = dict(question.files)
    edits = [_replaced(files, each, question.wanted) for each in suggestion.replacements]
    changed = {path: content for path, content in files.items() if content != question.files[path]}
    _check(root, question, changed)
    return Edited(files=changed, edits=tuple(edits))


def _replaced(files: dict[Path, bytes], replacement: Replacement, wanted: Wanted) -> Edit:
    path = Path(replacement.path)
    source = files.get(path)
    if source is None:
        raise CannotEdit(f"{replacement.path} is not one of the files that may change.")
    if max(len(replacement.find), len(replacement.replace)) > LONGEST_REPLACEMENT:
        raise CannotEdit(f"A replacement has at most {LONGEST_REPLACEMENT} characters.")
    old, new = replacement.find.encode(), replacement.replace.encode()
    if not old or source.count(old) != 1:
        raise CannotEdit(
            f"The text to replace occurs {source.count(old) if old else 0} times in {replacement.path}, not once."
        )
    start = source.index(old)
    files[path] = source[:start] + new + source[start + len(old) :]
    return Edit(path=path, start=start, end=start + len(old), old=old, new=new, wanted=wanted, chain=(SUGGESTED,))


def _check(root: Path, question: Question, changed: Mapping[Path, bytes]) -> None:
    """Raise `CannotEdit` unless everything that changes is the wanted value or a part of it, and needed for it."""
    files = {**question.files, **changed}
    try:
        for path, content in changed.items():
            check_frozen_parts(parse(path, question.files[path]), parse(path, content))
        for change in footprint_changes(load_module(root, dict(question.files)), load_module(root, files)):
            _check_change(change, question.wanted)
        check_needed(root, question.files, files)
    except CodeInvalid as error:
        raise CannotEdit(f"The suggestion does not parse: {error}") from error


def _check_change(change: FootprintChange, wanted: Wanted) -> None:
    shown = change.address.removeprefix("?")
    if change.before is None or change.after is None:
        raise CannotEdit(f"The suggestion would also add or remove {shown}.")
    for path in differences(dict(change.before), dict(change.after)):
        name = ".".join(path)
        here = change.address == wanted.address and (
            AttributePath(wanted.attribute).covers(name) or AttributePath(name).covers(wanted.attribute)
        )
        if not here:
            raise CannotEdit(f"The suggestion would also change {shown}.{name}, which is not wanted.")


def check_frozen_parts(before: Document, after: Document) -> None:
    """Raise `CannotEdit` if two versions of a file differ in a part that no suggestion may change."""
    old, new = list(_parts(before)), list(_parts(after))
    if old != new:
        # What was added or removed; otherwise only their order changed.
        named = next((part for part in (*new, *old) if new.count(part) != old.count(part)), ("the order of blocks",))
        raise CannotEdit(f"The suggestion would also change {named[0]} in {before.path}, which is not a value.")


def open_attributes(document: Document) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every attribute of a file that a suggestion may change, with the header of its block and its name."""
    for name, attribute in document.attributes(document.root).items():
        yield (name,), attribute
    for block in document.blocks(document.root):
        header = document.header(block)
        for name, attribute in document.attributes(block).items():
            if _is_open(header[0], name):
                yield (*header, name), attribute


def _parts(document: Document) -> Iterator[tuple[str, ...]]:
    """Where each such part is, and its text."""
    for block in document.blocks(document.root):
        header = document.header(block)
        name = " ".join(header)
        yield name, *header
        if not _has_open_parts(header[0]):
            yield name, document.text(block)
            continue
        for inner_name, attribute in document.attributes(block).items():
            if not _is_open(header[0], inner_name):
                yield f"{inner_name} of {name}", document.text(attribute)
        for inner in document.blocks(block):
            inner_name = document.header(inner)[0]
            if not _is_open(header[0], inner_name, nested=True):
                yield f"{inner_name} of {name}", document.text(inner)
    for node in descendants(document.tree.root_node):
        if node.type == "comment":
            yield "a comment", document.text(node).rstrip()


def _has_open_parts(kind: str) -> bool:
    return kind in ("resource", "module", "locals", "variable")


def _is_open(kind: str, name: str, *, nested: bool = False) -> bool:
    match kind:
        case "resource":
            return name not in META
        case "module":
            return not nested and name not in _MODULE_META
        case "locals":
            return not nested
        case "variable":
            return not nested and name == "default"
        case _:
            return False


def check_needed(root: Path, before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
    """Raise `CannotEdit` if a changed attribute could stay as it was, and every resource had the same attributes.

    `after` holds all files with the changes. Raises `gateway.core.errors.CodeInvalid` for files that do not parse.
    """
    edited = load_module(root, dict(after))
    for path in sorted(path for path in after if after[path] != before[path]):
        for name, content in _one_less(path, before[path], after[path]).items():
            without = load_module(root, {**after, path: content})
            if not any(
                change.before is None
                or change.after is None
                or any(differences(dict(change.before), dict(change.after)))
                for change in footprint_changes(edited, without)
            ):
                raise CannotEdit(f"The suggestion would also change {name} in {path}, which the value does not need.")


def _one_less(path: Path, before: bytes, after: bytes) -> Mapping[str, bytes]:
    """For each attribute that changed or was added, the file without that change."""
    old, new = parse(path, before), parse(path, after)
    texts = {name: old.text(node) for name, node in open_attributes(old)}
    return {
        ".".join(name): after[: node.start_byte] + texts.get(name, "").encode() + after[node.end_byte :]
        for name, node in open_attributes(new)
        if texts.get(name) != new.text(node)
    }
