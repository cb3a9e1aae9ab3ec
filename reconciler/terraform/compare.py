"""Compares values as Terraform's providers do: null, absent and empty are one, and JSON text is compared as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence

from gateway.model.json import Json


def plain(value: Json) -> Json:
    """The value with everything that means nothing taken out: nulls, empty texts, lists and maps; JSON text is read."""
    match value:
        case str() if value.lstrip()[:1] in {"{", "["}:
            try:
                return plain(json.loads(value))
            except ValueError:
                return value
        case "":
            return None
        case Mapping():
            kept = {key: plain(item) for key, item in value.items()}
            return {key: item for key, item in kept.items() if item is not None} or None
        case Sequence() if not isinstance(value, str):
            return [plain(item) for item in value] or None
        case _:
            return value


def same(one: Json, other: Json) -> bool:
    """Whether two values mean the same; a number and its text do, true and 1 do not."""
    return _same(plain(one), plain(other))


def agrees(called: Json, live: Json) -> bool:
    """Whether the live value is the called one, filled in by the provider: what the call named must be there as it was named."""
    one, other = plain(called), plain(live)
    match one, other:
        case Mapping(), Mapping():
            return all(agrees(item, other.get(key)) for key, item in one.items())
        case Sequence(), Sequence() if not isinstance(one, str) and not isinstance(other, str):
            return len(one) == len(other) and all(any(agrees(item, found) for found in other) for item in one)
        case _:
            return _same(one, other)


def at(value: Json, path: Sequence[str]) -> Json:
    """What stands at a path; the single element of a list of one block is stepped into. None where nothing is."""
    for part in path:
        if isinstance(value, Sequence) and not isinstance(value, str):
            if part.isdigit() and int(part) < len(value):
                value = value[int(part)]
                continue
            value = value[0] if len(value) == 1 else None
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def differences(live: Json, code: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json, Json]]:
    """The smallest paths at which live differs from code, each with both values.

    Maps are gone into key by key, and lists of one block each; other lists are one value, since sets have no order.
    """
    if same(live, code):
        return
    if isinstance(live, Mapping) and isinstance(code, Mapping) and not any("." in key for key in {*live, *code}):
        for key in sorted({*live, *code}):
            yield from differences(live.get(key), code.get(key), (*path, key))
    elif (one := _only_block(live)) is not None and (other := _only_block(code)) is not None:
        yield from differences(one, other, path)
    else:
        yield path, live, code


def _same(one: Json, other: Json) -> bool:
    match one, other:
        case Mapping(), Mapping():
            return one.keys() == other.keys() and all(_same(item, other[key]) for key, item in one.items())
        case bool(), _:
            return one is other or (isinstance(other, str) and other == str(one).lower())
        case _, bool():
            return _same(other, one)
        case ((int() | float()), str()):
            return other in {str(one), f"{one:g}"}
        case str(), (int() | float()):
            return _same(other, one)
        case str(), str():
            return one == other
        case Sequence(), Sequence() if not isinstance(one, str) and not isinstance(other, str):
            return len(one) == len(other) and _same_items(one, other)
        case _:
            return one == other


def _same_items(one: Sequence[Json], other: Sequence[Json]) -> bool:
    """In order, or, for blocks, in any order: the provider returns sets in an order of its own."""
    if all(_same(left, right) for left, right in zip(one, other, strict=True)):
        return True
    if not all(isinstance(item, Mapping) for item in (*one, *other)):
        return False
    rest = list(other)
    for item in one:
        found = next((index for index, candidate in enumerate(rest) if _same(item, candidate)), None)
        if found is None:
            return False
        del rest[found]
    return True


def _only_block(value: Json) -> Mapping[str, Json] | None:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1 and isinstance(value[0], Mapping):
        return value[0]
    return None
