"""Finds the declared resource that a call names, in each form that AWS accepts: a name, an id, an ARN, the end of an ARN, a URL.

A form counts only if the state records it, so nothing is taken apart by guesswork. An ARN of another account or region names nothing of ours.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext
from gateway.effects.values import NotUnderstood
from gateway.terraform.resource_index import as_text

_IDENTIFYING = ("id", "arn", "name", "url")
"""Attributes that identify a resource of any type, beside the one that a row names."""
_PART_OF_ARN = re.compile(r"[^:/]+$")
_WORD = re.compile(r"[A-Za-z0-9]+")


def name_in_arn(context: CallContext, resource_type: str, attribute: str, arn: str) -> str:
    """The value of `attribute` of the one recorded resource that has this ARN. Raises `NotUnderstood`."""
    found = resources_named(context, resource_type, attribute, arn)
    value = as_text(recorded_value(context, found[0], attribute)) if len(found) == 1 else ""
    if not value:
        raise NotUnderstood(f"an ARN that no declared {resource_type} has")
    return value


def resources_named(context: CallContext, resource_type: str, attribute: str, text: str) -> tuple[str, ...]:
    """The addresses of the recorded resources of this type that the text may mean, where the call goes; several if it is ambiguous.

    Raises `NotUnderstood` for an ARN of another account, region or partition.
    """
    if text.startswith("arn:"):
        context.require_arn_here(text)
    places = dict.fromkeys((attribute, *_IDENTIFYING))
    found = [address for place in places for address in context.inventory.find(resource_type, place, text)]
    if not found and (":" in text or "/" in text) and not text.startswith("arn:") and "://" not in text:
        found = list(_by_end_of_arn(context, resource_type, places, text))
    return tuple(address for address in dict.fromkeys(found) if context.is_here(address))


def _by_end_of_arn(context: CallContext, resource_type: str, places: Iterable[str], text: str) -> Iterable[str]:
    """The resources whose ARN ends with the text, from a boundary on: `cluster/a`, `123456789012:function:f`."""
    last = _PART_OF_ARN.search(text)
    for place in places if last else ():
        for address in context.inventory.find(resource_type, place, last[0] if last else ""):
            arn = as_text(recorded_value(context, address, "arn"))
            if arn.endswith((f":{text}", f"/{text}")):
                yield address


def recorded_value(context: CallContext, address: str, attribute: str) -> Json:
    """The recorded value of an attribute; None if there is none."""
    return AttributePath(attribute).value_at(context.inventory.recorded(address) or {})


def names_fully(context: CallContext, recorded: Mapping[str, Json], given: Sequence[str]) -> bool:
    """Whether the texts of a call say all that the resource's id consists of, so that no other resource could be meant.

    The id `a1b2/prod` of a stage is not said by that of its API, `a1b2`, alone. Account and region always belong to it.
    """
    own = {as_text(recorded.get(name)) for name in ("id", "arn", "url")} - {""}
    if own & set(given):
        return True
    words = set(_WORD.findall(as_text(recorded.get("id"))))
    said = {word for text in (*given, context.account, context.call.region) for word in _WORD.findall(text)}
    return bool(words) and words <= said
