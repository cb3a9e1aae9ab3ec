"""Dotted attribute paths, e.g. `tags.owner`, and their overlaps. The index of a nested block is omitted where there is only one.

A dot in the key of a map is written `%2E`, so that `tags.app%2Eteam` is the tag `app.team`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from gateway.core.model.json import Json

WHOLE = "*"
"""The attribute of an effect on a whole resource (create, delete, invoke)."""


_ESCAPED: Final = re.compile("%(25|2E)")
_ESCAPES: Final = {"25": "%", "2E": "."}
_IN_BRACKETS: Final = re.compile(r'\["([^"]*)"\]')
_TAGS: Final = frozenset({"tags", "tags_all"})
"""Maps of texts in every type, so that all that follows is one key."""


def step_of(key: str) -> str:
    """A key as one step of a path: without dots. A key with neither a dot nor an escape is the step itself."""
    return _ESCAPED.sub(r"%25\1", key).replace(".", "%2E") if "." in key or "%" in key else key


def key_of(step: str) -> str:
    """The key that a step stands for. A `%` that begins no escape stands for itself."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[1]], step) if "%" in step else step


def written_path(text: str) -> str:
    """The path in a text that a person wrote: a key may stand in brackets, `tags["app.team"]`, and that of a tag as it is, `tags.app.team`."""
    path = _IN_BRACKETS.sub(lambda found: f".{step_of(found[1])}", text)
    top, _, rest = path.partition(".")
    if top not in _TAGS or "." not in rest or rest.partition(".")[0].isdecimal():
        return path
    return f"{top}.{step_of(key_of(rest))}"


class AttributePath(str):
    """A dotted path. It is a string, so that it is stored, compared and hashed as its text."""

    __slots__ = ()

    @classmethod
    def of(cls, steps: Iterable[str]) -> "AttributePath":
        """The path of these names, indexes and keys."""
        return cls(".".join(map(step_of, steps)))

    @property
    def steps(self) -> tuple[str, ...]:
        """The names, indexes and keys between the dots. At least one."""
        steps = self.split(".")
        return tuple(map(key_of, steps)) if "%" in self else tuple(steps)

    @property
    def top(self) -> str:
        """The first step, an attribute of the resource itself: `tags` of `tags.owner`."""
        return self.partition(".")[0]

    @property
    def last(self) -> str:
        """The last step: `owner` of `tags.owner`."""
        return key_of(self.rpartition(".")[2])

    @property
    def key(self) -> str:
        """What follows the first step, as the key of a map: `owner` of `tags.owner`. Empty if nothing does."""
        return key_of(self.partition(".")[2])

    @property
    def enclosing(self) -> "tuple[AttributePath, ...]":
        """The path itself and its ancestors, nearest first: `a.b.c`, `a.b`, `a`."""
        if "." not in self:
            return (self,)
        steps = self.split(".")
        return tuple(AttributePath(".".join(steps[:count])) for count in range(len(steps), 0, -1))

    def covers(self, other: str) -> bool:
        """Whether `other` is the attribute at this path or a part of it."""
        return other == self or other.startswith(f"{self}.")

    def touches(self, other: str) -> bool:
        """Whether one of the two is the other, or a part of it."""
        return other == self or other.startswith(f"{self}.") or self.startswith(f"{other}.")

    def value_at(self, attributes: Json) -> Json:
        """The value at this path; None if there is none. A list with one block is treated as the block."""
        if type(attributes) is dict and "." not in self and "%" not in self:  # one step, as most paths have
            return attributes.get(self)
        value = attributes
        for step in self.steps:
            value = _step(value, step)
            if value is None:
                return None
        return value

    def put(self, attributes: Mapping[str, Json], value: Json) -> Mapping[str, Json]:
        """A copy of the attributes with `value` at this path."""
        head, *rest = self.steps
        return {**attributes, head: _put(attributes.get(head), rest, value)}


def put_all(attributes: Mapping[str, Json], changes: Sequence[tuple[str, Json]]) -> Mapping[str, Json]:
    """A copy of the attributes with every (path, value) put in turn, as `AttributePath.put` does, but each container copied once."""
    tops = {path: value for path, value in changes if "." not in path and "%" not in path}
    if len(tops) == len(changes):  # attributes of the resource itself, as most are
        return {**attributes, **tops}
    return _put_each(attributes, [(AttributePath(path).steps, value) for path, value in changes])


def _put_each(attributes: Mapping[str, Json], changes: Sequence[tuple[Sequence[str], Json]]) -> Mapping[str, Json]:
    by_head: dict[str, list[tuple[Sequence[str], Json]]] = {}
    for steps, new in changes:
        by_head.setdefault(steps[0], []).append((steps[1:], new))
    return {**attributes, **{head: _put_inside(attributes.get(head), inner) for head, inner in by_head.items()}}


def _put_inside(value: Json, changes: Sequence[tuple[Sequence[str], Json]]) -> Json:
    """The value after the changes, of which the last one without steps replaces it."""
    whole = max((place for place, (steps, _) in enumerate(changes) if not steps), default=None)
    if whole is not None:
        value, changes = changes[whole][1], changes[whole + 1 :]
    if not changes:
        return value
    if isinstance(value, list) and len(value) <= 1:
        return [_put_inside(value[0] if value else {}, changes)]
    return _put_each(value if isinstance(value, Mapping) else {}, changes)


def _step(value: Json, step: str) -> Json:
    if isinstance(value, (dict, Mapping)):  # a dictionary is told at once, an abstract type takes a search
        return value.get(step)
    if isinstance(value, Sequence) and not isinstance(value, str):
        if step.isdecimal() and int(step) < len(value):
            return value[int(step)]
        value = value[0] if len(value) == 1 else None
    return value.get(step) if isinstance(value, Mapping) else None


def _put(value: Json, steps: Sequence[str], new: Json) -> Json:
    if not steps:
        return new
    if isinstance(value, list) and len(value) <= 1:
        return [_put(value[0] if value else {}, steps, new)]
    base = value if isinstance(value, Mapping) else {}
    return {**base, steps[0]: _put(base.get(steps[0]), steps[1:], new)}


def overlaps(one: str, other: str) -> bool:
    """Whether two attributes of one resource are the same, or one is a part of the other."""
    return WHOLE in (one, other) or one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


T = TypeVar("T")


class Overlaps(Generic[T]):
    """Items, each on one attribute of one resource. A look-up costs as much as the attribute is deep and as it finds."""

    def __init__(self, items: Iterable[tuple[str, str, T]]) -> None:
        """Each item with its address and attribute."""
        self._on: dict[tuple[str, str], list[T]] = defaultdict(list)
        self._within: dict[tuple[str, str], list[T]] = defaultdict(list)
        for address, attribute, item in items:
            self._on[address, attribute].append(item)
            inside = () if attribute == WHOLE else (*AttributePath(attribute).enclosing, WHOLE)
            for around in inside:
                self._within[address, around].append(item)

    def of(self, address: str, attribute: str) -> Sequence[T]:
        """The items that overlap with this attribute, each once."""
        if attribute == WHOLE:
            return (*self._within.get((address, WHOLE), ()), *self._on.get((address, WHOLE), ()))
        around = (*AttributePath(attribute).enclosing[1:], WHOLE)
        outer = (item for each in around for item in self._on.get((address, each), ()))
        return (*self._within.get((address, attribute), ()), *outer)
