"""The version of the code before an edit: its values that the edit cannot change stay valid in the next version."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol, TypeAlias

from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import AttributeAccess, Name, Spanned, root_references, walk
from gateway.terraform.lang.values import MapOf, Opaque, Unknown, Value

_NOTHING: frozenset[str] = frozenset()
Table: TypeAlias = "Mapping[str, Value] | Mapping[str, tuple[Value, Value]]"
"""Values, or keys and values, by the name that they have in a scope."""


Expansion: TypeAlias = tuple[tuple[str | int | None, EvaluationScope], ...]
"""Key and scope of each instance of a block."""


class EarlierModule(Protocol):
    """A module instance of the earlier version, as far as the edit between the versions is compared with it."""

    @property
    def address(self) -> str:
        """The address of the module instance, empty for the root."""

    @property
    def directory(self) -> str:
        """The directory of its code."""

    @property
    def call_scope(self) -> EvaluationScope:
        """The scope of the arguments of its call."""

    @property
    def evaluated(self) -> "Mapping[str, Value | Unknown]":
        """The values that were evaluated, by name."""

    @property
    def expansions(self) -> "Mapping[tuple[str, ...], Expansion | Unknown]":
        """The keys and scopes of its resource and module blocks, by the block's header."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EarlierVersion:
    """The version of the code before an edit, and what the edit may have changed. One for all modules of a stack."""

    modules: dict[str, EarlierModule] = field(default_factory=dict)
    """Every module instance of the earlier version by address. `release` empties it, so that versions do not pile up."""
    outdated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The keys (see `Definitions`) that may have changed, by the address of the module instance."""

    def release(self) -> None:
        """Let go of the earlier version: from now on values are evaluated, not carried over."""
        self.modules.clear()

    def is_outdated(self, address: str, *keys: str) -> bool:
        """Whether the edit may have changed any of these keys in a module instance."""
        return not self.outdated.get(address, _NOTHING).isdisjoint(keys)

    def reached_names(self, address: str) -> frozenset[str]:
        """The names, as definitions of a module instance say them, behind which the edit may have changed something."""
        return frozenset(name for key in self.outdated.get(address, _NOTHING) if (name := _name_of(key)))

    def earlier(self, address: str, scope: EvaluationScope, directory: str) -> EarlierModule | None:
        """The earlier version of a module instance, if its key and `each.value` are as they were."""
        found = self.modules.get(address)
        if found is None or found.directory != directory or not self.same_scope(found.call_scope, scope):
            return None
        return found

    def values(self, earlier: EarlierModule) -> "dict[str, Value | Unknown]":
        """The values of an earlier module by name, without those that the edit may have changed."""
        outdated = self.outdated.get(earlier.address, _NOTHING)
        return {name: value for name, value in earlier.evaluated.items() if name not in outdated}

    # ---- equal values

    def same_scope(self, one: EvaluationScope, other: EvaluationScope) -> bool:
        """Whether an expression has the same value in both scopes, as far as it depends on more than names."""
        return (
            one.count == other.count
            and self._same_rows(one.each, other.each)
            and self._same_tables(one.bound, other.bound)
            and self._same_tables(one.iterators, other.iterators)
        )

    def _same_tables(self, one: "Table", other: "Table") -> bool:
        return (not one and not other) or self.same(_flat(one), _flat(other))

    def _same_rows(self, one: "Sequence[Value] | None", other: "Sequence[Value] | None") -> bool:
        return (one is None and other is None) or (one is not None and other is not None and self.same(one, other))

    def same(self, one: Value, other: Value) -> bool:
        """Whether two values are equal and of one type. Unknown values are the same if they come from equal code that the edit cannot reach."""
        if type(one) is not type(other):
            return False
        if isinstance(one, str | int | float):
            return one == other
        match one, other:
            case Opaque(), Opaque():
                return self._same_origin(one, other)
            case Mapping(), Mapping():
                scalars = (each.scalar if isinstance(each, MapOf) else "" for each in (one, other))
                return (
                    len({*scalars}) == 1
                    and list(one) == list(other)
                    and all(self.same(one[key], other[key]) for key in one)
                )
            case (Sequence(), Sequence()) if not isinstance(one, str):
                return len(one) == len(other) and all(self.same(a, b) for a, b in zip(one, other, strict=True))
            case _:
                return one == other

    def _same_origin(self, one: Opaque, other: Opaque) -> bool:
        match one.origin, other.origin:
            case (Spanned() as written, EvaluationScope() as scope), (Spanned() as now, EvaluationScope() as scope_now):
                return (
                    _same_code(written, now)
                    and getattr(scope.module, "address", None) == getattr(scope_now.module, "address", "")
                    and self.same_scope(scope, scope_now)
                    and not self.is_outdated(getattr(scope.module, "address", ""), *_reached(written))
                )
        return False


def _name_of(key: str) -> str:
    """The name by which other definitions refer to a key; empty if none can."""
    kind, _, name = key.partition(".")
    match kind:
        case "var" | "local" | "module":
            return key
        case "keys" | "body" | "data":
            return name
    return ""


def across_edits(edits: "Sequence[EarlierVersion | None]") -> EarlierVersion | None:
    """What several edits one after the other may have changed together; None if one of them may have changed everything."""
    outdated: dict[str, frozenset[str]] = {}
    for each in edits:
        if each is None:
            return None
        for address, keys in each.outdated.items():
            outdated[address] = outdated.get(address, _NOTHING) | keys
    return EarlierVersion(outdated=outdated)


def _flat(table: "Table") -> list[Value]:
    return [part for name in sorted(table) for part in (name, table[name])]


def _reached(expression: Spanned) -> Iterator[str]:
    """The keys behind the names in an expression."""
    for part in walk(expression):  # type: ignore[arg-type]  # every Spanned of an origin is an Expression
        match part:
            case AttributeAccess(source=AttributeAccess(source=Name(name="data"), name=kind), name=own):
                yield f"data.{kind}.{own}"
    for root, attribute in root_references(expression):  # type: ignore[arg-type]  # as above
        name = f"{root}.{attribute}"
        yield from (name, f"keys.{name}", f"body.{name}")


def _same_code(one: object, other: object) -> bool:
    """Whether two expressions are equal but for their places in the file."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(_same_code(a, b) for a, b in zip(one, other, strict=True))
    if type(one) is not type(other):
        return False
    if not isinstance(one, Spanned):
        return one == other
    names = (part.name for part in fields(one) if part.name not in ("start", "end"))
    return all(_same_code(getattr(one, name), getattr(other, name)) for name in names)
