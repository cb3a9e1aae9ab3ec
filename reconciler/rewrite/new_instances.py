"""Adds one instance to a `count` or `for_each`, at the place in the code or in a data file that decides which instances there are.

Every such place is tried. Our own evaluator is the judge: exactly the wanted instance must come, and nothing else may change. A new
instance is an entry like that of a sibling, whose values are copied; the values that differ are edited afterwards as any other value.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.address import Address, parse_address
from gateway.terraform.config.module import Module, attributes
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit, key, quoted, to_hcl
from reconciler.rewrite.editors.list_items import append_item
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.instance_sources import instance_sources, literals, plain_text
from reconciler.rewrite.new_files import new_files
from reconciler.rewrite.siblings import NewInstance, part_of

if TYPE_CHECKING:
    from reconciler.rewrite.data_entries import DataEntry, DataFile


def add_instance(
    code: EditedCode, like: NewInstance, wanted: Wanted, new: frozenset[str] | None = frozenset()
) -> EditedCode:
    """The code with the instance `wanted`, and with no other one but at the addresses `new` (None: any). Raises `CannotEdit`."""
    before = code.addresses()
    for document, splice in chain(
        _additions(code, like), _alike(code, like), _by_parts(code, like), _elsewhere(code, like), _of_files(code, like)
    ):
        try:
            after = code.after(document, splice, wanted, (f"{wanted.address} is one of several, as {like.sibling}",))
            added = after.addresses() - before
            allowed = new is None or added <= {wanted.address, *new}
            if wanted.address in added and allowed and before <= after.addresses():
                _refuse_unknown(after, like, wanted)
                refuse_side_effects(code, after, added)
                return after
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(f"No single entry like that of {like.sibling} gives {wanted.address}.")


def _refuse_unknown(code: EditedCode, like: NewInstance, wanted: Wanted) -> None:
    """Raise `CannotEdit` if the sibling has a known attribute that the new instance has not, e.g. from a second list."""
    old, new = code.module.instance(like.sibling), code.module.instance(wanted.address)
    if old is None or new is None or attributes(old).keys() - attributes(new).keys():
        raise CannotEdit("The new instance would lack an attribute that its sibling has.")


def _additions(code: EditedCode, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    for module, document, block in _levels(code, like.sibling):
        for place, node in instance_sources(module, document, block):
            if not isinstance(node, e.Object | e.Tuple | e.LiteralValue):
                yield from _entries(place, node, like)
                continue
            try:
                splice = _added(place, node, like)
            except CannotEdit:
                continue
            if splice is not None:
                yield place, splice


def _entries(document: Document, file: "DataFile", like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """A further entry of a data file, for each that has the sibling's text as its key or as one of its values."""
    for entry in file.entries():
        if like.old and like.old in ((entry.key,) if entry.key else entry.texts):
            with contextlib.suppress(CannotEdit):
                yield document, entry.copied(like.new, ((like.old, like.new), *like.values))


def new_addresses(code: EditedCode, like: NewInstance, wanted: Wanted) -> Iterator[tuple[str, frozenset[str]]]:
    """The address that one more entry with the new values gives the sibling's block, and all that the entry makes, the likeliest first.

    The entry need not have the sibling's key: its own may be made of several values, or be its place in a list.
    """
    before, sibling = code.addresses(), parse_address(like.sibling)
    for document, splice in chain(_alike(code, like), _elsewhere(code, like), _of_files(code, like)):
        try:
            after = code.after(document, splice, wanted).addresses()
        except (CannotEdit, CodeInvalid, Unknown):
            continue
        own = [each for each in after - before if sibling is not None and _is_of_block(each, sibling)]
        if before <= after and len(own) == 1:
            yield own[0], after - before


def _is_of_block(address: str, sibling: Address) -> bool:
    parsed = parse_address(address)
    return parsed is not None and [(parsed.resource_type, parsed.name), *(name for name, _ in parsed.modules)] == [
        (sibling.resource_type, sibling.name),
        *(name for name, _ in sibling.modules),
    ]


_MOST_ALIKE = 20
"""How many entries are written once more, those with the most values of the sibling first."""


