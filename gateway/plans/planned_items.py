"""Matches a call that writes one item of a DynamoDB table with the planned item: the same table and key, and each attribute as the plan has it."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Final

from gateway.core.model.json import Json, is_document, to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan_session import PlanUse, SessionChange
from gateway.plans.call_match import CallMatch, SessionCall, as_planned, fits_direction, most_uses
from gateway.plans.planned_values import PlannedResource

_ITEM: Final = "aws_dynamodb_table_item"
_CALLS: Final[Mapping[str, tuple[EffectAction, frozenset[str]]]] = {
    "dynamodb:PutItem": (
        EffectAction.CREATE,
        frozenset({"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames"}),
    ),
    "dynamodb:UpdateItem": (EffectAction.SET, frozenset({"TableName", "Key", "AttributeUpdates"})),
    "dynamodb:DeleteItem": (EffectAction.DELETE, frozenset({"TableName", "Key"})),
}
"""Operation → what it does to a planned item, and the parameters by which the provider does so."""


def writes_item(asked: SessionCall) -> bool:
    """Whether the call writes one item, and the plan changes items."""
    return asked.operation in _CALLS and any(each.resource_type == _ITEM for each in asked.session.changes)


def by_item(asked: SessionCall) -> CallMatch:
    """The match of the call with the one planned item that it writes as the plan says."""
    action, parameters = _CALLS[asked.operation]
    if not asked.call.parameters.keys() <= parameters:
        return CallMatch(objection="it has parameters with which Terraform never writes an item")
    for change in asked.session.changes:
        is_one = change.resource_type == _ITEM and fits_direction(change, action)
        is_one = is_one and asked.is_here(change) and asked.is_recorded(change, action)
        if is_one and asked.has_left(change, action, Counter()) and _writes(asked, change, action):
            use = PlanUse(address=change.address, action=action.value, most=most_uses(change, action))
            return CallMatch(effects=as_planned(asked, change, action), uses=(use,), row="item")
    return CallMatch(objection="the plan does not write this item so")


def _writes(asked: SessionCall, change: SessionChange, action: EffectAction) -> bool:
    given, resource = asked.call.parameters, asked.resource(change)
    before, after = _item(resource.recorded.get("item")), _item(resource.after.get("item"))
    if given.get("TableName") not in resource.known("table_name"):
        return False
    if action is EffectAction.CREATE:
        return resource.is_free("item") or (bool(after) and to_json(given.get("Item")) == after)
    key = _key(resource, before)
    if not key or to_json(given.get("Key")) != key:
        return False
    return action is EffectAction.DELETE or _updates(to_json(given.get("AttributeUpdates")), before, after, key)


def _updates(given: Json, before: Mapping[str, Json], after: Mapping[str, Json], key: Mapping[str, Json]) -> bool:
    """Whether each update puts what the plan has, or takes out what it has no more."""
    if not isinstance(given, Mapping) or not given or not after or not key.keys().isdisjoint(given):
        return False
    return all(
        each == {"Action": "PUT", "Value": after[name]}
        if name in after
        else name in before and isinstance(each, Mapping) and each.get("Action") == "DELETE" and not each.get("Value")
        for name, each in given.items()
    )


def _item(text: Json) -> Mapping[str, Json]:
    found = json.loads(text) if isinstance(text, str) and is_document(text) else None
    return found if isinstance(found, Mapping) else {}


def _key(resource: PlannedResource, item: Mapping[str, Json]) -> Mapping[str, Json]:
    """The key of the recorded item; empty if a part of it is not known."""
    names = [str(name) for name in (resource.recorded.get(each) for each in ("hash_key", "range_key")) if name]
    return {name: item[name] for name in names} if all(name in item for name in names) else {}
