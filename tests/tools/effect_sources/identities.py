"""Finds the parameters by which an operation names a resource of a kind, and the attribute that each of them is compared with."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.core.derived_rows import AttributeSource
from tests.tools.effect_sources.kinds import Kind
from tests.tools.effect_sources.operation_names import fold
from tests.tools.effect_sources.service_operations import ServiceOperation

_ANY_ARN = "resourcearn"
"""The parameter of tags. An attribute of this name is another resource's ARN."""
_GENERAL = ("arn", "id", "identifier", "name")
"""What identifying names end with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The parameters that identify a resource."""

    sources: Mapping[str, AttributeSource]
    certain: bool
    """Whether they are all that is needed, every call has them, and each has an attribute of its own."""


NOTHING = Identity(sources={}, certain=False)


def identity(operation: ServiceOperation, kind: Kind, attributes: frozenset[str], *, named: bool) -> Identity:
    """How the operation names the resource. `attributes` are those of the kind's Terraform type; `named`: the operation's noun is the kind's."""
    for names in (kind.identifier, kind.arn_variables):
        found = _by_names(operation, kind, names, named=named)
        if found:
            return _identity(operation, kind, attributes, found, own=_own(names, kind), complete=True)
    found = _by_arn(operation, kind, named=named)
    if found:
        return _identity(operation, kind, attributes, found, own="Arn", complete=True)
    found = _by_names(operation, kind, kind.arn_variables[-1:], named=named)
    return (
        _identity(operation, kind, attributes, found, own=kind.arn_variables[-1], complete=False) if found else NOTHING
    )


def _identity(
    operation: ServiceOperation,
    kind: Kind,
    attributes: frozenset[str],
    found: Mapping[str, str],
    *,
    own: str,
    complete: bool,
) -> Identity:
    on_tags = operation.name.startswith(("Tag", "Untag"))
    sources = {
        parameter: source
        for parameter, name in found.items()
        if (source := _source(parameter, name, kind, attributes, own=name == own, on_tags=on_tags)) is not None
    }
    return Identity(
        sources=sources, certain=complete and len(sources) == len(found) and set(found) <= operation.required
    )


def _own(names: tuple[str, ...], kind: Kind) -> str:
    """Which of the names is the resource's own; the others are those of what has it."""
    for name in names:
        stem = fold(name)
        for end in _GENERAL:
            stem = stem.removesuffix(end)
        if not stem or kind.noun.endswith(stem):
            return name
    return names[-1]


def _by_names(operation: ServiceOperation, kind: Kind, names: tuple[str, ...], *, named: bool) -> Mapping[str, str]:
    """Parameter → the identifying name that it gives, if the operation has a parameter for each of the names."""
    found: dict[str, str] = {}
    for name in names:
        spelled = _spellings(name, kind, own=name == _own(names, kind), named=named)
        parameters = [each for each in operation.parameters if each in operation.texts and fold(each) in spelled]
        required = [each for each in parameters if each in operation.required] or parameters
        if len(required) != 1 or required[0] in found:
            return {}
        found[required[0]] = name
    return found


def _spellings(name: str, kind: Kind, *, own: bool, named: bool) -> frozenset[str]:
    """The folded names of parameters that give this identifying name."""
    folded = fold(name)
    found = {folded}
    if own:
        if folded in _GENERAL:
            found = {f"{kind.noun}{folded}", *({folded} if named else ())}
        if folded.endswith(("name", "id", "identifier")) or folded == kind.noun:
            found |= {f"{kind.noun}{end}" for end in ("name", "id", "identifier")} | {kind.noun}
        if named and folded.startswith(kind.noun):
            found.add(folded.removeprefix(kind.noun))
    return frozenset(found - {""})


def _by_arn(operation: ServiceOperation, kind: Kind, *, named: bool) -> Mapping[str, str]:
    """The one required parameter that is the resource's ARN."""
    spelled = {f"{kind.noun}arn", *(("arn", "resourcearn") if named else ())}
    found = [
        each for each in operation.parameters if each in operation.texts & operation.required and fold(each) in spelled
    ]
    return {found[0]: "Arn"} if len(found) == 1 else {}


def _source(
    parameter: str, name: str, kind: Kind, attributes: frozenset[str], *, own: bool, on_tags: bool
) -> AttributeSource | None:
    """The attribute that the parameter's value is compared with; None if that is not certain.

    `own`: it names the resource, not what has it. `on_tags`: the operation only changes tags.
    """
    if not kind.resource_type.startswith("aws_"):
        by_name = fold(parameter).endswith("name")
        return AttributeSource(attribute=parameter if by_name and fold(name).endswith("id") else name)
    folded = fold(parameter)
    spelled = [each for each in attributes if fold(each) == folded]
    if len(spelled) == 1 and not (on_tags and folded == _ANY_ARN):
        return AttributeSource(attribute=spelled[0])
    if not own:
        shorter = [each for each in attributes if folded in {f"{fold(each)}{end}" for end in _GENERAL}]
        return AttributeSource(attribute=shorter[0]) if len(shorter) == 1 else None
    for end, attribute in (("arn", "arn"), ("name", "name"), ("identifier", "identifier"), ("url", "url")):
        if folded.endswith(end) and attribute in attributes:
            return AttributeSource(attribute=attribute)
    own_arns = [
        each for each in attributes if each.endswith("_arn") and kind.noun.endswith(fold(each.removesuffix("_arn")))
    ]
    if folded.endswith("arn") and len(own_arns) == 1:
        return AttributeSource(attribute=own_arns[0])
    if folded == kind.noun and "name" in attributes:
        return AttributeSource(attribute="name")
    by_id = folded.endswith(("id", "identifier", "arn")) and "id" in attributes
    return AttributeSource(attribute="id") if by_id else None
