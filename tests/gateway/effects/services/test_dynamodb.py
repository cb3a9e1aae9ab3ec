"""Tables, their indexes, and their items."""

from collections.abc import Callable
from typing import Any

TABLE = {
    "aws_dynamodb_table.t": {
        "name": "t",
        "attribute": [{"name": "p", "type": "S"}],
        "global_secondary_index": [{"name": "by-p", "hash_key": "p", "read_capacity": 1}],
    }
}


def update(*updates: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "t", "GlobalSecondaryIndexUpdates": list(updates)}


def test_indexes_start_from_the_recorded_ones(effects_of: Callable[..., Any]) -> None:
    more = {
        "IndexName": "by-q",
        "KeySchema": [{"AttributeName": "q", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    faster = {"IndexName": "by-p", "ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 2}}
    (effect,) = effects_of("dynamodb", "UpdateTable", update({"Create": more}, {"Update": faster}), TABLE)
    assert effect.value == [
        {"name": "by-p", "hash_key": "p", "read_capacity": 9, "write_capacity": 2},
        {"name": "by-q", "hash_key": "q", "projection_type": "ALL"},
    ]
    (deleted,) = effects_of("dynamodb", "UpdateTable", update({"Delete": {"IndexName": "by-p"}}), TABLE)
    assert deleted.value == []


def test_index_updates_of_an_unknown_table_are_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("dynamodb", "UpdateTable", update({"Delete": {"IndexName": "by-p"}}), {}) == ()


def test_attribute_definitions_join_the_recorded_ones(effects_of: Callable[..., Any]) -> None:
    definitions = {"TableName": "t", "AttributeDefinitions": [{"AttributeName": "q", "AttributeType": "N"}]}
    (effect,) = effects_of("dynamodb", "UpdateTable", definitions, TABLE)
    assert effect.value == [{"name": "p", "type": "S"}, {"name": "q", "type": "N"}]


def test_an_index_in_place_of_a_table_is_not_understood(effects_of: Callable[..., Any]) -> None:
    index = "arn:aws:dynamodb:eu-west-1:123456789012:table/t/index/by-p"
    assert effects_of("dynamodb", "PutItem", {"TableName": index, "Item": {}}, TABLE) == ()


def test_replicas_are_not_understood(effects_of: Callable[..., Any]) -> None:
    replica = {"TableName": "t", "ReplicaUpdates": [{"Create": {"RegionName": "us-east-1"}}]}
    assert effects_of("dynamodb", "UpdateTable", replica, TABLE) == ()
