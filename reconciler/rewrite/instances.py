"""Adds one instance to a `count` or `for_each`, or removes one, at the place in the code that decides which instances there are.

Every such place is tried, for a removal those first that name the key. Our own evaluator is the judge: exactly the wanted instance must
come or go, and nothing else may change. A new instance is an entry like that of a sibling, whose values are copied; the values that
differ are edited afterwards as any other value.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.address import Address, Key, parse_address
from gateway.terraform.config.module import Module, attributes
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.edited_code import AlsoChanges, EditedCode, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit, key, quoted, to_hcl
from reconciler.rewrite.editors.list_items import append_item, remove_item
from reconciler.rewrite.editors.map_entry import remove_entry
from reconciler.rewrite.editors.splice import Splice, alone_on_lines, indent_at, line_end, newline
from reconciler.rewrite.names import label_of, names_of, shared_beginning
from reconciler.rewrite.trace.sites import ObjectEntry

InstanceSource = tuple[Document, e.Object | e.Tuple | e.LiteralValue]
"""The document and the expression in it: an object, a list, or a plain value."""


def instance_sources(module: Module, document: Document, block: Node) -> list[InstanceSource]:
    """The expressions that the `count` or `for_each` of a block in a module instance consists of, through variables, locals and calls."""
    return list(_Follow().block(module, document, block))


@dataclass(frozen=True, slots=True)
class _Follow:
    seen: set[tuple[int, str]] = field(default_factory=set)

    def block(self, module: Module, document: Document, block: Node) -> Iterator[InstanceSource]:
        attributes = document.attributes(block)
        for name in ("for_each", "count"):
            if name in attributes:
                yield from self.expression(module, document, read_attribute(document, attributes[name]))

    def expression(self, module: Module, document: Document, expression: Expression) -> Iterator[InstanceSource]:
        for part in e.walk(expression):
            match part:
                case e.Object() | e.Tuple() | e.LiteralValue():
                    yield document, part
        for root, name in e.root_references(expression):
            if (id(module), f"{root}.{name}") not in self.seen:
                self.seen.add((id(module), f"{root}.{name}"))
                yield from self.named(module, root, name)

    def named(self, module: Module, root: str, name: str) -> Iterator[InstanceSource]:
        if root == "local" and name in module.source.locals:
            document, attribute = module.source.locals[name]
            yield from self.expression(module, document, read_attribute(document, attribute))
        elif root == "var" and name in module.source.variables:
            yield from self.variable(module, name)
        elif root == "each" and module.parent is not None and module.call is not None:
            yield from self.call(module)

    def variable(self, module: Module, name: str) -> Iterator[InstanceSource]:
        try:
            definition = module.definition(name)
        except Unknown:
            return
        owner = definition.scope.module if isinstance(definition.scope.module, Module) else module
        written = read_attribute(definition.document, definition.attribute)
        yield from self.expression(owner, definition.document, written)
        if definition.kind == "argument" and any(root == "each" for root, _ in e.root_references(written)):
            yield from self.call(module)

    def call(self, module: Module) -> Iterator[InstanceSource]:
        """The sources of the instances of a module."""
        if module.parent is not None and module.call is not None and module.call_document is not None:
            yield from self.block(module.parent, module.call_document, module.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInstance:
    """An instance to add, and the sibling that it is like."""

    sibling: str
    """The sibling's address."""
    key: str | int
    """The key of the sibling, in its own address or that of its module."""
    new: str
    """What stands for the new instance where the sibling's text stands: its key, or a part of its name."""
    old: str
    """The sibling's text."""
    values: tuple[tuple[Json, Json], ...] = ()
    """Plain values in the sibling's entry, each with that of the new instance: they tell it from others, so it would be replaced otherwise."""


def add_instance(code: EditedCode, like: NewInstance, wanted: Wanted, new: frozenset[str] = frozenset()) -> EditedCode:
    """The code with the instance `wanted`, and with no other one but at the addresses `new`. Raises `CannotEdit`."""
    before = code.addresses()
    for document, splice in _additions(code, like):
        try:
            after = code.after(document, splice, wanted, (f"{wanted.address} is one of several, as {like.sibling}",))
            added = after.addresses() - before
            if wanted.address in added and added <= {wanted.address, *new} and before <= after.addresses():
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
        for place in instance_sources(module, document, block):
            try:
                splice = _added(*place, like)
            except CannotEdit:
                continue
            if splice is not None:
                yield place[0], splice


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
        pattern = rf'(?<![\w."-]){re.escape(to_hcl(old))}(?![\w."-])'
        text = re.sub(pattern, to_hcl(new).replace("\\", r"\\"), text)
    return text


_TEMPLATE = re.compile(r"[$%]\{")


def siblings_of(created: Created, live: Mapping[str, Mapping[str, Json]]) -> Iterator[tuple[str, NewInstance]]:
    """The address of the new instance and the sibling that it is like, the likeliest first.

    A sibling's key, or an item that a `count` counts, is part of its name, so the same part of the new name is the new one. What belongs
    to another resource may have no such name; then the key is called as a block would be.
    """
    found = []
    for address, values in live.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
            continue
        if created.parent:
            if created.parent in values.values() and isinstance(parsed.key, str):
                for rank, each in enumerate(_own_keys(values, parsed.key, created.name)):
                    new, like = _named(parsed, parsed.key, each)
                    found.append((-rank, address, (new, replace(like, values=_other_values(values, created)))))
            continue
        for name in names_of(values):
            for new, like in _by_name(parsed, name, created.name, live):
                found.append((len(shared_beginning(created.name, name)), str(parsed), (new, like)))
    for _, _, (new, like) in sorted(found, key=lambda each: (-each[0], each[1])):
        # Nobody gives a key that looks like a template, and an import's address cannot hold every such text.
        if not _TEMPLATE.search(like.new):
            yield str(new), like


