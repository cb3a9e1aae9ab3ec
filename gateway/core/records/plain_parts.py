"""Whether msgspec writes a body as `model.json.canonical` does. Only those members are looked at whose type leaves that open: most are texts."""

from collections.abc import Callable
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, Union, get_args, get_origin

import msgspec

from gateway.core.model.json import WRITTEN_ALIKE, is_plain

_Look: TypeAlias = Callable[[Any], bool]
"""Whether a value is plain: of nothing but texts, whole numbers, truth values, nulls, and lists and objects of those."""
_ALIKE: Final = (str, int, bool, NoneType, msgspec.UnsetType)
_UNIONS: Final = (Union, UnionType)


def has_plain_parts(struct: msgspec.Struct) -> bool:
    """Whether no part of it is one that msgspec writes in another way: a float, bytes, a time. It may say so of one that has none, too."""
    look = _look_at_members(type(struct))
    return look is None or look(struct)


@cache
def _look_at_members(kind: type[msgspec.Struct]) -> _Look | None:
    """How values of this type are looked at; None if each is plain."""
    looks = [(each.name, look) for each in msgspec.structs.fields(kind) if (look := _look_at(each.type)) is not None]

    def look_at_members(struct: msgspec.Struct) -> bool:
        for name, look in looks:
            value = getattr(struct, name)
            if type(value) not in WRITTEN_ALIKE and not look(value):  # most are texts and nulls
                return False
        return True

    return look_at_members if looks else None


def _look_at(kind: Any) -> _Look | None:
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin in _UNIONS:
        looks = [look for part in parts if (look := _look_at(part)) is not None]
        if not looks:
            return None
        if len(looks) == 1 and NoneType in parts:
            some = looks[0]
            return lambda value: value is None or some(value)
    elif origin is tuple and parts[1:] == (...,):
        each = _look_at(parts[0])
        return None if each is None else lambda values: all(map(each, values))
    elif isinstance(origin, type) and (origin in _ALIKE or issubclass(origin, Enum)):
        return None
    elif isinstance(origin, type) and issubclass(origin, msgspec.Struct):
        return _look_at_members(origin)
    return is_plain
