"""The operations of DynamoDB. Writing items is an INVOKE of the table."""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.interpreter import block_of, interpret
from gateway.effects.naming import arn_of, name_or_arn
from gateway.effects.operation import CREATE, DELETE, INVOKE, Operation, Translate
from gateway.effects.partiql_statements import statements_of
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import ignored_if, recorded_list
from gateway.effects.values import NotUnderstood

_TABLE = "aws_dynamodb_table"
_on_table = partial(Operation, resource_type=_TABLE, identity={"TableName": name_or_arn("name", "table")})
_BY_ARN = {"ResourceArn": arn_of("table", "name")}
_KEYS: Mapping[str, str] = {"HASH": "hash_key", "RANGE": "range_key"}


def _key_schema(_target: Target, value: object) -> Mapping[str, Json]:
    keys: dict[str, Json] = {}
    for element in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(element, Mapping) or element.get("KeyType") not in _KEYS:
            raise NotUnderstood("a key schema in an unknown form")
        keys[_KEYS[str(element["KeyType"])]] = str(element["AttributeName"])
    return keys


def _index(parameter: str, attribute: str) -> Mapping[str, str | Translate]:
    return {parameter: attribute, f"{parameter}.IndexName": f"{attribute}.name", f"{parameter}.KeySchema": _key_schema}


def _global_index(parameter: str) -> Mapping[str, str | Translate]:
    return {
        **_index(parameter, _GLOBAL_INDEX),
        f"{parameter}.ProvisionedThroughput.ReadCapacityUnits": f"{_GLOBAL_INDEX}.read_capacity",
        f"{parameter}.ProvisionedThroughput.WriteCapacityUnits": f"{_GLOBAL_INDEX}.write_capacity",
    }


_GLOBAL_INDEX = "global_secondary_index"
_ATTRIBUTES: Mapping[str, str | Translate] = {
    "AttributeDefinitions": "attribute",
    "AttributeDefinitions.AttributeName": "attribute.name",
    "AttributeDefinitions.AttributeType": "attribute.type",
    "KeySchema": _key_schema,
    "ProvisionedThroughput.ReadCapacityUnits": "read_capacity",
    "ProvisionedThroughput.WriteCapacityUnits": "write_capacity",
    "SSESpecification.Enabled": "server_side_encryption.enabled",
    "SSESpecification.KMSMasterKeyId": "server_side_encryption.kms_key_arn",
    "SSESpecification.SSEType": ignored_if("KMS"),
    "Tags": set_tags,
    **_index("LocalSecondaryIndexes", "local_secondary_index"),
    **_global_index("GlobalSecondaryIndexes"),
}
_INDEX = Operation(resource_type=_TABLE, attributes=_global_index("Index"))


def _index_updates(target: Target, value: object) -> Mapping[str, Json]:
    """The recorded global indexes with the creations, updates and deletions of the call."""
    indexes = {
        str(index["name"]): index for index in recorded_list(target, _GLOBAL_INDEX) if isinstance(index, Mapping)
    }
    for update in value if isinstance(value, (list, tuple)) else [value]:
        match update:
            case {"Delete": {"IndexName": name, **rest}, **more} if not rest and not more:
                indexes.pop(str(name), None)
            case {"Create": index, **more} | {"Update": index, **more} if not more and isinstance(index, Mapping):
                changed = block_of(_INDEX, target, ("Index",), _GLOBAL_INDEX, index)
                indexes[str(index["IndexName"])] = {**indexes.get(str(index["IndexName"]), {}), **changed}
            case _:
                raise NotUnderstood("an index update in an unknown form")
    return {_GLOBAL_INDEX: list(indexes.values())}


def _batch(context: CallContext) -> tuple[Effect, ...]:
    """BatchWriteItem, in which the keys of a map name the tables."""
    context.allow_only("RequestItems", *_METRICS)
    tables = context.call.parameters.get("RequestItems")
    if not isinstance(tables, Mapping):
        raise NotUnderstood("requests that are not a map")
    return tuple(_table(context, str(name)).whole(INVOKE) for name in tables)


def _transaction(context: CallContext) -> tuple[Effect, ...]:
    """TransactWriteItems, in which every request names its table."""
    context.allow_only("TransactItems", "ClientRequestToken", *_METRICS)
    items = context.call.parameters.get("TransactItems")
    requests = [request for item in items for request in item.values()] if isinstance(items, (list, tuple)) else []
    return tuple(_table(context, str(request["TableName"])).whole(INVOKE) for request in requests)


