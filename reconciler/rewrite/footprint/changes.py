"""What an edit changes: every block whose footprint differs, found by evaluating only what the edit can reach."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.terraform.config.earlier_version import EarlierVersion, across_edits
from gateway.terraform.config.edit_reach import names_in
from gateway.terraform.config.module import Module
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.footprint.parts import FootprintPart, block_keys, block_type, names_of, parts_of
from reconciler.rewrite.footprint.values import Footprint, Marker

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
    names = names_of(one.document, one.block) & names_of(other.document, other.block)
    old, new = _texts(one.document, one.block), _texts(other.document, other.block)
    return frozenset(name for name in names if old[name] == new[name] and reached.isdisjoint(names_in(new[name])))


def _texts(document: Document, block: Node) -> Mapping[str, bytes]:
    """The text of each name directly in a block; that of several blocks of one type together."""
    found = {
        name: document.source[node.start_byte : node.end_byte] for name, node in document.attributes(block).items()
    }
    for each in document.blocks(block):
        name = block_type(document, each)
        found[name] = found.get(name, b"") + b"\0" + document.source[each.start_byte : each.end_byte]
    return found
