"""Finds every block whose footprint an edit changes, and evaluates only blocks that the edit can reach.

The blocks are those whose change would show in a plan: resource instances, data, providers, remote modules, override files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.terraform.config.earlier_version import EarlierVersion, across_edits
from gateway.terraform.config.edit_reach import is_part_of_another, names_in
from gateway.terraform.config.module import META, Module, expand
from gateway.terraform.config.source import Declared, Overriding, block_type, names_in_block
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.footprint.values import WITHOUT_VALUES, Footprint, Marker

_NOT_ATTRIBUTES = frozenset({"provider", "provisioner", "connection"})
"""Blocks and arguments of a resource that are not attributes, but that change a plan or an apply."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FootprintPart:
    """A block with a footprint of its own."""

    address: str
    """The address of an instance; for instances with unknown keys, and blocks other than resources, it begins with `?`."""
    layers: tuple[Overriding, ...]
    """The block, and the blocks of override files that change it, each with the names that it sets for good; the block itself is the last."""
    scope: EvaluationScope
    without: frozenset[str]
    """The names in it to leave out."""
    keys: tuple[str, ...]
    """The definitions that it consists of; for an instance, without the one of which instances there are."""
    module: Module

    def footprint(self, marker: Marker, unreached: frozenset[str] = frozenset()) -> dict[str, Footprint]:
        """The footprint of the block, without the names in it that an edit cannot reach."""
        without = self.without | unreached
        return {
            name: value
            for (document, block), names in self.layers
            for name, value in marker.body(
                document, block, self.scope, without | (names_in_block(document, block) - names)
            ).items()
        }

    @property
    def texts(self) -> Mapping[str, bytes]:
        """The text of each name directly in the block; that of several blocks of one type together."""
        found: dict[str, bytes] = {}
        for (document, block), names in self.layers:
            for name, node in document.attributes(block).items():
                if name in names:
                    found[name] = document.source[node.start_byte : node.end_byte]
            for each in document.blocks(block):
                if (name := block_type(document, each)) in names:
                    written = document.source[each.start_byte : each.end_byte]
                    found[name] = found.get(name, b"") + b"\0" + written
        return found

    @property
    def block(self) -> Node:
        """The block itself."""
        return self.layers[-1][0][1]


def block_keys(module: Module) -> Iterator[tuple[str, ...]]:
    """The keys (see `Definitions`) of each block of a module, in the order of the files. Nothing is evaluated."""
    source = module.source
    yield from ((f"body.{name}", f"keys.{name}") for name in source.resources)
    yield from ((f"data.{name}",) for name in source.data)
    yield from ((f"provider.{number}",) for number, _ in enumerate(source.providers))
    yield from ((f"body.module.{name}", f"keys.module.{name}") for name in source.calls)
    for number, document in enumerate(source.overrides):
        blocks = enumerate(document.blocks(document.root))
        own = (order for order, block in blocks if not is_part_of_another(source, document, block))
        yield from ((f"override.{number}.{order}",) for order in own)


def parts_of(module: Module, keys: tuple[str, ...]) -> Iterator[FootprintPart]:
    """The block of these keys as parts: each instance of a resource, then the block itself; none if the module has no such block."""
    kind, _, name = keys[0].partition(".")
    source = module.source
    match kind:
        case "body" if name.startswith("module."):
            if (call := name.removeprefix("module.")) in source.calls and not _is_called(module, call):
                yield _whole(module, keys, name, source.calls[call])
        case "body" if name in source.resources:
            yield from _resource(module, keys, name)
        case "data" if name in source.data:
            yield _whole(module, keys, f"data.{name}", source.data[name])
        case "provider" if int(name) < len(source.providers):
            yield _whole(module, keys, f"provider {name}", source.providers[int(name)])
        case "override":
            number, order = (int(each) for each in name.split("."))
            document = source.overrides[number] if number < len(source.overrides) else None
            blocks = () if document is None else document.blocks(document.root)
            if document is not None and order < len(blocks) and not is_part_of_another(source, document, blocks[order]):
                yield _whole(module, keys, f"override {name}", (document, blocks[order]))


def _resource(module: Module, keys: tuple[str, ...], name: str) -> Iterator[FootprintPart]:
    """Each instance, with its attributes; then what else the block says, which is all of it if the instances are not known."""
    declared = module.source.resources[name]
    layers = tuple(module.source.layers(declared))
    for instance in module.instances_of(name):
        yield FootprintPart(
            address=instance.address,
            layers=layers,
            scope=instance.scope,
            without=META,
            keys=keys[:1],
            module=module,
        )
    without = frozenset[str]().union(*(names for _, names in layers)) - _NOT_ATTRIBUTES
    expanded = _is_expanded(module, *declared)
    yield _whole(module, keys, name, declared, without if expanded else WITHOUT_VALUES)