def _statements(context: CallContext) -> tuple[Effect, ...]:
    """PartiQL, in which each statement names its table."""
    context.allow_only(*_STATEMENT)
    tables = dict.fromkeys(statement.table for statement in statements_of(context.call))
    return tuple(_table(context, name).whole(INVOKE) for name in tables)


def _table(context: CallContext, name: str) -> Target:
    return context.target(_TABLE, name_or_arn("name", "table")(context, name))


def _update(context: CallContext) -> tuple[Effect, ...]:
    """UpdateTable. Index updates change the recorded list of indexes, so they need a table that the state records."""
    if (
        context.call.parameters.get("GlobalSecondaryIndexUpdates")
        and not _table(context, context.text("TableName")).recorded
    ):
        raise NotUnderstood("index updates of a table that the state does not record")
    return interpret(_UPDATE, context)


def _definitions(target: Target, value: object) -> Mapping[str, Json]:
    """The recorded attribute definitions with those of the call: AWS keeps the definitions that the table's keys still need."""
    definitions = {str(item["name"]): item for item in recorded_list(target, "attribute") if isinstance(item, Mapping)}
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(item, Mapping) or set(item) != {"AttributeName", "AttributeType"}:
            raise NotUnderstood("an attribute definition in an unknown form")
        definitions[str(item["AttributeName"])] = {
            "name": str(item["AttributeName"]),
            "type": str(item["AttributeType"]),
        }
    return {"attribute": list(definitions.values())}


_UPDATE = _on_table(
    attributes={
        **{path: rule for path, rule in _ATTRIBUTES.items() if not path.startswith("AttributeDefinitions.")},
        "AttributeDefinitions": _definitions,
        "GlobalSecondaryIndexUpdates": _index_updates,
    },
    obliged=frozenset({"AttributeDefinitions", "ProvisionedThroughput"}),
    overwrites={"SSESpecification": {"server_side_encryption.kms_key_arn": ""}},
)
_ITEM = frozenset({
    "AttributeUpdates", "ConditionExpression", "ConditionalOperator", "Expected", "ExpressionAttributeNames",
    "ExpressionAttributeValues", "Item", "Key", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ReturnValues",
    "ReturnValuesOnConditionCheckFailure", "UpdateExpression",
})  # fmt: skip
_INVOKED = _on_table(action=INVOKE, content=_ITEM)
_STATEMENT = frozenset({
    "ClientRequestToken", "ConsistentRead", "Limit", "NextToken", "Parameters", "ReturnConsumedCapacity",
    "ReturnValuesOnConditionCheckFailure", "Statement", "Statements", "TransactStatements",
})  # fmt: skip
_PARTIQL = Operation(resource_type=_TABLE, action=INVOKE, handler=_statements, content=_STATEMENT)
_METRICS = ("ReturnConsumedCapacity", "ReturnItemCollectionMetrics")

OPERATIONS: Mapping[str, Operation] = {
    "CreateTable": _on_table(action=CREATE, attributes=_ATTRIBUTES),
    "DeleteTable": _on_table(action=DELETE),
    "UpdateTable": _on_table(attributes=_UPDATE.attributes, handler=_update),
    "UpdateTimeToLive": _on_table(
        attributes={
            "TimeToLiveSpecification.AttributeName": "ttl.attribute_name",
            "TimeToLiveSpecification.Enabled": "ttl.enabled",
        },
        obliged=frozenset({"TimeToLiveSpecification"}),
    ),
    "UpdateContinuousBackups": _on_table(
        attributes={
            "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": "point_in_time_recovery.enabled",
            "PointInTimeRecoverySpecification.RecoveryPeriodInDays": "point_in_time_recovery.recovery_period_in_days",
        },
        defaults={"point_in_time_recovery.recovery_period_in_days": 35},
    ),
    **tag_rows(_TABLE, _BY_ARN),
    "PutItem": _INVOKED,
    "UpdateItem": _INVOKED,
    "DeleteItem": _INVOKED,
    "BatchWriteItem": Operation(
        resource_type=_TABLE, action=INVOKE, handler=_batch, content=frozenset({"RequestItems"})
    ),
    "TransactWriteItems": Operation(
        resource_type=_TABLE, action=INVOKE, handler=_transaction, content=frozenset({"TransactItems"})
    ),
    "ExecuteStatement": _PARTIQL,
    "BatchExecuteStatement": _PARTIQL,
    "ExecuteTransaction": _PARTIQL,
}