def _own_keys(sibling: Mapping[str, Json], key: str, name: str) -> Iterator[str]:
    """The keys that a new instance may have: the part of its name in the place of the sibling's key, else its name as a label."""
    parts = (_same_part(own, key, name) for own in names_of(sibling))
    yield from dict.fromkeys(each for each in (*parts, label_of(name)) if each)


def _other_values(sibling: Mapping[str, Json], created: Created) -> tuple[tuple[Json, Json], ...]:
    """The plain values by which two resources differ, each once."""
    pairs = [
        pair for name, value in created.attributes.items() for pair in _beside_each_other(sibling.get(name), value)
    ]
    plain = (
        (old, new) for old, new in pairs if isinstance(old, str | int | float) and isinstance(new, str | int | float)
    )
    return tuple(dict.fromkeys((old, new) for old, new in plain if old != new and not isinstance(old, bool)))


def _beside_each_other(old: Json, new: Json) -> Iterator[tuple[Json, Json]]:
    """Two values, or the items of two lists that are as long as each other."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        yield from zip(old, new, strict=True)
    else:
        yield old, new


def _named(sibling: Address, key: str, new: str) -> tuple[Address, NewInstance]:
    name = f"port_{new}" if new.isdecimal() else new
    return replace(sibling, key=name), NewInstance(sibling=str(sibling), key=key, old=key, new=name)


def _by_name(
    sibling: Address, name: str, wanted: str, live: Mapping[str, Mapping[str, Json]]
) -> Iterator[tuple[Address, NewInstance]]:
    if isinstance(sibling.key, str) and (new := _same_part(name, sibling.key, wanted)):
        yield replace(sibling, key=new), NewInstance(sibling=str(sibling), key=sibling.key, old=sibling.key, new=new)
    for level, (module, own) in enumerate(sibling.modules):
        if isinstance(own, str) and (new := _same_part(name, own, wanted)):
            modules: list[tuple[str, Key]] = list(sibling.modules)
            modules[level] = (module, new)
            yield (
                replace(sibling, modules=tuple(modules)),
                NewInstance(sibling=str(sibling), key=own, old=own, new=new),
            )
    if isinstance(sibling.key, int) and not sibling.modules:
        yield from _counted(sibling, name, wanted, live)


def _counted(
    sibling: Address, name: str, wanted: str, live: Mapping[str, Mapping[str, Json]]
) -> Iterator[tuple[Address, NewInstance]]:
    """The next index of a `count`, whose item is what follows the beginning that both names share."""
    count = sum(parsed.block == sibling.block for each in live if (parsed := parse_address(each)) is not None)
    start = shared_beginning(wanted, name)
    if start and isinstance(sibling.key, int):
        like = NewInstance(sibling=str(sibling), key=sibling.key, old=name[len(start) :], new=wanted[len(start) :])
        yield replace(sibling, key=count), like


def _same_part(name: str, key: str, wanted: str) -> str:
    """What stands in `wanted` where `key` stands in `name`; empty if the rest differs."""
    before, found, after = name.partition(key)
    same = found and len(wanted) > len(before) + len(after) and wanted.startswith(before) and wanted.endswith(after)
    return wanted[len(before) : len(wanted) - len(after)] if same else ""


_MOST = 300
"""How many places are tried; each is evaluated."""


@dataclass(frozen=True, slots=True)
class _Removal:
    """One entry, item or number that may go."""

    document: Document
    splice: Callable[[], Splice]
    text: str
    """The text of the entry, by which the likely removals are tried first."""
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
    for removals in _removal_sets(places, key):
        try:
            after = code
            for each in removals:
                after = _remove(after, each, wanted)
            removed = before - after.addresses()
            if own <= removed <= gone and after.addresses() <= before:
                refuse_side_effects(code, after, removed)
                return after
            if own <= removed and after.addresses() <= before and len(removed) < len(before):
                there = ", ".join(sorted(removed - gone)[:3])
                why = why or f"the entry at {_at(removals)} also makes {there}, which is there."
        except AlsoChanges as error:
            why = why or f"{error.referring} still refers to its entry at {_at(removals)}."
        except (CannotEdit, CodeInvalid, Unknown):
            continue
    raise CannotEdit(
        f"No single entry of the code makes exactly the instance {key!r} go: {why or f'{_shown(places)}.'}"
    )


def _at(removals: Sequence[_Removal]) -> str:
    return ", ".join(dict.fromkeys(each.document.at(each.at) for each in removals))


def _remove(code: EditedCode, each: _Removal, wanted: Wanted) -> EditedCode:
    chain = (f"{wanted.address} is one of several; its entry is at {each.document.at(each.at)}",)
    # An earlier removal of the same candidate stands further down in the file, so the offsets of this one still hold.
    return code.after(code.document(each.document.path), each.splice(), wanted, chain)


def _removal_sets(places: Sequence[InstanceSource], key: str | int) -> Iterator[tuple[_Removal, ...]]:
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
                yield _Removal(document, _without_entry(document, entry), _text(document, element.key), element.start)
        case e.Tuple(items=items):
            for position in range(len(items)):
                yield _item(document, node, position)
        case e.LiteralValue(value=True):
            yield _Removal(document, lambda: Splice(node.start, node.end, "false"), "", node.start)
        case e.LiteralValue(value=int() as number) if number is not False and number > 0:
            yield _Removal(document, lambda: Splice(node.start, node.end, str(number - 1)), "", node.start)


def _without_entry(document: Document, entry: ObjectEntry) -> Callable[[], Splice]:
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
