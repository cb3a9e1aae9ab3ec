"""The map of a stack: what depends on what, with resources of a module or a type as one node until somebody opens it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.core.errors import NotFound
from gateway.core.off_loop import off_loop
from gateway.terraform.address import parse_address, split_stack, written_key
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

MOST_NODES: Final = 150
"""Nodes in one map. What does not fit stays in its group, or is left out with a sentence."""
MOST_OPEN: Final = 40
"""Groups that one question names as open."""
_USUAL_NODES: Final = 50
"""Groups are opened by themselves while the map has no more nodes than this."""
_MANY: Final = 30
"""From so many resources in one module on, those of one type are a group."""
_ALIKE: Final = 3
"""So many of a type are worth a group."""
_BYTES_OF_A_BLOCK: Final = 500
_KEPT: Final = 8
MARKS: Final = ("held", "waits", "drifted", "changed")
"""What can be the case with a resource: somebody holds a claim, a call waits for a person, live differs from code, changed in a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapBlock:
    """One block of a stack in its module instance, with all its instances."""

    address: str
    """As the gateway calls it."""
    instances: int
    groups: tuple[str, ...]
    """The groups that it is in, the outermost first."""
    resource_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTree:
    """All blocks of a stack at one revision."""

    blocks: tuple[MapBlock, ...]
    edges: tuple[tuple[int, int], ...]
    """(what depends, what it depends on), by their places in `blocks`."""
    place_of: Mapping[str, int]
    """Of each block by its address in the stack."""


@dataclass(slots=True, kw_only=True)
class StackMaps:
    """Answers with maps. The blocks and edges of a stack are worked out once for each of its revisions."""

    stacks: Stacks
    _trees: dict[tuple[str, str], StackTree] = field(default_factory=dict)

    async def of(
        self,
        stack: str,
        *,
        opened: Sequence[str] | None,
        at: str,
        marked: Mapping[str, Iterable[str]],
    ) -> dict[str, Any]:
        """The map of a stack, of the first one without a name, with these groups open, or as many as fit.

        `at` names a resource whose groups are opened too. `marked` has the addresses of each of `MARKS`. Raises `errors.NotFound`.
        """
        loaded = self.stacks.snapshot()
        wanted = stack or split_stack(at)[0]
        found = next((each for each in loaded.all if wanted in ("", each.name)), None)
        if found is None:
            raise NotFound(f"This gateway has no stack {wanted[:100]!r}." if wanted else "This gateway has no stacks.")
        size = _BYTES_OF_A_BLOCK * (len(found.state.resources) + len(found.code.instances))
        view = await off_loop(size, lambda: self._view(found, opened, at, marked))
        return {"stack": found.name, "stacks": [each.name for each in loaded.all], "revision": found.revision, **view}

    def _view(
        self, stack: Stack, opened: Sequence[str] | None, at: str, marked: Mapping[str, Iterable[str]]
    ) -> dict[str, Any]:
        key = stack.name, stack.revision
        tree = self._trees.get(key)
        if tree is None:
            tree = tree_of(stack)
            for old in list(self._trees)[: len(self._trees) + 1 - _KEPT]:
                self._trees.pop(old, None)
            self._trees[key] = tree
        places = {mark: [_place(stack, tree, each) for each in names] for mark, names in marked.items()}
        known = {mark: [each for each in found if each is not None] for mark, found in places.items()}
        return view_of(tree, opened=opened, at=_place(stack, tree, at) if at else None, marked=known)


def tree_of(stack: Stack) -> StackTree:
    """The blocks and edges of a stack."""
    modules: Counter[str] = Counter()
    types: Counter[tuple[str, str]] = Counter()
    parsed = [(text, parse_address(text), len(instances)) for text, instances in stack.graph.blocks.items()]
    resources = [(text, address, count) for text, address, count in parsed if address is not None and not address.data]
    for _, address, _ in resources:
        modules[address.module] += 1
        types[address.module, address.resource_type] += 1
    blocks = []
    for text, address, count in resources:
        steps = [
            ".".join(f"module.{name}{written_key(key)}" for name, key in address.modules[: depth + 1])
            for depth, _ in enumerate(address.modules)
        ]
        alike = types[address.module, address.resource_type]
        if modules[address.module] > _MANY and alike >= _ALIKE:
            steps.append(f"{address.module}/{address.resource_type}")
        blocks.append(
            MapBlock(
                address=stack.named(text), instances=count, groups=tuple(steps), resource_type=address.resource_type
            )
        )
    place_of = {text: place for place, (text, _, _) in enumerate(resources)}
    edges = tuple(
        (place_of[one], place_of[other]) for one, other in stack.graph.edges() if one in place_of and other in place_of
    )
    return StackTree(blocks=tuple(blocks), edges=edges, place_of=place_of)


