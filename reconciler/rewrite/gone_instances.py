"""Removes one instance of a `count` or `for_each`, at the place in the code or in a data file that decides which instances there are.

Every such place is tried, those first that name the key. Our own evaluator is the judge: exactly the wanted instance must go, and
nothing else may change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import AlsoChanges, EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.list_items import remove_item
from reconciler.rewrite.editors.map_entry import remove_entry
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.instance_sources import InstanceSource, instance_sources, literals, plain_text
from reconciler.rewrite.switches import is_in_module, place_of, sites_of_instance
from reconciler.rewrite.trace.sites import ObjectEntry

if TYPE_CHECKING:
    from reconciler.rewrite.data_entries import DataFile

_MOST = 300
"""How many places are tried; each is evaluated."""


@dataclass(frozen=True, slots=True)
class Removal:
    """One entry, item or number that may go."""

    document: Document
    splice: Callable[[], Splice]
    key: str
    """The key of the entry, or the text of the item; empty if it has none."""
    texts: frozenset[str]
    """Its plain values."""
    at: int


def remove_instance(
    code: EditedCode,
    module: Module,
    block: tuple[Document, Node],
    key: str | int,
    *,
    own: frozenset[str],
    gone: frozenset[str],
    wanted: Wanted,
) -> EditedCode:
    """The code without one instance of a block: `own` are its addresses, `gone` all that may go with it. Raises `CannotEdit`."""
    places = instance_sources(module, *block)
    before = code.addresses()
    why = ""
    for removals in _candidates(code, module, block, key, wanted):
        try:
            after = code
            for each in removals:
                after = removed(after, each, wanted)
            lost = before - after.addresses()
            if own <= lost <= gone and after.addresses() <= before:
                refuse_side_effects(code, after, lost)
                return after
            if own <= lost and after.addresses() <= before and len(lost) < len(before):
                there = ", ".join(sorted(lost - gone)[:3])
                why = why or f"the entry at {_at(removals)} also makes {there}, which is there."
        except AlsoChanges as error:
            why = why or f"{error.referring} still refers to its entry at {_at(removals)}."
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(
        f"No single entry of the code makes exactly the instance {key!r} go: {why or f'{_shown(places)}.'}"
    )


def _candidates(
    code: EditedCode, module: Module, block: tuple[Document, Node], key: str | int, wanted: Wanted
) -> Iterator[tuple[Removal, ...]]:
    """What may go or be switched off for an instance to go: first what the root says, since all callers share what a module says by itself."""
    sets = list(removal_sets(instance_sources(module, *block), key, frozenset(plain_texts(wanted.before))))
    inside = [each for each in sets if any(is_in_module(code.module, removal.document.path) for removal in each)]
    outside = [each for each in sets if each not in inside]
    # A value that stands alone, such as a default, decides about more than what an entry says of this instance.
    alone = [each for each in outside if not any(removal.key or removal.texts for removal in each)]
    yield from (each for each in outside if each not in alone)
    decided = list(_decided(code, module, block, key))
    yield from ((each,) for each in decided if not is_in_module(code.module, each.document.path))
    yield from alone
    yield from inside
    yield from ((each,) for each in decided if is_in_module(code.module, each.document.path))


def _decided(code: EditedCode, module: Module, block: tuple[Document, Node], key: str | int) -> Iterator[Removal]:
    """What decides that there is the instance, and may say that there is none: a switch, a condition, a map without its entry."""
    for site, splice in sites_of_instance(code, module, *block, key, made=False):
        yield Removal(site.document, splice, "", frozenset(), place_of(site))


def _at(removals: Sequence[Removal]) -> str:
    return ", ".join(dict.fromkeys(each.document.at(each.at) for each in removals))


def removed(code: EditedCode, each: Removal, wanted: Wanted) -> EditedCode:
    """The code without an entry. Raises `CannotEdit`, `CodeInvalid`."""
    chain = (f"{wanted.address} is one of several; its entry is at {each.document.at(each.at)}",)
    # An earlier removal of the same candidate stands further down in the file, so the offsets of this one still hold.
    is_code = not each.document.is_data and not any(each.document.around)
    document = code.document(each.document.path) if is_code else each.document
    return code.after(document, each.splice(), wanted, chain)


def removal_sets(
    places: Sequence[InstanceSource], key: str | int, had: frozenset[str]
) -> Iterator[tuple[Removal, ...]]:
    """Single removals, the likeliest first, then the same position of lists that are as long as each other."""
    singles = [each for place in places for each in _removals(*place)]
    singles.sort(key=lambda each: _distance(each, str(key), had))
    yield from ((each,) for each in singles[:_MOST])
    tuples = [(document, node) for document, node in places if isinstance(node, e.Tuple) and node.items]
    for length in sorted({len(node.items) for _, node in tuples}):
        together = [(document, node) for document, node in tuples if len(node.items) == length]
        if len(together) > 1 and len({document.path for document, _ in together}) in {1, len(together)}:
            for position in range(length):
                yield tuple(_item(document, node, position) for document, node in sorted(together, key=_from_the_end))


def _from_the_end(place: tuple[Document, e.Tuple]) -> int:
    """Later places of a file first, so that the offsets of the others stay."""
    return -place[1].start


def _removals(document: Document, node: "e.Object | e.Tuple | e.LiteralValue | DataFile") -> Iterator[Removal]:
    match node:
        case e.Object(elements=elements):
            for element in elements:
                entry = ObjectEntry(element, node)
                texts = frozenset(literals(element.value))
                name = _text(document, element.key)
                yield Removal(document, _without_entry(document, entry), name, texts, element.start)
        case e.Tuple(items=items):
            for position in range(len(items)):
                yield _item(document, node, position)
        case e.LiteralValue(value=True):
            yield Removal(document, lambda: Splice(node.start, node.end, "false"), "", frozenset(), node.start)
        case e.LiteralValue(value=int() as number) if number is not False and number > 0:
            yield Removal(document, lambda: Splice(node.start, node.end, str(number - 1)), "", frozenset(), node.start)
        case e.LiteralValue():
            return
        case _:
            for row in node.entries():
                yield Removal(document, row.removed, row.key, frozenset(row.texts), row.at)


def _without_entry(document: Document, entry: ObjectEntry) -> Callable[[], Splice]:
    return lambda: remove_entry(document, entry, with_comments=True)


def _item(document: Document, node: e.Tuple, position: int) -> Removal:
    at = node.items[position]
    literal = e.bare(at)
    name = _text(document, at) if isinstance(literal, e.LiteralValue) else ""
    texts = frozenset(literals(at))
    return Removal(document, lambda: remove_item(document, node, position), name, texts, at.start)


def _text(document: Document, node: e.Expression) -> str:
    return document.source[node.start : node.end].decode().strip('"')


def plain_texts(value: Json) -> Iterator[str]:
    """The plain values that something had, as text."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from plain_texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from plain_texts(each)
    elif shown := plain_text(value):
        yield shown


def _distance(each: Removal, key: str, had: frozenset[str]) -> tuple[int, int]:
    """How unlikely it is that an entry makes an instance: by its key, then by how much of the key its values are, and how many of them it had."""
    if key in (each.key, *(() if each.key else each.texts)):
        return 0, 0
    shared = sum(len(text) for text in each.texts if text and text in key) + len(each.texts & had)
    name = each.key
    return (1 if (name and (name in key or key in name)) or shared else 2), -shared


def _shown(places: Sequence[InstanceSource]) -> str:
    found = list(
        dict.fromkeys(
            document.at(node.start) if isinstance(node, e.Object | e.Tuple) else str(document.path)
            for document, node in places
            if not isinstance(node, e.LiteralValue)
        )
    )
    return f"tried {', '.join(found[:5])}" if found else "what decides about it is not written in the code"
