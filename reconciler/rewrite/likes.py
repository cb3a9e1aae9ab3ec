"""Finds the siblings that a new resource could be one more instance of, and the address that it would have."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.model.json import Json
from gateway.terraform.address import Address, Key, parse_address
from reconciler.drift.creations import Created
from reconciler.rewrite.more import Like
from reconciler.rewrite.slug import names, shared, slug


def likes(created: Created, live: Mapping[str, Mapping[str, Json]]) -> Iterator[tuple[str, Like]]:
    """The address of the new instance and the sibling that it is like, the likeliest first.

    A sibling's key, or an item that a `count` counts, is part of its name, so the same part of the new name is the new one. What belongs
    to another resource has no name of its own; then the key is called as a block would be.
    """
    found = []
    for address, attributes in live.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
            continue
        if created.parent:
            if created.parent in attributes.values() and isinstance(parsed.key, str):
                found.append((0, address, _named(parsed, parsed.key, slug(created.name))))
            continue
        for name in names(attributes):
            for new, like in _by_name(parsed, name, created.name, live):
                found.append((len(shared(created.name, name)), str(parsed), (new, like)))
    for _, _, (new, like) in sorted(found, key=lambda each: (-each[0], each[1])):
        yield str(new), like


def _named(sibling: Address, key: str, new: str) -> tuple[Address, Like]:
    name = f"port_{new}" if new.isdecimal() else new
    return replace(sibling, key=name), Like(sibling=str(sibling), key=key, old=key, new=name)


def _by_name(
    sibling: Address, name: str, wanted: str, live: Mapping[str, Mapping[str, Json]]
) -> Iterator[tuple[Address, Like]]:
    if isinstance(sibling.key, str) and (new := _same_part(name, sibling.key, wanted)):
        yield replace(sibling, key=new), Like(sibling=str(sibling), key=sibling.key, old=sibling.key, new=new)
    for level, (module, key) in enumerate(sibling.modules):
        if isinstance(key, str) and (new := _same_part(name, key, wanted)):
            modules: list[tuple[str, Key]] = list(sibling.modules)
            modules[level] = (module, new)
            yield (
                replace(sibling, modules=tuple(modules)),
                Like(sibling=str(sibling), key=key, old=key, new=new),
            )
    if isinstance(sibling.key, int) and not sibling.modules:
        yield from _counted(sibling, name, wanted, live)


def _counted(
    sibling: Address, name: str, wanted: str, live: Mapping[str, Mapping[str, Json]]
) -> Iterator[tuple[Address, Like]]:
    """The next index of a `count`, whose item is what follows the beginning that both names share."""
    count = sum(parsed.block == sibling.block for each in live if (parsed := parse_address(each)) is not None)
    start = shared(wanted, name)
    if start and isinstance(sibling.key, int):
        like = Like(sibling=str(sibling), key=sibling.key, old=name[len(start) :], new=wanted[len(start) :])
        yield replace(sibling, key=count), like


def _same_part(name: str, key: str, wanted: str) -> str:
    """What stands in `wanted` where `key` stands in `name`; empty if the rest differs."""
    before, found, after = name.partition(key)
    same = found and len(wanted) > len(before) + len(after) and wanted.startswith(before) and wanted.endswith(after)
    return wanted[len(before) : len(wanted) - len(after)] if same else ""