def view_of(
    tree: StackTree, *, opened: Sequence[str] | None, at: int | None, marked: Mapping[str, Iterable[int]]
) -> dict[str, Any]:
    """What is shown of a tree: nodes, the edges between them, and which groups are open. `at` and `marked` are places of blocks."""
    sizes, inside = _groups(tree)
    chosen = set(opened[:MOST_OPEN]) & sizes.keys() if opened is not None else _fitting(tree, sizes, inside)
    if at is not None:
        chosen |= set(tree.blocks[at].groups)
    # A group is open only if those around it are.
    shown_in = [next((each for each in block.groups if each not in chosen), block.address) for block in tree.blocks]
    members: dict[str, list[int]] = {}
    for place, name in enumerate(shown_in):
        members.setdefault(name, []).append(place)
    names = sorted(members, key=lambda name: (at is None or at not in members[name], name not in sizes))[:MOST_NODES]
    number = {name: place for place, name in enumerate(names)}
    marks = {mark: set(places) for mark, places in marked.items()}
    edges = Counter(
        (number[shown_in[one]], number[shown_in[other]])
        for one, other in tree.edges
        if shown_in[one] != shown_in[other] and shown_in[one] in number and shown_in[other] in number
    )
    return {
        "nodes": [
            _node(name, [tree.blocks[place] for place in members[name]])
            | {
                "marks": {mark: sum(place in marks.get(mark, ()) for place in members[name]) for mark in MARKS},
                "here": at is not None and at in members[name],
            }
            for name in names
        ],
        "edges": [{"from": one, "to": other, "count": count} for (one, other), count in sorted(edges.items())],
        "open": sorted(each for each in chosen if _visible(each, chosen, inside)),
        "resources": sum(block.instances for block in tree.blocks),
        "left_off": len(members) - len(names),
    }


def _node(name: str, blocks: Sequence[MapBlock]) -> dict[str, Any]:
    if len(blocks) == 1 and blocks[0].address == name:
        return {
            "id": name,
            "kind": "resource",
            "type": blocks[0].resource_type,
            "blocks": 1,
            "instances": blocks[0].instances,
        }
    return {
        "id": name,
        "kind": "type" if "/" in name.rpartition("]")[2] else "module",
        "type": "",
        "blocks": len(blocks),
        "instances": sum(block.instances for block in blocks),
    }


def _groups(tree: StackTree) -> tuple[dict[str, int], dict[str, str]]:
    """How many nodes each group has when it is open, and which group each one is in."""
    children: dict[str, set[str]] = {}
    inside: dict[str, str] = {}
    for block in tree.blocks:
        for place, name in enumerate(block.groups):
            later = block.groups[place + 1] if place + 1 < len(block.groups) else block.address
            children.setdefault(name, set()).add(later)
            inside[name] = block.groups[place - 1] if place else ""
    return {name: len(found) for name, found in children.items()}, inside


def _fitting(tree: StackTree, sizes: Mapping[str, int], inside: Mapping[str, str]) -> set[str]:
    """The groups that are open without being asked for: the smallest first, while the map stays small."""
    count = len({block.groups[0] if block.groups else block.address for block in tree.blocks})
    chosen: set[str] = set()
    for name in sorted(sizes, key=lambda each: (_depth(each, inside), sizes[each])):
        if inside[name] in ("", *chosen) and count + sizes[name] - 1 <= _USUAL_NODES:
            chosen.add(name)
            count += sizes[name] - 1
    return chosen


def _depth(name: str, inside: Mapping[str, str]) -> int:
    depth = 0
    while name := inside.get(name, ""):
        depth += 1
    return depth


def _visible(name: str, chosen: set[str], inside: Mapping[str, str]) -> bool:
    """Whether all groups around it are open."""
    while name := inside.get(name, ""):
        if name not in chosen:
            return False
    return True


def _place(stack: Stack, tree: StackTree, name: str) -> int | None:
    """Where the block is that the gateway calls so, or one of whose instances it does; None if the stack has no such."""
    local = stack.local(name)
    address = parse_address(local)
    return tree.place_of.get(local if address is None else str(address.block))
