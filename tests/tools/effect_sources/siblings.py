"""Finds the resource of an operation that no trace is certain of by its siblings: operations of the same service that were traced for certain.

Two sources have to agree. What the operation concerns is said by the model, by the traced operation with the opposite verb and the same noun
(`EnableProfile` beside `DisableProfile`), or by its own trace, if that knows the type alone. By which parameters it is named is said by the traced rows of that type: they identify it by parameters that
this operation has too, and no other type of the service is identified by more of them.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import EffectAction
from tests.tools.effect_sources.operation_names import Direction, fold, split
from tests.tools.effect_sources.rules import Finding
from tests.tools.effect_sources.service_operations import ServiceOperation

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
_PAIRS: Final = (
    "Put/Delete Enable/Disable Associate/Disassociate Start/Stop Add/Remove Add/Delete Register/Deregister "
    "Activate/Deactivate Create/Delete Grant/Revoke Authorize/Revoke Lock/Unlock Set/Delete Resume/Suspend Attach/Detach"
)
_BESIDE: Final = frozenset("Attach Cancel Detach Put Reject Remove Revoke".split())  # noqa: SIM905
"""Verbs of operations that may concern something beside or inside what the model says, or its end: the opposite alone says which."""
_TAGS: Final = ("Tag", "Untag")
_RELATIONS: Final = ("_attachment", "_association", "_accepter")
_VERB: Final = re.compile(r"[A-Z][a-z]+")
_JOINING: Final = re.compile(r"(?<=[a-z])(?:From|To|In|With|For)(?=[A-Z])")

Key = tuple[str, str]
"""Service and operation."""
Said = tuple[str, frozenset[EffectAction]]
"""The type that an operation concerns, and what becomes of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """The parameters that identify resources of a type in one operation."""

    operation: str
    row: DerivedRow

    @property
    def parameters(self) -> frozenset[str]:
        """Their names."""
        return frozenset(self.row.identity)


class Siblings:
    """What the traced rows say about operations that they are not certain of."""

    def __init__(
        self, rows: Iterable[DerivedRow], operations: Mapping[Key, ServiceOperation], types: Collection[str]
    ) -> None:
        """`rows` of the provider's requests; `types` are those of Terraform."""
        self._operations = operations
        self._types = types
        self._namings: dict[str, list[Naming]] = defaultdict(list)
        self._by_noun: dict[Key, dict[str, list[DerivedRow]]] = defaultdict(lambda: defaultdict(list))
        self._unsure: dict[Key, list[DerivedRow]] = defaultdict(list)
        for row in rows:
            if row.confidence is Confidence.TYPE:
                self._unsure[row.service, row.operation].append(row)
                continue
            verb, noun = _verb_and_noun(row.operation)
            self._by_noun[row.service, noun][verb].append(row)
            if row.identity and row.actions != {CREATE} and not any("." in path for path in row.identity):
                self._namings[row.service].append(Naming(operation=row.operation, row=row))

    def row(self, key: Key, findings: Sequence[Finding]) -> DerivedRow | None:
        """The row of an operation, by all siblings but itself; None if the sources do not agree. `findings` are those of the model."""
        operation = self._operations[key]
        if split(operation.name).verb in _TAGS:
            return None
        seen = [each for each in (self._opposite(key), self._traced(key)) if each]
        modelled = self._modelled(operation, findings)
        said = [*seen, *([modelled] if modelled else [])]
        types = {resource_type for resource_type, _ in said}
        if len(types) != 1 or any(each.kind.resource_type not in types for each in findings):
            return None
        resource_type, actions = said[0]
        naming = self._naming(operation, resource_type, alone=not seen)
        if naming is None:
            return None
        return DerivedRow(
            service=operation.service,
            operation=operation.name,
            resource_type=resource_type,
            actions=actions,
            origin=Origin.MODEL,
            confidence=Confidence.RESOURCE,
            identity=dict(naming.row.identity),
            id_form=naming.row.id_form,
            controls=operation.tokens,
        )

    def _traced(self, key: Key) -> Said | None:
        """What the operation's own trace knows, if that is one type and no more."""
        rows = self._unsure.get(key, [])
        return (rows[0].resource_type, rows[0].actions) if len(rows) == 1 else None

    def _modelled(self, operation: ServiceOperation, findings: Sequence[Finding]) -> Said | None:
        """The one type that the model names, and what it says that becomes of it, as far as that is certain."""
        name = split(operation.name)
        if len(findings) != 1 or name.verb in _BESIDE:
            return None
        (found,) = findings
        resource_type = found.kind.resource_type
        takes_a_part = name.direction is Direction.DELETE and DELETE not in found.actions
        unsure = bool(found.actions & {CREATE, DELETE}) and not found.sure
        relates = name.direction in (Direction.JOIN, Direction.PART) and any(
            each.startswith(resource_type) and each.endswith(_RELATIONS) for each in self._types
        )
        if takes_a_part or unsure or relates or resource_type not in self._types:
            return None
        # What is done to a resource that Terraform manages was always a change of it where it was traced: a start, a stop, a restart.
        return resource_type, frozenset({SET}) if found.actions == {INVOKE} else found.actions

    def _naming(self, operation: ServiceOperation, resource_type: str, *, alone: bool) -> Naming | None:
        """How resources of the type are identified, if by more of the operation's parameters than those of other types.

        `alone`: no other type is identified by these parameters either.
        """
        given = frozenset(operation.parameters)
        fitting = [
            each
            for each in self._namings[operation.service]
            if each.operation != operation.name and each.parameters <= given
        ]
        most = {each.parameters for each in fitting}
        most = {names for names in most if not any(names < others for others in most)}
        types = {each.row.resource_type for each in fitting if each.parameters in most}
        if len(most) != 1 or resource_type not in types or (alone and len(types) > 1):
            return None
        own = [each for each in fitting if each.parameters in most and each.row.resource_type == resource_type]
        said = {_text(each.row) for each in own}
        return min(own, key=lambda each: each.operation) if len(said) == 1 else None

    def _opposite(self, key: Key) -> Said | None:
        """The type and the actions that follow from the traced operations with the opposite verb and the same noun."""
        verb, noun = _verb_and_noun(key[1])
        by_verb = self._by_noun[key[0], noun]
        rows = [row for each in _opposites().get(verb, ()) for row in by_verb.get(each, ()) if row.operation != key[1]]
        types = {row.resource_type for row in rows}
        if len(types) != 1 or next(iter(types)).endswith(_RELATIONS):
            return None
        done = frozenset[EffectAction]().union(*(row.actions for row in rows))
        if done == {SET}:
            return types.pop(), frozenset({SET})
        if done <= {CREATE, SET} and split(key[1]).direction is Direction.DELETE:
            return types.pop(), frozenset({DELETE})
        return None


def _text(row: DerivedRow) -> tuple[tuple[tuple[str, AttributeSource], ...], str]:
    return tuple(sorted(row.identity.items(), key=lambda item: item[0])), row.id_form


def _verb_and_noun(name: str) -> tuple[str, str]:
    name = name.removeprefix("Admin")
    found = _VERB.match(name)
    verb = found[0] if found else ""
    return verb, fold(_JOINING.sub("", name[len(verb) :]))


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for first, second in (pair.split("/") for pair in _PAIRS.split()):
        found[first].add(second)
        found[second].add(first)
    return {verb: frozenset(others) for verb, others in found.items()}
