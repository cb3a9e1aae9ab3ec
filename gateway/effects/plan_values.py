"""Compares what a resource is before a plan with what it is after, attribute by attribute, and keeps secrets out of the result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.effects.schema import TypeSchema
from gateway.model.document import is_document
from gateway.model.json import Json
from gateway.model.masking import PER_RUN
from gateway.terraform.secrets import masked, may_hold_secret

_CONSEQUENCES: Final = frozenset({"id", "arn", "tags_all", "timeouts"})
"""Attributes that follow from others, or that only Terraform itself has."""


@dataclass(slots=True)
class Differences:
    """What changes of one resource."""

    values: dict[str, Json] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDifference:
    """The member `change` of a planned change, and what is known about the resource's type."""

    resource_type: str
    schema: TypeSchema | None
    """None if the provider's schema that ships with Sentinel does not have the type."""
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    after_unknown: Any = False
    before_sensitive: Any = False
    after_sensitive: Any = False
    written: frozenset[str] | None = None
    """The attributes that the code gives to the resource; None if the plan does not say."""

    def differences(self) -> Differences:
        """The changed attributes with their new values; of secrets and of what is not known yet only the names."""
        found = Differences()
        for name in dict.fromkeys((*(self.before or {}), *self.after, *_members(self.after_unknown))):
            if not self._ignored(name):
                for leaf in self._leaves(self._of(name)):
                    self._add(leaf, found)
        return found

    def _ignored(self, name: str) -> bool:
        return name in _CONSEQUENCES or (self.schema is not None and not self.schema.knows(name))

    def _of(self, name: str) -> "_Leaf":
        return _Leaf(
            path=name,
            before=(self.before or {}).get(name),
            after=self.after.get(name),
            unknown=_member(self.after_unknown, name),
            marks=(_member(self.before_sensitive, name), _member(self.after_sensitive, name)),
        )

    def _leaves(self, leaf: "_Leaf") -> Iterator["_Leaf"]:
        """The leaf itself, or its parts where a call of AWS sets them one by one: tags, and the members of a single block."""
        if leaf.path == "tags" and isinstance(leaf.before or {}, Mapping) and isinstance(leaf.after, Mapping):
            yield from (leaf.part(key) for key in dict.fromkeys((*(leaf.before or {}), *leaf.after)))
        elif self.schema is not None and self.schema.kinds.get(leaf.path) == "block" and leaf.is_block:
            inside = leaf.inside()
            for key in inside.members:
                yield from self._leaves(inside.part(key))
        else:
            yield leaf

    def _add(self, leaf: "_Leaf", found: Differences) -> None:
        if _marks(leaf.unknown):
            # What only AWS chooses, and no code asks for, is a consequence.
            if self.written is None or leaf.path.partition(".")[0] in self.written:
                found.unknown.append(leaf.path)
        elif leaf.after == leaf.before or (self.before is None and leaf.after in (None, [], {}, "")):
            return
        elif leaf.sensitive or (shown := _shown(leaf.after, self.resource_type, leaf.path)) is None:
            found.secrets.append(leaf.path)
        else:
            found.values[leaf.path] = shown[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """One attribute, or a part of one, before and after."""

    path: str
    before: Any
    after: Any
    unknown: Any
    marks: tuple[Any, Any]
    """What Terraform marks as sensitive in it, before and after."""

    @property
    def sensitive(self) -> bool:
        """Whether anything in it is marked as sensitive."""
        return any(map(_marks, self.marks))

    @property
    def is_block(self) -> bool:
        """Whether it is at most one block on both sides."""
        sides = [side for side in (self.before, self.after) if side]
        blocks = all(isinstance(side, list) and len(side) == 1 and isinstance(side[0], Mapping) for side in sides)
        return bool(sides) and blocks and self.unknown is not True

    def inside(self) -> "_Leaf":
        """The one block in it."""
        first = [_first(side) for side in (self.before, self.after, self.unknown, *self.marks)]
        return _Leaf(
            path=self.path,
            before=first[0],
            after=first[1],
            unknown=first[2],
            marks=(first[3], first[4]),
        )

    @property
    def members(self) -> tuple[str, ...]:
        """The names of its members on either side."""
        return tuple(dict.fromkeys((*_members(self.before), *_members(self.after), *_members(self.unknown))))

    def part(self, key: str) -> "_Leaf":
        """One member of it."""
        marks = (_member(self.marks[0], key), _member(self.marks[1], key))
        return _Leaf(
            path=f"{self.path}.{key}",
            before=_value(self.before, key),
            after=_value(self.after, key),
            unknown=_member(self.unknown, key),
            marks=marks,
        )


def _shown(value: Any, resource_type: str, path: str) -> tuple[Json] | None:
    """The value as it may be told, in a tuple; None if it is a secret, or a document in which masks could hide what it grants."""
    shown = masked(value, resource_type=resource_type, attribute=path, masker=PER_RUN)
    if shown == value:
        return (value,)
    if isinstance(value, str) and isinstance(shown, str) and is_document(value) == may_hold_secret(resource_type, path):
        return (shown,)
    return None


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else (True if value is True else None)


def _value(container: Any, key: str) -> Any:
    return container.get(key) if isinstance(container, Mapping) else None


def _members(container: Any) -> tuple[str, ...]:
    return tuple(container) if isinstance(container, Mapping) else ()


def _member(container: Any, key: str) -> Any:
    """A member of Terraform's marks: `true` marks all members."""
    return True if container is True else _value(container, key)


def _marks(container: Any) -> bool:
    """Whether anything inside is marked."""
    if isinstance(container, Mapping):
        return any(_marks(item) for item in container.values())
    return any(_marks(item) for item in container) if isinstance(container, list) else container is True
