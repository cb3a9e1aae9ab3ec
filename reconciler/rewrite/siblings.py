"""Finds the instances that a new resource is like: the siblings in whose form it is written, and what tells it from them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from gateway.core.model.json import Json
from gateway.terraform.address import Address, Key, parse_address
from reconciler.changes.event_creations import Created
from reconciler.rewrite.names import label_of, names_of, shared_beginning

Live: TypeAlias = Mapping[str, Mapping[str, Json]]
"""Attributes of the stack's resources by address."""


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


_TEMPLATE = re.compile(r"[$%]\{")


def siblings_of(created: Created, live: Live, taken: Collection[str] = ()) -> Iterator[tuple[str, NewInstance]]:
    """The address of the new instance and the sibling that it is like, the likeliest first.

    A sibling's key, or an item that a `count` counts, is part of its name, so the same part of the new name is the new one. What belongs
    to another resource may have no such name; then the key is called as a block would be. `taken` are addresses of other new ones.
    """
    found = []
    for address, values in live.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
            continue
        if created.parent:
            if created.parent in values.values() and isinstance(parsed.key, str):
                for rank, each in enumerate(_own_keys(values, parsed.key, created)):
                    new, like = _named(parsed, parsed.key, each)
                    pairs = other_values(values, created)
                    like = replace(like, values=(*pairs, *_owner_keys(pairs, live)))
                    found.append((-rank, address, (new, like)))
            continue
        for name in names_of(values):
            for new, like in _by_name(parsed, name, created.name, live):
                found.append((len(shared_beginning(created.name, name)), str(parsed), (new, like)))
    for _, _, (new, like) in sorted(found, key=lambda each: (-each[0], each[1])):
        # Nobody gives a key that looks like a template, and an import's address cannot hold every such text.
        if not _TEMPLATE.search(like.new):
            yield _free(new, like, (live, taken))


def _free(new: Address, like: NewInstance, taken: Sequence[Collection[str]]) -> tuple[str, NewInstance]:
    """The address of a new instance, whose key has a number if another instance has that key."""
    if like.new != new.key or not any(str(new) in each for each in taken):
        return str(new), like
    keys = (f"{like.new}_{number}" for number in range(2, 100))
    key = next((key for key in keys if not any(str(replace(new, key=key)) in each for each in taken)), like.new)
    return str(replace(new, key=key)), replace(like, new=key)


def likes_of(created: Created, live: Live, taken: Collection[str] = ()) -> Iterator[NewInstance]:
    """The siblings of a creation that are one of several, those of what it belongs to first: its entry is like theirs, whatever its key is."""
    found = []
    for address, values in live.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
            continue
        key = next(
            (each for each in (parsed.key, *(own for _, own in reversed(parsed.modules))) if each is not None), None
        )
        if key is None:
            continue
        pairs = other_values(values, created)
        name = label_of(created.name) or str(key)
        like = NewInstance(
            sibling=address,
            key=key,
            old=str(key),
            new=f"port_{name}" if name.isdecimal() else name,
            values=(*pairs, *_owner_keys(pairs, live)),
        )
        like = _free(replace(parsed, key=like.new), like, (live, taken))[1]
        own = bool(created.parent) and created.parent in values.values()
        found.append(((not own, len(pairs), address), like))
    yield from (like for _, like in sorted(found, key=lambda each: each[0]) if not _TEMPLATE.search(like.new))


def _owner_keys(pairs: Sequence[tuple[Json, Json]], live: Live) -> Iterator[tuple[Json, Json]]:
    """The keys of what two resources belong to, where these are instances of one block: entries name them so."""
    for old, new in pairs:
        one, other = _named_by(old, live), _named_by(new, live)
        if one is None or other is None or one.bare != other.bare or one == other:
            continue
        if one.key != other.key and one.key is not None and other.key is not None:
            yield one.key, other.key
        yield from (
            (was, now)
            for (_, was), (_, now) in zip(one.modules, other.modules, strict=False)
            if was != now and was is not None and now is not None
        )


