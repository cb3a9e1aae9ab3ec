"""Makes one instance of a `count` or `for_each` go: the removal in the code that makes exactly that instance go, and changes nothing else.

Every place that decides which instances there are is tried, those that name the key first. Our own evaluator is the judge.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.list_items import remove_item
from reconciler.rewrite.editors.map_entry import remove_entry
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.instance_sources import InstanceSource, instance_sources
from reconciler.rewrite.trace.sites import ObjectEntry

_MOST = 300
"""How many places are tried; each is evaluated."""


@dataclass(frozen=True, slots=True)
class _Removal:
    """One entry, item or number that may go."""

    document: Document
    splice: Callable[[], Splice]
    text: str
    """What is written there, by which the likely ones are tried first."""
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
    for removals in _candidates(places, key):
        try:
            after = code
            for each in removals:
                after = _remove(after, each, wanted)
            removed = before - after.addresses()
            if own <= removed <= gone and after.addresses() <= before:
                refuse_side_effects(code, after, removed)
                return after
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(f"No single entry of the code makes exactly the instance {key!r} go: {_shown(places)}.")


def _remove(code: EditedCode, each: _Removal, wanted: Wanted) -> EditedCode:
    chain = (f"{wanted.address} is one of several; its entry is at {each.document.at(each.at)}",)
    # An earlier removal of the same candidate stands further down in the file, so the offsets of this one still hold.
    return code.after(code.document(each.document.path), each.splice(), wanted, chain)


def _candidates(places: Sequence[InstanceSource], key: str | int) -> Iterator[tuple[_Removal, ...]]:
    """Single removals, the likeliest first, then the same position of lists that are as long as each other."""
    singles = [each for place in places for each in _removals(*place)]
    singles.sort(key=lambda each: _distance(each.text, str(key)))
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


def _removals(document: Document, node: e.Object | e.Tuple | e.LiteralValue) -> Iterator[_Removal]:
    match node:
        case e.Object(elements=elements):
            for element in elements:
                entry = ObjectEntry(element, node)
                yield _Removal(document, _entry(document, entry), _text(document, element.key), element.start)
        case e.Tuple(items=items):
            for position in range(len(items)):
                yield _item(document, node, position)
        case e.LiteralValue(value=True):
            yield _Removal(document, lambda: Splice(node.start, node.end, "false"), "", node.start)
        case e.LiteralValue(value=int() as number) if number is not False and number > 0:
            yield _Removal(document, lambda: Splice(node.start, node.end, str(number - 1)), "", node.start)


def _entry(document: Document, entry: ObjectEntry) -> Callable[[], Splice]:
    return lambda: remove_entry(document, entry, with_comments=True)


def _item(document: Document, node: e.Tuple, position: int) -> _Removal:
    at = node.items[position]
    return _Removal(document, lambda: remove_item(document, node, position), _text(document, at), at.start)


def _text(document: Document, node: e.Expression) -> str:
    return document.source[node.start : node.end].decode().strip('"')


def _distance(text: str, key: str) -> int:
    if text == key:
        return 0
    return 1 if text and (text in key or key in text) else 2


def _shown(places: Sequence[InstanceSource]) -> str:
    found = list(
        dict.fromkeys(document.at(node.start) for document, node in places if not isinstance(node, e.LiteralValue))
    )
    return f"tried {', '.join(found[:5])}" if found else "what decides about it is not written in the code"
