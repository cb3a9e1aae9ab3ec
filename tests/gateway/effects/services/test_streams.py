"""Events of EventBridge."""

from collections.abc import Callable
from typing import Any

import pytest

BUS = {"aws_cloudwatch_event_bus.b": {"name": "b"}}
EVENT = {"Source": "s", "DetailType": "t", "Detail": "{}"}


def test_events_invoke_every_bus_they_are_put_on(effects_of: Callable[..., Any]) -> None:
    entries = [EVENT, {**EVENT, "EventBusName": "b"}, {**EVENT, "EventBusName": "b"}]
    found = effects_of("events", "PutEvents", {"Entries": entries}, BUS)
    assert [(effect.address, effect.action) for effect in found] == [
        ("aws_cloudwatch_event_bus{name=default}", "invoke"),
        ("aws_cloudwatch_event_bus.b", "invoke"),
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        {"Entries": []},
        {"Entries": "x"},
        {"Entries": [7]},
        {"Entries": [EVENT], "EndpointId": "another.region"},
        {"Entries": [{**EVENT, "EventBusName": "arn:aws:events:eu-west-1:999999999999:event-bus/b"}]},
    ],
)
def test_what_may_go_elsewhere_is_not_understood(effects_of: Callable[..., Any], parameters: dict[str, Any]) -> None:
    assert effects_of("events", "PutEvents", parameters, BUS) == ()


STREAM = {"aws_kinesis_firehose_delivery_stream.f": {"name": "f"}}


def test_records_invoke_their_delivery_stream(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "firehose", "PutRecordBatch", {"DeliveryStreamName": "f", "Records": [{"Data": b"x"}]}, STREAM
    )
    assert (effect.address, effect.action) == ("aws_kinesis_firehose_delivery_stream.f", "invoke")


def test_an_unknown_parameter_is_not_understood(effects_of: Callable[..., Any]) -> None:
    assert effects_of("firehose", "PutRecord", {"DeliveryStreamName": "f", "Elsewhere": "x"}, STREAM) == ()


STREAM_OF_KINESIS = {"aws_kinesis_stream.s": {"name": "s"}}
RECORD = {"Data": b"x", "PartitionKey": "k"}


@pytest.mark.parametrize(
    "named", [{"StreamName": "s"}, {"StreamARN": "arn:aws:kinesis:eu-west-1:123456789012:stream/s"}]
)
def test_a_record_invokes_its_stream(effects_of: Callable[..., Any], named: dict[str, str]) -> None:
    (effect,) = effects_of("kinesis", "PutRecord", {**named, **RECORD}, STREAM_OF_KINESIS)
    assert (effect.address, effect.action, effect.value) == ("aws_kinesis_stream.s", "invoke", None)


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"StreamId": "i"},
        {"StreamName": "s", "StreamARN": "arn:aws:kinesis:eu-west-1:123456789012:stream/other"},
        {"StreamARN": "arn:aws:kinesis:eu-west-1:999999999999:stream/s"},
        {"StreamName": "arn:aws:kinesis:eu-west-1:999999999999:stream/s"},
    ],
)
def test_another_stream_is_not_this_one(effects_of: Callable[..., Any], named: dict[str, str]) -> None:
    found = effects_of("kinesis", "PutRecord", {**named, **RECORD}, STREAM_OF_KINESIS)
    assert found == ()


TABLE = {"aws_timestreamwrite_table.t": {"database_name": "d", "table_name": "t"}}


def test_records_invoke_their_table(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "timestream-write", "WriteRecords", {"DatabaseName": "d", "TableName": "t", "Records": []}, TABLE
    )
    assert (effect.address, effect.action) == ("aws_timestreamwrite_table.t", "invoke")


def test_both_names_are_needed(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("timestream-write", "WriteRecords", {"DatabaseName": "other", "TableName": "t"}, TABLE)
    assert not effect.declared


def test_all_metrics_of_a_stream_are_named(effects_of: Callable[..., Any]) -> None:
    stream = {"aws_kinesis_stream.s": {"name": "s", "shard_level_metrics": ["IncomingBytes"]}}
    more = {"StreamName": "s", "ShardLevelMetrics": ["IncomingBytes", "OutgoingBytes"]}
    (effect,) = effects_of("kinesis", "EnableEnhancedMonitoring", more, stream)
    assert effect.value == ["IncomingBytes", "OutgoingBytes"]
    assert effects_of("kinesis", "EnableEnhancedMonitoring", {**more, "ShardLevelMetrics": ["ALL"]}, stream) == ()