def _named_by(value: Json, live: Live) -> Address | None:
    if not isinstance(value, str):
        return None
    # A path may end with the id: `integrations/a1b2c3`.
    names = {value, value.rpartition("/")[2] or value}
    found = (
        address
        for address, own in live.items()
        if not names.isdisjoint(map(str, (own.get("id"), own.get("arn"), own.get("name"))))
    )
    return next((parsed for address in found if (parsed := parse_address(address)) and not parsed.data), None)


def _own_keys(sibling: Mapping[str, Json], key: str, created: Created) -> Iterator[str]:
    """The keys that a new instance may have: what is in its name and its values in the place of the sibling's key, and its name as a label."""
    parts = (_same_part(own, key, created.name) for own in names_of(sibling))
    both = ((value, created.attributes.get(name)) for name, value in sibling.items())
    # A key of one letter stands in many values, so it must be a whole one, or the end of a path.
    whole = ((old, new) for old, new in both if isinstance(old, str) and isinstance(new, str))
    said = (_same_part(old, key, new) for old, new in whole if old == key or old.endswith(f"/{key}"))
    yield from dict.fromkeys(each for each in (*parts, *said, label_of(created.name)) if each)


def keys_said(created: Created, live: Live) -> Sequence[str]:
    """What the creation has where siblings have their keys."""
    found = dict[str, None]()
    for address, own in live.items():
        parsed = parse_address(address)
        if parsed is None or parsed.data or parsed.resource_type != created.resource_type:
            continue
        names = [name for name, value in own.items() if isinstance(parsed.key, str) and value == parsed.key]
        found |= {value: None for name in names if isinstance(value := created.attributes.get(name), str)}
    return tuple(found)


_SAID = ("description", "comment")
"""What a creation need not say although its sibling does."""


def other_values(sibling: Mapping[str, Json], created: Created) -> tuple[tuple[Json, Json], ...]:
    """The plain values by which two resources differ, each once."""
    pairs = [
        pair for name, value in created.attributes.items() for pair in _beside_each_other(sibling.get(name), value)
    ]
    plain = (
        (old, new) for old, new in pairs if isinstance(old, str | int | float) and isinstance(new, str | int | float)
    )
    different = dict.fromkeys((old, new) for old, new in plain if old != new and not isinstance(old, bool))
    unset = ((old, None) for name in _SAID if (old := sibling.get(name)) and not created.attributes.get(name))
    return (*different, *unset)


def with_others(entry: Json, pairs: Sequence[tuple[Json, Json]]) -> Json:
    """An entry of a sibling with the values of a new instance, by the pairs of `other_values`."""
    if isinstance(entry, Mapping):
        return {name: with_others(value, pairs) for name, value in entry.items()}
    if isinstance(entry, list):
        return [with_others(each, pairs) for each in entry]
    same = (new for old, new in pairs if new is not None and type(old) is type(entry) and old == entry)
    return next(same, entry)


def _beside_each_other(old: Json, new: Json) -> Iterator[tuple[Json, Json]]:
    """Two values, or the items of two lists that are as long as each other."""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        yield from zip(old, new, strict=True)
    else:
        yield old, new


def _named(sibling: Address, key: str, new: str) -> tuple[Address, NewInstance]:
    name = f"port_{new}" if new.isdecimal() else new
    return replace(sibling, key=name), NewInstance(sibling=str(sibling), key=key, old=key, new=name)


def _by_name(sibling: Address, name: str, wanted: str, live: Live) -> Iterator[tuple[Address, NewInstance]]:
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


def _counted(sibling: Address, name: str, wanted: str, live: Live) -> Iterator[tuple[Address, NewInstance]]:
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


def part_of(text: str, old: str, new: str, renamed: tuple[str, str] = ("", "")) -> str:
    """What is in a new text where a text stands in the old one, the rest of which is the same but for a name; empty if it is not."""
    before, found, after = old.rpartition(text)
    if renamed[0]:
        before, after = (each.replace(*renamed) for each in (before, after))
    same = found and len(new) > len(before) + len(after) and new.startswith(before) and new.endswith(after)
    return new[len(before) : len(new) - len(after)] if same else ""