def _alike(code: EditedCode, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """One more entry with the new values, for each entry that has values of the sibling.

    Those come first for which no key has to be found, then those with the most values.
    """
    found: list[tuple[tuple[bool, int], Document, Callable[[], Splice]]] = []
    for module, document, block in _levels(code, like.sibling):
        for place, node in instance_sources(module, document, block):
            found += ((rank, place, copy) for rank, copy in _copies(place, node, like))
    for _, document, copy in sorted(found, key=lambda each: each[0])[:_MOST_ALIKE]:
        with contextlib.suppress(CannotEdit):
            yield document, copy()


def _copies(
    document: Document, node: "e.Object | e.Tuple | e.LiteralValue | DataFile", like: NewInstance
) -> Iterator[tuple[tuple[bool, int], Callable[[], Splice]]]:
    """Each entry that has values of the sibling, with its rank and the copy of it."""
    olds = {plain_text(old) for old, new in like.values if new is not None}
    for is_keyed, texts, copy in _entries_of(document, node):
        parts = tuple(_parts(like, texts - olds))
        score = len(olds & texts) + len(parts)
        whole = replace(like, values=(*like.values, *parts))
        if score and is_keyed:
            yield (True, -score), partial(copy, whole)
        elif score:
            yield from (((False, rank - score), partial(copy, named)) for rank, named in _named(whole, texts))


def _parts(like: NewInstance, texts: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The texts of an entry that are parts of values of the sibling, each with the part of the new value in its place."""
    pairs = [(old, new) for old, new in like.values if isinstance(old, str) and isinstance(new, str)]
    for text in sorted(each for each in texts if len(each) > 1):
        part = next((part for old, new in pairs if (part := part_of(text, old, new)) and part != text), "")
        if part:
            yield text, part


def _entries_of(
    document: Document, node: "e.Object | e.Tuple | e.LiteralValue | DataFile"
) -> Iterator[tuple[bool, frozenset[str], Callable[[NewInstance], Splice]]]:
    """The entries of a collection: whether each has a key, its plain values, and what makes a copy of it."""
    match node:
        case e.Object(elements=elements):
            for element in elements:
                yield True, frozenset(literals(element.value)), partial(_entry, document, node, element)
        case e.Tuple(items=items):
            for item in items:
                yield False, frozenset(literals(item)), partial(_further_item, document, node, item)
        case e.LiteralValue():
            return
        case _:
            yield from ((bool(row.key), frozenset(row.texts), partial(_further_row, row)) for row in node.entries())


def _further_row(row: "DataEntry", like: NewInstance) -> Splice:
    return row.copied(like.new, _pairs_for(row.key, like))


def _named(like: NewInstance, texts: frozenset[str]) -> Iterator[tuple[int, NewInstance]]:
    """The new instance, and with another name in place of each text of an entry that is a part of the sibling's key."""
    yield 0, like
    olds = {plain_text(old) for old, _ in like.values}
    parts = sorted(text for text in texts - olds if len(text) > 1 and text in like.old and text != like.old)
    for text in parts[:_MOST_NAMES]:
        yield 1, replace(like, values=((text, like.new), *like.values))


_MOST_NAMES = 3


def _pairs_for(key: str, like: NewInstance) -> tuple[tuple[Json, Json], ...]:
    """The values of a further entry; of one without a key, the sibling's key may be one of them."""
    return like.values if key else ((like.old, like.new), *like.values)


def _further_item(document: Document, holder: e.Tuple, item: e.Expression, like: NewInstance) -> Splice:
    text = document.source[item.start : item.end].decode()
    return append_item(document, holder, _with_values(text, replace(like, values=_pairs_for("", like))))


def _levels(code: EditedCode, address: str) -> Iterator[tuple[Module, Document, Node]]:
    """The block of the sibling, then the calls of the modules that it is in, from the inside."""
    instance = code.module.instance(address)
    if instance is None:
        return
    yield instance.module, instance.document, instance.block
    module = instance.module
    while module.parent is not None and module.call is not None and module.call_document is not None:
        yield module.parent, module.call_document, module.call
        module = module.parent


def _by_parts(code: EditedCode, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """Additions where the key is made of several texts: a further entry has the part of the new key that tells it from the sibling's."""
    texts = {
        text
        for module, document, block in _levels(code, like.sibling)
        for place, node in instance_sources(module, document, block)
        for text in _names_in(place, node)
        if len(text) > 1 and text != like.old and text in like.old
    }
    for text in sorted(texts, key=lambda each: (-len(each), each))[:_MOST_NAMES]:
        if part := part_of(text, like.old, like.new):
            yield from _additions(code, replace(like, old=text, new=part))


def _names_in(document: Document, node: "e.Object | e.Tuple | e.LiteralValue | DataFile") -> Iterator[str]:
    """The keys of the entries of a collection, and the values of those without one."""
    match node:
        case e.Object(elements=elements):
            for element in elements:
                yield document.source[element.key.start : element.key.end].decode().strip('"')
        case e.Tuple(items=items):
            for item in items:
                yield from literals(item)
        case e.LiteralValue():
            return
        case _:
            for row in node.entries():
                yield from (row.key,) if row.key else row.texts


def _elsewhere(code: EditedCode, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """One more entry in another branch of the data files than the sibling's."""
    from reconciler.rewrite.entries_elsewhere import entries_elsewhere  # noqa: PLC0415  few stacks have data files

    for module in _modules(code, like):
        if module.source.templates:
            yield from entries_elsewhere(module, like)


def _of_files(code: EditedCode, like: NewInstance) -> Iterator[tuple[Document, Splice]]:
    """One more file, where files make the instances of the sibling's block or of a module around it."""
    for module in _modules(code, like):
        yield from new_files(module, like)


def _modules(code: EditedCode, like: NewInstance) -> Iterable[Module]:
    """The modules of the sibling's block and of the calls around it, one for each directory."""
    return {module.source.directory: module for module, _, _ in _levels(code, like.sibling)}.values()


def _added(document: Document, node: e.Object | e.Tuple | e.LiteralValue, like: NewInstance) -> Splice | None:
    match node:
        case e.Object(elements=elements):
            same = next((each for each in elements if _is(each.key, like.old)), None)
            return None if same is None else _entry(document, node, same, like)
        case e.Tuple(items=items):
            same_item = next((each for each in items if _is(each, like.old) or _holds(each, like.old)), None)
            if same_item is None:
                return None
            text = document.source[same_item.start : same_item.end].decode()
            return append_item(document, node, text.replace(quoted(like.old), quoted(like.new), 1))
        case e.LiteralValue(value=value) if isinstance(like.key, int) and re.fullmatch(r"\d+", str(value)):
            return Splice(node.start, node.end, str(int(str(value)) + 1))
    return None


def _is(node: e.Expression, text: str) -> bool:
    literal = e.bare(node)
    return isinstance(literal, e.LiteralValue) and literal.value == text


def _holds(node: e.Expression, text: str) -> bool:
    inner = e.bare(node)
    return isinstance(inner, e.Object) and any(_is(each.value, text) for each in inner.elements)


def _entry(document: Document, holder: e.Object, same: e.Element, like: NewInstance) -> Splice:
    """A new last entry with the value of another one, but for what tells the two apart."""
    last, name = holder.elements[-1], like.new
    value = _with_values(document.source[same.value.start : same.value.end].decode(), like)
    between = document.source[same.key.end : same.value.start].decode().strip() or "="
    written = key(name, always_quoted=document.source[same.key.start : same.key.start + 1] == b'"')
    if b"\n" not in document.source[holder.start : holder.elements[0].start]:
        return Splice(last.end, last.end, f", {written} {between} {value}")
    if not alone_on_lines(document, last.start, last.end):
        raise CannotEdit("The map is not written with one entry on a line.")
    comma = "," if document.source[last.end :].lstrip(b" \t").startswith(b",") else ""
    end = line_end(document, last.end)
    return Splice(end, end, f"{newline(document)}{indent_at(document, last.start)}{written} {between} {value}{comma}")


def _with_values(text: str, like: NewInstance) -> str:
    for old, new in like.values:
        if new is None:
            continue
        pattern = rf'(?<![\w."-]){re.escape(to_hcl(old))}(?![\w."-])'
        text = re.sub(pattern, to_hcl(new).replace("\\", r"\\"), text)
    return text
