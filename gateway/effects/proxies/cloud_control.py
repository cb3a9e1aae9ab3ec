"""Unpacks Cloud Control: the call that creates, changes or deletes one resource of a CloudFormation type."""

from collections.abc import Iterator

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carrier, Parcel
from gateway.effects.proxies.documents import json_list, json_object
from gateway.effects.proxies.resource_types import kind_of, unknown_step
from gateway.effects.proxies.templates import carried, made
from gateway.effects.values import NotUnderstood

_PARAMETERS = ("ClientToken", "DesiredState", "Identifier", "PatchDocument", "RoleArn", "TypeName")


def of_creation(context: CallContext) -> Iterator[Parcel]:
    """The calls that create the resource. Raises `NotUnderstood`, `errors.CallTooLarge`."""
    context.allow_only(*_PARAMETERS)
    properties = json_object(context.text("DesiredState"), "the desired state")
    yield from made(context, context.text("TypeName"), properties, now=True)


def of_change(context: CallContext) -> Iterator[Parcel]:
    """The calls that change the resource. Raises `NotUnderstood` unless the patch gives values to whole properties."""
    kind, identifier = context.text("TypeName"), context.text("Identifier")
    if (model := kind_of(kind)) is None:
        yield from carried(context, [unknown_step("Update", kind, {})], now=True)
        return
    context.allow_only(*_PARAMETERS)
    properties: dict[str, object] = {}
    for step in json_list(context.text("PatchDocument"), "the patch"):
        path = step.get("path") if isinstance(step, dict) else None
        if not isinstance(path, str) or path.count("/") != 1 or not path.startswith("/") or "~" in path:
            raise NotUnderstood("a patch of a part of a property")
        if step.get("op") not in ("add", "replace") or "value" not in step or path[1:] in properties:
            raise NotUnderstood("a patch that does not only give values to properties")
        properties[path[1:]] = step["value"]
    yield from carried(context, model.change(identifier, properties), now=True)


def of_deletion(context: CallContext) -> Iterator[Parcel]:
    """The call that deletes the resource. Raises `NotUnderstood`."""
    kind, identifier = context.text("TypeName"), context.text("Identifier")
    if (model := kind_of(kind)) is None:
        yield from carried(context, [unknown_step("Delete", kind, {})], now=True)
        return
    context.allow_only(*_PARAMETERS)
    yield from carried(context, model.deletion(identifier), now=True)


CREATED = Carrier(unpack=of_creation, own=False)
CHANGED = Carrier(unpack=of_change, own=False)
DELETED = Carrier(unpack=of_deletion, own=False)
