"""Proposes a row for an operation from one call that was applied without being understood: from what it said and what then was different.

Only values that can be compared count: a parameter carries an attribute if its value is the attribute's new one, which it was not before,
and no other parameter or changed attribute has that value. A proposal holds names, never values.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gateway.core.derived_rows import (
    AttributeSource,
    Confidence,
    DerivedRow,
    Origin,
    ValueForm,
    derived_rows,
    operations_of,
)
from gateway.core.model.json import Json
from gateway.core.model.masking import is_masked
from gateway.core.model.mutation import EffectAction
from gateway.effects.registry import SERVICES
from gateway.effects.schema import folded, snake

_IDENTIFIES = ("name", "bucket", "arn", "url", "id")
"""Attributes that name a resource; of several with one value the first is meant."""
_IDENTIFIES_ENDING = ("_arn", "_id", "_identifier", "_name", "_url")
_BY_PROVIDER = frozenset({"tags_all"})
"""Attributes that the provider derives from others."""
_MOST_LEAVES = 1_000
"""Values of a call, or attributes of a resource, that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One resource before and after the call."""

    address: str
    resource_type: str
    before: Mapping[str, Json]
    after: Mapping[str, Json] | None
    """None if it does not exist any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProposal:
    """A row that nobody has reviewed, and what speaks for it."""

    row: DerivedRow
    mutations: tuple[str, ...]
    """The calls that it comes from."""
    evidence: tuple[str, ...]
    """Sentences, without values."""


@lru_cache(maxsize=16)
def types_of(service: str) -> frozenset[str]:
    """The resource types that rows name for a botocore service."""
    by_hand = SERVICES.get(service, {}).values()
    derived = (row for name in operations_of(service) for row in derived_rows(service, name))
    return frozenset({*(row.resource_type for row in by_hand), *(row.resource_type for row in derived)})


def may_concern(
    service: str, parameters: Mapping[str, object], resource_type: str, recorded: Mapping[str, Json]
) -> bool:
    """Whether a call may be about a resource: its type is of the service, and the call names it."""
    known = types_of(service)
    of_service = resource_type in known if known else resource_type.startswith(f"aws_{service.replace('-', '_')}")
    return of_service and bool(_identity(_leaves(parameters), recorded))


def propose(
    service: str, operation: str, parameters: Mapping[str, object], observed: Sequence[Observed], *, mutation: str
) -> RowProposal | None:
    """The row that one applied call suggests; None unless exactly one of the resources that it names is different now."""
    given = _leaves(parameters)
    changed = [each for each in observed if each.after is None or _changes(each) or each.after != each.before]
    named = [(each, identity) for each in changed if (identity := _identity(given, each.before))]
    if len(named) != 1:
        return None
    ((resource, identity),) = named
    changes = _changes(resource)
    if resource.after is not None and not changes:
        return None
    attributes = {} if resource.after is None else _attributes(given, identity, changes, resource.before)
    unexplained = frozenset(given) - identity.keys() - attributes.keys()
    untold = (
        set(changes) - {source.attribute for source in attributes.values()} if resource.after is not None else set()
    )
    by_value_only = {path for path, source in attributes.items() if not _named_alike(path, source.attribute)}
    whole = not unexplained and not untold and not by_value_only
    row = DerivedRow(
        service=service,
        operation=operation,
        resource_type=resource.resource_type,
        actions=frozenset({EffectAction.DELETE if resource.after is None else EffectAction.SET}),
        origin=Origin.LEARNED,
        confidence=Confidence.ATTRIBUTES if whole else Confidence.RESOURCE,
        identity=identity,
        attributes=attributes,
        unexplained=unexplained,
    )
    return RowProposal(row=row, mutations=(mutation,), evidence=tuple(_evidence(resource, row, untold)))


def merged(old: RowProposal, new: RowProposal) -> RowProposal:
    """Two proposals for the same operation and type as one: what both say, or only one of them says; what they contradict is unexplained.

    A proposal is as sure as the less sure one.
    """
    if set(new.mutations) <= set(old.mutations):
        return old
    if old.row.actions != new.row.actions:
        actions, confidence = old.row.actions | new.row.actions, Confidence.RESOURCE
    else:
        actions, confidence = old.row.actions, max(old.row.confidence, new.row.confidence)
    contradicted = {
        name
        for name in old.row.attributes.keys() & new.row.attributes.keys()
        if old.row.attributes[name] != new.row.attributes[name]
    }
    attributes = {
        name: source
        for name, source in {**old.row.attributes, **new.row.attributes}.items()
        if name not in contradicted
    }
    shared = {name: source for name, source in old.row.identity.items() if new.row.identity.get(name) == source}
    unexplained = (old.row.unexplained | new.row.unexplained | contradicted) - attributes.keys()
    row = replace(
        old.row,
        actions=actions,
        confidence=Confidence.RESOURCE if unexplained else confidence,
        identity=shared or old.row.identity,
        attributes=attributes,
        unexplained=unexplained,
    )
    evidence = tuple(dict.fromkeys((*old.evidence, *new.evidence)))
    return RowProposal(row=row, mutations=(*old.mutations, *new.mutations), evidence=evidence)


def _named_alike(path: str, attribute: str) -> bool:
    """Whether the names say too that a parameter carries an attribute. Equal values alone may be chance, or chosen by the caller."""
    names = [folded(snake(each.rpartition(".")[2])) for each in (path, attribute)]
    return names[0].endswith(names[1]) or names[1].endswith(names[0])