def _whole(
    module: Module, keys: tuple[str, ...], name: str, block: Declared, without: frozenset[str] = WITHOUT_VALUES
) -> FootprintPart:
    """A block as one part."""
    prefix = f"{module.address}." if module.address else ""
    return FootprintPart(
        address=f"?{prefix}{name}",
        layers=tuple(module.source.layers(block)),
        scope=module.scope,
        without=without,
        keys=keys,
        module=module,
    )


def _is_called(module: Module, name: str) -> bool:
    """Whether the called module is part of this code, with known instances: then its own blocks tell what an edit changes."""
    return module.source.called_directory(name) in module.sources and _is_expanded(module, *module.source.calls[name])


def _is_expanded(module: Module, document: Document, block: Node) -> bool:
    """Whether the instances of a resource or module block are known."""
    try:
        expand(module, document, block)
    except Unknown:
        return False
    return True


_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FootprintChange:
    """The footprint of one block before and after an edit, of both without what the edit cannot reach; None where the code has no such block."""

    address: str
    """The address of an instance; for instances with unknown keys, and blocks other than resources, it begins with `?`."""
    before: Mapping[str, Footprint] | None
    after: Mapping[str, Footprint] | None


def footprint_changes(
    before: Module, after: Module, edits: "Sequence[EarlierVersion | None] | None" = None
) -> Iterator[FootprintChange]:
    """Every block whose footprint differs between two versions of the code, and some whose footprint does not.

    If `after` was made by `module_after_edit`, only what the edit can reach is evaluated, one by one as the caller asks. `edits` are what
    each edit between the versions carried over, if there is not just the last one; None in it: everything may have changed.
    """
    reach = after.carried if edits is None else across_edits(edits)
    earlier = {module.address: module for module in before.modules()}
    kept: set[str] = set()
    markers = Marker(), Marker()
    for module in after.modules():
        old = earlier.pop(module.address, None)
        if old is not None and reach is not None and _is_same_call(old, module, kept, reach):
            kept.add(module.address)
            yield from _Versions(old, module, reach, markers).changes()
        else:
            yield from _Versions(old, module, None, markers).changes()
    for old in earlier.values():
        yield from _Versions(old, None, None, markers).changes()


def _is_same_call(before: Module, after: Module, kept: set[str], reach: EarlierVersion) -> bool:
    """Whether a module instance differs only by what the edits can reach by name, and so do all above it."""
    above = after.parent is None or after.parent.address in kept
    return above and after.carried is not None and reach.same_scope(before.call_scope, after.call_scope)


@dataclass(frozen=True, slots=True)
class _Versions:
    """One module instance before and after the edits. Without `reach` they may have changed everything."""

    before: Module | None
    after: Module | None
    reach: EarlierVersion | None
    markers: tuple[Marker, Marker]
    unreached: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    """Cache of the names that the edits cannot reach, by the ids of the block's nodes: all instances of a block share them."""

    def changes(self) -> Iterator[FootprintChange]:
        """The changes, block by block."""
        keys = dict.fromkeys(each for module in (self.after, self.before) if module for each in self._reached(module))
        for each in keys:
            yield from self._block(each)

    def _reached(self, module: Module) -> Iterator[tuple[str, ...]]:
        if self.reach is None:
            yield from block_keys(module)
        elif outdated := self.reach.outdated.get(module.address):
            yield from (keys for keys in block_keys(module) if not outdated.isdisjoint(keys))

    def _block(self, keys: tuple[str, ...]) -> Iterator[FootprintChange]:
        old, new = (
            {} if module is None else {part.address: part for part in parts_of(module, keys)}
            for module in (self.before, self.after)
        )
        for address in (*new, *(each for each in old if each not in new)):
            one, other = old.get(address), new.get(address)
            unreached = _NOTHING if one is None or other is None else self._unreached(one, other)
            if unreached is not None:
                yield FootprintChange(
                    address=address,
                    before=None if one is None else one.footprint(self.markers[0], unreached),
                    after=None if other is None else other.footprint(self.markers[1], unreached),
                )

    def _unreached(self, one: FootprintPart, other: FootprintPart) -> frozenset[str] | None:
        """The names in a block that the edits cannot reach; None if they reach nothing in it."""
        if self.reach is None or one.without != other.without or not self.reach.same_scope(one.scope, other.scope):
            return _NOTHING
        if not self.reach.is_outdated(other.module.address, *other.keys):
            return None  # the edits changed only which instances there are
        found = self.unreached.get((one.block.id, other.block.id))
        if found is None:
            found = _unreached_names(one, other, self.reach.reached_names(other.module.address))
            self.unreached[one.block.id, other.block.id] = found
        return found


def _unreached_names(one: FootprintPart, other: FootprintPart, reached: frozenset[str]) -> frozenset[str]:
    """The names in both versions of a block whose text is the same and names nothing that the edits may have changed."""
    old, new = one.texts, other.texts
    names = old.keys() & new.keys()
    return frozenset(name for name in names if old[name] == new[name] and reached.isdisjoint(names_in(new[name])))
