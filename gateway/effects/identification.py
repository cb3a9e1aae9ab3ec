"""Finds the declared resource that a call names, in each form that AWS accepts: a name, an id, an ARN, the end of an ARN, a URL.

A form counts only if the state records it, so nothing is taken apart by guesswork. An ARN of another account or region names nothing of ours.
"""

import re
from collections.abc import Mapping, Sequence
from string import Formatter

from gateway.core.derived_rows import DerivedRow, ValueForm
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext
from gateway.effects.values import NotUnderstood
from gateway.terraform.resource_index import as_text

_WORD = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[:/]")
_RESOURCE = 5
"""The place of the resource in an ARN, after its account."""


def name_in_arn(context: CallContext, resource_type: str, attribute: str, arn: str) -> str:
    """The value of `attribute` of the one recorded resource that has this ARN. Raises `NotUnderstood`."""
    found = resources_named(context, resource_type, attribute, arn)
    value = as_text(recorded_value(context, found[0], attribute)) if len(found) == 1 else ""
    if not value:
        raise NotUnderstood(f"an ARN that no declared {resource_type} has")
    return value


def resources_named(context: CallContext, resource_type: str, attribute: str, text: str) -> tuple[str, ...]:
    """The addresses of the recorded resources of this type that the text may mean, where the call goes; several if it is ambiguous.

    A text that is no ARN or URL counts as the value of `attribute` alone: who may choose the name of one resource could give it the id of
    another. Raises `NotUnderstood` for an ARN of another account, region or partition.
    """
    if text.startswith("arn:"):
        context.require_arn_here(text)
        found = _having(context, resource_type, (attribute, "arn", "id"), text)
    elif "://" in text:
        found = _having(context, resource_type, (attribute, "url", "id"), text)
    elif found := _having(context, resource_type, (attribute,), text):
        found += _having(context, resource_type, ("id", "name"), text)
    elif (last := _PART.split(text)[-1]) != text:
        named = _having(context, resource_type, (attribute, "id", "name"), last)
        found = [address for address in named if text in ends_of_arn(as_text(recorded_value(context, address, "arn")))]
    return tuple(address for address in dict.fromkeys(found) if context.is_here(address))


def _having(context: CallContext, resource_type: str, attributes: Sequence[str], text: str) -> list[str]:
    find = context.inventory.find
    return [address for name in dict.fromkeys(attributes) for address in find(resource_type, name, text)]


def ends_of_arn(arn: str) -> frozenset[str]:
    """The texts that stand for a whole ARN: its resource (`cluster/a`), that with the account in front, and that with the region."""
    parts = arn.split(":", _RESOURCE)
    return frozenset(":".join(parts[start:]) for start in range(3, len(parts)))


def recorded_value(context: CallContext, address: str, attribute: str) -> Json:
    """The recorded value of an attribute; None if there is none."""
    return AttributePath(attribute).value_at(context.inventory.recorded(address) or {})


def names_fully(context: CallContext, recorded: Mapping[str, Json], given: Sequence[str]) -> bool:
    """Whether the texts of a call say all that the resource's id consists of, so that no other resource could be meant.

    The id `a1b2/prod` of a stage is not said by that of its API, `a1b2`, alone. Account and region always belong to it.
    """
    own = as_text(recorded.get("id"))
    if own and own in given:
        return True
    whole = {as_text(recorded.get("url")), as_text(arn := recorded.get("arn")), *ends_of_arn(as_text(arn))} - {""}
    if not whole.isdisjoint(given):
        return True
    words = set(_WORD.findall(own))
    said = {word for text in (*given, context.account, context.call.region) for word in _WORD.findall(text)}
    return bool(words) and words <= said


def id_of_parts(row: DerivedRow, given: Mapping[str, str]) -> str:
    """The id that the parameters make together, by the row's `id_form`. Raises `NotUnderstood` if one is missing, or they may make another's id."""
    parts = [(text, path) for text, path, _, _ in Formatter().parse(row.id_form)]
    places = [path for _, path in parts if path]
    if any(not given.get(path) for path in places):
        raise NotUnderstood("the call does not say which")
    between = frozenset("".join(text for text, _ in parts))
    known_by_id_alone = [path for path in places if row.identity[path].form is ValueForm.PART]
    if len(known_by_id_alone) > 1 and not all(between.isdisjoint(given[path]) for path in places):
        raise NotUnderstood(
            "a name in the call has a sign that divides the parts of an id, so another resource may be meant"
        )
    return "".join(f"{text}{given[path] if path else ''}" for text, path in parts)