def _evidence(resource: Observed, row: DerivedRow, untold: set[str]) -> Iterator[str]:
    by = ", ".join(f"{name} is its {source.attribute}" for name, source in sorted(row.identity.items()))
    yield f"The call names {resource.address}: {by}."
    if resource.after is None:
        yield f"{resource.address} does not exist any more."
    for name, source in sorted(row.attributes.items()):
        by_chance = "" if _named_alike(name, source.attribute) else " Their names are not alike, so it may be chance."
        yield f"{source.attribute} has the value of {name} now, and had another one before.{by_chance}"
    if row.unexplained:
        yield f"Nothing explains {', '.join(sorted(row.unexplained))}."
    if untold:
        yield f"Changed too, by this call or another: {', '.join(sorted(untold))}."


def _leaves(parameters: object, prefix: str = "") -> dict[str, Json]:
    """The values of the parameters by dotted path. A list is one value, and so is what is masked: it equals nothing."""
    found: dict[str, Json] = {}
    todo: list[tuple[str, object]] = [(prefix, parameters)]
    while todo and len(found) < _MOST_LEAVES:
        path, value = todo.pop()
        if isinstance(value, Mapping) and value and not is_masked(value):
            todo.extend((f"{path}.{name}" if path else str(name), item) for name, item in value.items())
        elif path and value is not None:
            found[path] = value  # type: ignore[assignment]  # recorded parameters are JSON
    return found


def _attribute_leaves(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """The values of the attributes by dotted path; a block that may stand once is a step of the path."""
    found: dict[str, Json] = {}
    todo: list[tuple[str, Json]] = [(name, value) for name, value in attributes.items() if name not in _BY_PROVIDER]
    while todo and len(found) < _MOST_LEAVES:
        path, value = todo.pop()
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
            value = value[0]
        if isinstance(value, Mapping) and value:
            todo.extend((f"{path}.{name}", item) for name, item in value.items())
        else:
            found[path] = value
    return found


def _changes(resource: Observed) -> Mapping[str, Json]:
    """The attributes that have another value now."""
    before, after = _attribute_leaves(resource.before), _attribute_leaves(resource.after or {})
    return {path: value for path, value in after.items() if before.get(path) != value}


def _identity(given: Mapping[str, Json], recorded: Mapping[str, Json]) -> dict[str, AttributeSource]:
    """Parameter → the identifying attribute whose recorded value it has. A parameter that may be several of them is the first."""
    names = [name for name in sorted(recorded) if name in _IDENTIFIES or name.endswith(_IDENTIFIES_ENDING)]
    own = [*(name for name in _IDENTIFIES if name in recorded), *(name for name in names if name not in _IDENTIFIES)]
    found: dict[str, AttributeSource] = {}
    for path, value in given.items():
        if "." in path or not isinstance(value, str) or not value:
            continue
        fitting = [name for name in own if recorded[name] == value]
        if fitting:
            found[path] = AttributeSource(attribute=fitting[0])
    is_own = any(source.attribute in _IDENTIFIES for source in found.values())
    return found if is_own or _says_all(found, recorded) else {}


def _says_all(found: Mapping[str, AttributeSource], recorded: Mapping[str, Json]) -> bool:
    """Whether the attributes make up the resource's id, where none is it: `cluster/service`."""
    text = str(recorded.get("id") or "")
    parts = {str(recorded.get(source.attribute)) for source in found.values()}
    return bool(text) and all(part in parts for part in text.replace(":", "/").replace(",", "/").split("/"))


def _attributes(
    given: Mapping[str, Json],
    identity: Mapping[str, AttributeSource],
    changes: Mapping[str, Json],
    before: Mapping[str, Json],
) -> dict[str, AttributeSource]:
    """Parameter → the changed attribute that has its value, where only one parameter and one attribute fit each other."""
    had = _attribute_leaves(before)
    fits = {
        path: [
            AttributeSource(attribute=name, form=form)
            for name, now in changes.items()
            if (form := _form(value, now)) is not None and _form(value, had.get(name)) is None
        ]
        for path, value in given.items()
        if path not in identity
    }
    chosen = {path: found[0] for path, found in fits.items() if len(found) == 1}
    taken = [source.attribute for source in chosen.values()]
    return {path: source for path, source in chosen.items() if taken.count(source.attribute) == 1}


def _form(given: Json, value: Json) -> ValueForm | None:
    """The form in which a parameter has the attribute's value; None if it has another one."""
    if given == value and isinstance(given, bool) == isinstance(value, bool):
        return ValueForm.SAME
    if isinstance(given, (bool, int, float)) and isinstance(value, str):
        return ValueForm.TEXT if _text(given) == value else None
    if isinstance(value, (bool, int, float)) and isinstance(given, str):
        return ValueForm.TEXT if _text(value) == given else None
    if isinstance(given, str) and isinstance(value, str):
        return _form_of_text(given, value)
    return None


def _form_of_text(given: str, value: str) -> ValueForm | None:
    if given.lower() == value.lower():
        return ValueForm.CASE
    try:
        if isinstance(parsed := json.loads(given), (dict, list)) and parsed == json.loads(value):
            return ValueForm.JSON
    except (ValueError, RecursionError):
        pass
    return ValueForm.BASE64 if base64.b64encode(value.encode()).decode() == given else None


def _text(value: float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
