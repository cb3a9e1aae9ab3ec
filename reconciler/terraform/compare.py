"""Compares values as Terraform's providers do: null, absent and empty are equal, and JSON text is compared as JSON.

This is laxer than `gateway.core.model.equality`: it decides whether a provider would see a difference, not what a value is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from gateway.core.model.json import Json


def normalized(value: Json) -> Json:
    """The value without nulls and empty strings, lists and maps; JSON text becomes the value it holds."""
    match value:
        case str() if value.lstrip()[:1] in {"{", "["}:
            try:
                return normalized(json.loads(value))
            except ValueError:
                return value
        case "":
            return None
        case Mapping():
            kept = {key: normalized(item) for key, item in value.items()}
            return {key: item for key, item in kept.items() if item is not None} or None
        case Sequence() if not isinstance(value, str):
            return [normalized(item) for item in value] or None
        case _:
            return value


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same to a provider: a number and its text are, true and 1 are not."""
    return _same(normalized(one), normalized(other))


def agrees(called: Json, live: Json) -> bool:
    """Whether `live` contains everything that `called` set; the provider may have added defaults."""
    one, other = normalized(called), normalized(live)
    match one, other:
        case Mapping(), Mapping():
            return all(agrees(item, other.get(key)) for key, item in one.items())
        case Sequence(), Sequence() if not isinstance(one, str) and not isinstance(other, str):
            return len(one) == len(other) and all(any(agrees(item, found) for found in other) for item in one)
        case _:
            return _same(one, other)


def differences(live: Json, code: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json, Json]]:
    """The deepest paths at which live differs from code, each with the live and the declared value.

    Maps are compared by key, and two lists of one block each by the block; any other list is one value, since sets have no order.
    """
    if same(live, code):
        return
    if isinstance(live, Mapping) and isinstance(code, Mapping):
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
    """In order, or for blocks in any order: the provider returns sets in its own order."""
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
