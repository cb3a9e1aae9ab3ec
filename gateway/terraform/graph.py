"""The dependency graph of resources, from the dependencies in the state and the references in the code.

Nodes are blocks in their module instance (`module.jobs["a"].aws_sqs_queue.this`), so a `count` of a thousand is one node.
The state lists all ancestors of a resource, direct and indirect; one that is an ancestor of another ancestor is indirect.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from gateway.terraform.address import Address, parse_address
from gateway.terraform.state import Recorded

_MOST_ANCESTORS: Final = 20_000_000
"""Names that are looked at to tell direct from indirect dependencies of a whole stack: a second's work."""


class Graph:
    """The dependants of every address. Built once; results are cached."""

    def __init__(
        self,
        recorded: Iterable[Recorded],
        declared: Iterable[str],
        references: Mapping[str, Iterable[str]],
    ) -> None:
        """`declared` are the addresses of instances in the code, `references` the addresses (of instances or blocks) that each refers to."""
        resources = tuple(recorded)
        self._instances = _by_block([*(resource.address for resource in resources), *declared])
        self._from_state = _StateEdges(resources)
        self._referring: dict[str, set[str]] = {}
        self._referred: dict[str, set[str]] = {}
        for source, targets in references.items():
            for target in targets:
                self._referring.setdefault(_block(target), set()).add(_block(source))
                self._referred.setdefault(_block(source), set()).add(_block(target))
        self._cache: dict[str, tuple[tuple[str, bool], ...]] = {}
        self._needed: dict[str, tuple[str, ...]] = {}

    def dependants(self, address: str) -> tuple[tuple[str, bool], ...]:
        """Everything that depends on the resource at `address`, nearest first, as (address, whether directly)."""
        block = _block(address)
        if block not in self._cache:
            self._cache[block] = tuple(self._walk(block))
        return self._cache[block]

    def dependencies(self, address: str) -> tuple[str, ...]:
        """Everything that the resource at `address` depends on, directly or not, sorted."""
        block = _block(address)
        if block not in self._needed:
            found = {block}
            queue = deque(found)
            while queue:
                current = queue.popleft()
                new = (self._referred.get(current, set()) | self._from_state.ancestors(current)) - found
                found |= new
                queue.extend(new)
            others = (self._instances.get(each, ()) for each in found - {block})
            self._needed[block] = tuple(sorted(instance for instances in others for instance in instances))
        return self._needed[block]

    def needs(self, address: str) -> tuple[str, ...]:
        """What the resource at `address` depends on directly, sorted."""
        block = _block(address)
        found = (self._referred.get(block, set()) | self._from_state.direct_ancestors(block)[0]) - {block}
        return tuple(sorted(instance for each in found for instance in self._instances.get(each, ())))

    @property
    def blocks(self) -> Mapping[str, tuple[str, ...]]:
        """Every block with its instances."""
        return self._instances

    def edges(self) -> Iterable[tuple[str, str]]:
        """Each block with each one that it depends on directly.

        Of a stack whose state lists very many ancestors, what only the state says is left out from some block on: the work has an end.
        """
        left = _MOST_ANCESTORS
        for block in self._instances:
            found = set(self._referred.get(block, ()))
            if left > 0:
                direct, work = self._from_state.direct_ancestors(block)
                left -= work
                found |= direct
            yield from ((block, each) for each in sorted(found) if each in self._instances and each != block)

    def _walk(self, start: str) -> Iterable[tuple[str, bool]]:
        distance = {start: 0}
        queue = deque([start])
        while queue:
            block = queue.popleft()
            for dependant in sorted(self._direct_dependants(block)):
                if dependant not in distance:
                    distance[dependant] = distance[block] + 1
                    queue.append(dependant)
        for dependant in sorted(self._from_state.dependants(start)):
            distance.setdefault(dependant, len(distance) + 1)
        for block, steps in distance.items():
            if block != start:
                for instance in self._instances.get(block, ()):
                    yield instance, steps == 1

    def _direct_dependants(self, block: str) -> set[str]:
        recorded = {other for other in self._from_state.dependants(block) if self._from_state.is_direct(other, block)}
        return recorded | self._referring.get(block, set())


class _StateEdges:
    """The dependencies between blocks that the state records."""

    def __init__(self, recorded: Iterable[Recorded]) -> None:
        blocks = {_block(resource.address): resource.where.block for resource in recorded}
        self._by_bare: dict[str, list[str]] = {}
        for text, block in blocks.items():
            self._by_bare.setdefault(str(block.bare) if block.modules else text, []).append(text)
        self._blocks = blocks
        self._ancestors: dict[str, set[str]] = {}
        self._dependants: dict[str, set[str]] = {}
        for resource in recorded:
            text = _block(resource.address)
            ancestors = self._ancestors.setdefault(text, set())
            for dependency in resource.dependencies:
                ancestors.update(self._targets(resource.where, dependency))
            ancestors.discard(text)
        for text, ancestors in self._ancestors.items():
            for ancestor in ancestors:
                self._dependants.setdefault(ancestor, set()).add(text)

    def dependants(self, block: str) -> set[str]:
        """All blocks that list this one as a dependency, direct or indirect."""
        return self._dependants.get(block, set())

    def ancestors(self, block: str) -> set[str]:
        """All blocks that this one lists as a dependency, direct or indirect."""
        return self._ancestors.get(block, set())

    def direct_ancestors(self, block: str) -> tuple[set[str], int]:
        """Those of its ancestors that are no other one's, and how many names were looked at."""
        ancestors = self._ancestors.get(block, set())
        others = [self._ancestors.get(each, set()) for each in ancestors]
        return ancestors.difference(*others), len(ancestors) + sum(map(len, others))

    def is_direct(self, dependant: str, block: str) -> bool:
        """Whether no other ancestor of the dependant is between the two."""
        ancestors = self._ancestors.get(dependant, set())
        return not any(block in self._ancestors.get(other, ()) for other in ancestors if other != block)

    def _targets(self, where: Address, dependency: str) -> Iterable[str]:
        """The blocks that a dependency refers to. The state writes it without keys, so these are the blocks in the same module instances."""
        target = parse_address(dependency)
        if target is None:
            return ()
        if not target.modules:
            return (dependency,) if dependency in self._blocks else ()
        shared = 0
        for (one, _), (other, _) in zip(where.modules, target.modules, strict=False):
            if one != other:
                break
            shared += 1
        prefix = where.modules[:shared]
        if shared == len(target.modules):
            exact = Address(modules=prefix, resource_type=target.resource_type, name=target.name, data=target.data)
            return (str(exact),) if str(exact) in self._blocks else ()
        candidates = self._by_bare.get(str(target.bare), ())
        return [text for text in candidates if self._blocks[text].modules[:shared] == prefix]


def _block(address: str) -> str:
    parsed = parse_address(address)
    return address if parsed is None or parsed.key is None else str(parsed.block)


def _by_block(addresses: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Sorted instance addresses by block."""
    groups: dict[str, dict[str, None]] = {}
    for address in addresses:
        groups.setdefault(_block(address), {})[address] = None
    return {block: tuple(sorted(group)) for block, group in groups.items()}
