"""The configuration of one resource type that is made of markers: which attributes and blocks are set, and the value of each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tests.tools.effects_tracing.block_schema import BlockSchema, Nesting
from tests.tools.effects_tracing.forms import token
from tests.tools.effects_tracing.seeds import Seed, seeds
from tests.tools.effects_tracing.slots import ANOTHER_MEMBER, Path, Slot

_SKIPPED: Final = frozenset(
    "id tags_all timeouts region skip_destroy prevent_destroy override_provider".split()  # noqa: SIM905
)
"""Attributes at the top that say nothing about the resource itself."""
_DEEPEST: Final = 5
_CODES_APART: Final = 3
"""How far apart the codes of finite values are in two variants."""


class Configuration:
    """What a resource of one type is declared with. Repairs change it."""

    def __init__(
        self, resource_type: str, schema: BlockSchema, prefer: Iterable[Path] = (), *, variant: int = 1
    ) -> None:
        """`prefer` are paths to keep where only one of several can be set. Finite values follow other codes in another variant."""
        self.resource_type, self.schema = resource_type, schema
        self.slots: dict[Path, Slot] = {}
        self.off: set[Path] = set()
        """What is left out, with all that is below it."""
        self.needed: set[Path] = set()
        """What is required although the schema does not say so."""
        self.counts: dict[Path, int] = {}
        """How often a block stands, if more than once."""
        self.drops: Counter[Path] = Counter()
        """How often a path was left out or brought back by a repair."""
        self.prefer = frozenset(prefer)
        self._changed: tuple[Path, int] | None = None
        self._collect(schema, (), _DEEPEST)
        self._number(_CODES_APART * (variant - 1))
        self._prefer_whole_names()
        self._seed(seeds(variant).get(resource_type, Seed()))

    def is_off(self, path: Path) -> bool:
        """Whether the path, or a block that it is in, is left out."""
        return any(path[:length] in self.off for length in range(1, len(path) + 1))

    def switch_on(self, path: Path) -> None:
        """Set the path, with the blocks that it is in."""
        self.off.difference_update({path[:length] for length in range(1, len(path) + 1)})

    def is_required(self, path: Path) -> bool:
        """Whether the path cannot be left out while the block that it is in is there."""
        if path in self.needed:
            return True
        if path in self.slots:
            return self.slots[path].required
        block = self.schema
        for step in path[:-1]:
            if step not in block.blocks:
                return False
            block = block.blocks[step].block
        nested = block.blocks.get(path[-1])
        return nested is not None and nested.least > 0

    def is_preferred(self, path: Path) -> bool:
        """Whether the path or something below it is to be kept."""
        return any(one[: len(path)] == path for one in self.prefer)

    def drop(self, path: Path) -> bool:
        """Leave the path out, or the closest optional block around it. False if that is not possible or was done before."""
        for length in range(len(path), 0, -1):
            here = path[:length]
            if not self.is_required(here):
                if here in self.off:
                    return False
                self.off.add(here)
                self.drops[here] += 1
                return True
        return False

    def leave_required(self) -> list[Path]:
        """Leave out all that is optional and not seeded. Returns what was left out now, the outer before the inner."""
        seeded = {path for path, slot in self.slots.items() if slot.seed is not None or slot.same}
        kept = {path[:length] for path in seeded for length in range(1, len(path) + 1)}
        tops = sorted({path[:1] for path in self.slots} | {(name,) for name in self.schema.blocks})
        dropped = [top for top in tops if top != ("timeouts",) and not self.is_required(top)]
        dropped = [top for top in dropped if top not in self.off and top not in kept]
        inner = [path for path, slot in self.slots.items() if len(path) > 1 and not slot.required]
        inner += [path[:-1] for path in self.slots if len(path) > 2 and not self.is_required(path[:-1])]
        outer = set(dropped) | kept
        below = [path for path in dict.fromkeys(inner) if path not in self.off | kept and path[:1] not in outer - kept]
        self.off.update(dropped, below)
        return [*dropped, *below]

    def values(self, run: int) -> dict[str, Any]:
        """The configuration in a run, with every attribute and block of the schema; None or [] for what is left out."""
        self._changed = None
        return self._block(self.schema, (), run)

    def values_with(self, changed: Path) -> dict[str, Any]:
        """The configuration of run 0, but for one attribute, which has another value."""
        slot = self.slots[changed]
        runs = (run for run in range(1, 4) if slot.value(run) != slot.value(0))
        self._changed = (changed, next(runs, 0))
        return self._block(self.schema, (), 0)

    def _collect(self, block: BlockSchema, path: Path, depth: int) -> None:
        for name, attribute in block.attributes.items():
            skipped = not path and name in _SKIPPED and not attribute.required
            if attribute.settable and not skipped and (attribute.required or not attribute.avoided):
                self._add((*path, name), attribute.kind, required=attribute.required)
        for name, nested in block.blocks.items():
            if name == "timeouts":
                continue
            here = (*path, name)
            if (depth == 0 and nested.least == 0) or here[-3:-2] == (name,):
                self.off.add(here)
            else:
                self._collect(nested.block, here, depth - 1)

    def _add(self, path: Path, kind: Any, *, required: bool) -> None:
        match kind:
            case "string" | "number" | "bool":
                self.slots[path] = Slot(path=path, kind=kind, container="", required=required)
            case [("list" | "set" | "map") as container, ("string" | "number" | "bool") as member]:
                self.slots[path] = Slot(path=path, kind=member, container=container, required=required)
            case ["list" | "set", ["object", dict() as members, *_]] | ["object", dict() as members, *_]:
                for name, inner in members.items():
                    self._add((*path, name), inner, required=False)
            case _:
                if not required:
                    self.off.add(path)

    def _number(self, first: int) -> None:
        """Number the slots; booleans have their own count, so that their codes stay short."""
        finite = first
        for place, slot in enumerate(self.slots.values(), first):
            slot.number = finite if slot.kind == "bool" else place
            finite += slot.kind == "bool"

    def _prefer_whole_names(self) -> None:
        """Leave out `name_prefix` where there is `name`: a name that the provider completes itself is no marker."""
        for path in self.slots:
            whole = (*path[:-1], path[-1].removesuffix("_prefix"))
            if path[-1].endswith("_prefix") and whole in self.slots and not self.slots[path].required:
                self.off.add(path)

    def _seed(self, seed: Seed) -> None:
        if seed.minimal:
            self.leave_required()
        for name, value in seed.values.items():
            path = tuple(name.split("."))
            self.slots[path].seed = value
            self.switch_on(path)
        for name, other in seed.same.items():
            self.slots[tuple(name.split("."))].same = tuple(other.split("."))
        for name, count in seed.count.items():
            path = tuple(name.split("."))
            if path in self.slots:
                self.slots[path].count = count
            else:
                self.counts[path] = count
            self.switch_on(path)
        self.off.update(tuple(name.split(".")) for name in seed.off)

    def _block(self, block: BlockSchema, path: Path, run: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, attribute in block.attributes.items():
            here = (*path, name)
            made[name] = None if self.is_off(here) else self._value(here, attribute.kind, run)
        for name, nested in block.blocks.items():
            here = (*path, name)
            if name == "timeouts" or (self.is_off(here) and nested.nesting is not Nesting.GROUP):
                made[name] = _no_block(nested.nesting)
                continue
            count = self.counts.get(here, 1)
            members = [self._block(nested.block, here, run + ANOTHER_MEMBER * extra) for extra in range(count)]
            made[name] = _nested(nested.nesting, members, token(here, run))
        return made

    def _value(self, path: Path, kind: Any, run: int) -> Any:
        if path in self.slots:
            changed = self._changed
            return self.slots[path].value(run + changed[1] if changed is not None and changed[0] == path else run)
        if not any(key[: len(path)] == path for key in self.slots):
            return None
        match kind:
            case ["list" | "set", ["object", members, *_]]:
                return [dict(self._members(path, members, run))]
            case ["object", members, *_]:
                return dict(self._members(path, members, run))
        return None

    def _members(self, path: Path, members: dict[str, Any], run: int) -> Iterator[tuple[str, Any]]:
        for name, kind in members.items():
            here = (*path, name)
            yield name, None if self.is_off(here) else self._value(here, kind, run)


def _no_block(nesting: Nesting) -> Any:
    return {Nesting.SINGLE: None, Nesting.MAP: {}}.get(nesting, [])


def _nested(nesting: Nesting, members: list[dict[str, Any]], key: str) -> Any:
    match nesting:
        case Nesting.SINGLE | Nesting.GROUP:
            return members[0]
        case Nesting.MAP:
            return {key: members[0]}
    return members
