"""One item of a table is written as the plan says, and no other item, and not otherwise."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.plans.call_match import CallMatch
from gateway.plans.session_calls import match_of
from tests.gateway.plans.test_provider_forms import called
from tests.gateway.plans.test_row_match import change, session_call
from tests.kit import nouns

ITEM = "aws_dynamodb_table_item"
OLD: Json = {"id": {"S": "one"}, "a": {"S": "first"}, "b": {"N": "1"}}
NEW: Json = {"id": {"S": "one"}, "a": {"S": "second"}}
KEY = {"id": {"S": "one"}}


def written(operation: str, action: PlannedAction, item: Json = None, **parameters: Any) -> CallMatch:
    """How a call that writes an item of the table `bare` fits the plan of one item."""
    values = {} if action is PlannedAction.DELETE else {"item": json.dumps(item or NEW), "table_name": "bare"}
    planned = change("seed", action, ITEM, values=values)
    table = nouns.effect(
        "aws_dynamodb_table.bare", "*", None, resource_type="aws_dynamodb_table", action=EffectAction.INVOKE
    )
    asked = session_call(changes=(planned,), call_class=CallClass.DATA, **{"TableName": "bare", **parameters})
    recorded: dict[str, Json] = {"table_name": "bare", "hash_key": "id", "range_key": "", "item": json.dumps(OLD)}
    state = {} if action is PlannedAction.CREATE else {"seed": recorded}
    return match_of(replace(called(asked, "dynamodb", operation, **state), effects=(table,)))


@pytest.mark.parametrize(
    ("parameters", "passes"),
    [
        ({"Item": NEW}, True),
        ({"Item": OLD}, False),
        ({"Item": NEW, "TableName": "other"}, False),
        ({"Item": NEW, "ReturnValues": "ALL_OLD"}, False),
        ({}, False),
    ],
)
def test_a_new_item_is_the_planned_one(parameters: dict[str, Any], *, passes: bool) -> None:
    assert bool(written("PutItem", PlannedAction.CREATE, **parameters).uses) is passes


PUT = {"a": {"Action": "PUT", "Value": {"S": "second"}}}


@pytest.mark.parametrize(
    ("parameters", "passes"),
    [
        ({"Key": KEY, "AttributeUpdates": PUT}, True),
        ({"Key": KEY, "AttributeUpdates": {**PUT, "b": {"Action": "DELETE"}}}, True),
        ({"Key": {"id": {"S": "two"}}, "AttributeUpdates": PUT}, False),
        ({"Key": KEY, "AttributeUpdates": {"a": {"Action": "PUT", "Value": {"S": "third"}}}}, False),
        ({"Key": KEY, "AttributeUpdates": {"a": {"Action": "DELETE"}}}, False),
        ({"Key": KEY, "AttributeUpdates": {"c": {"Action": "PUT", "Value": {"S": "second"}}}}, False),
        ({"Key": KEY, "AttributeUpdates": {"c": {"Action": "DELETE"}}}, False),
        ({"Key": KEY}, False),
        ({"Key": KEY, "AttributeUpdates": PUT, "TableName": "other"}, False),
    ],
)
def test_an_item_is_changed_as_planned(parameters: dict[str, Any], *, passes: bool) -> None:
    assert bool(written("UpdateItem", PlannedAction.UPDATE, **parameters).uses) is passes


def test_an_item_is_deleted_by_its_key_and_no_other() -> None:
    assert written("DeleteItem", PlannedAction.DELETE, Key=KEY).uses
    assert written("DeleteItem", PlannedAction.DELETE, Key={"id": {"S": "two"}}).objection
    assert written("DeleteItem", PlannedAction.UPDATE, Key=KEY).objection
