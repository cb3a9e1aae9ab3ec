"""Remembers what an expression came to for the values that it refers to: between two changes of a resource few of its attributes differ."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from gateway.core.model.json import Json
from gateway.terraform.contracts.text import WrittenExpression, is_out_of_time

T = TypeVar("T")

_MOST: Final = 32
"""Outcomes that are kept of one expression. More different values than these are evaluated each time, and never fill the memory."""
_PLAIN: Final = frozenset({str, int, bool, type(None)})
"""Types of values that are equal only if nothing tells them apart. Numbers with a point and whole objects are evaluated each time."""
_LONGEST: Final = 256
"""Most characters of a text that is remembered."""

_Key = tuple[object, ...]


def references(expressions: Iterable[WrittenExpression]) -> frozenset[tuple[str, str]]:
    """What the expressions refer to: (root, first attribute)."""
    return frozenset(reference for each in expressions for reference in each.references)


class Remembered(dict[_Key, T]):
    """What came of expressions by the values of what they refer to. Several threads may use it: two may evaluate the same, to the same end."""

    def once(self, key: _Key | None, evaluate: Callable[[], T]) -> T:
        """What is known for the key, else what `evaluate` returns; always the latter without a key."""
        if key is None:
            return evaluate()
        found = self.get(key)
        if found is None:
            found = evaluate()
            if len(self) < _MOST and not is_out_of_time():
                self[key] = found
        return found


def key_of(values: Iterable[tuple[Json, str]]) -> _Key | None:
    """A key for the values of these members, which may be missing; None if one of them is not plain."""
    key: list[object] = []
    for members, name in values:
        if type(members) is not dict and not isinstance(members, Mapping):
            return None
        if name not in members:
            key.append(None)
            continue
        value = members[name]
        kind = type(value)
        if kind not in _PLAIN or (isinstance(value, str) and len(value) > _LONGEST):
            return None
        key.append((kind, value))
    return tuple(key)
