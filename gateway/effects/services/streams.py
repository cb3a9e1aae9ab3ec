"""The operations of EventBridge, Data Firehose, Kinesis and Timestream that write records: each is an INVOKE of the stream, bus or table.

Of Kinesis also those that switch a stream's metrics and its encryption on, which the provider's trace does not show.
"""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json, is_list
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import arn_of, name_or_arn, plain
from gateway.effects.operation import INVOKE, Operation, controls
from gateway.effects.values import NotUnderstood

_BUS = "aws_cloudwatch_event_bus"
_DEFAULT = "default"
"""The bus of an event that names none."""


def _put(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("Entries")
    entries = context.call.parameters.get("Entries")
    if not isinstance(entries, (list, tuple)) or not all(isinstance(entry, Mapping) for entry in entries):
        raise NotUnderstood("entries in an unknown form")
    named = dict.fromkeys(str(entry.get("EventBusName") or _DEFAULT) for entry in entries)
    identify = name_or_arn("name", "event-bus")
    return tuple(context.target(_BUS, identify(context, name)).whole(INVOKE) for name in named)


EVENT_BUSES: Mapping[str, Operation] = {
    "PutEvents": Operation(resource_type=_BUS, action=INVOKE, handler=_put, content=frozenset({"Entries"}))
}


_PUT = Operation(
    resource_type="aws_kinesis_firehose_delivery_stream",
    identity={"DeliveryStreamName": plain("name")},
    action=INVOKE,
    content=frozenset({"Record", "Records"}),
)

FIREHOSE: Mapping[str, Operation] = {"PutRecord": _PUT, "PutRecordBatch": _PUT}


_on_stream = partial(
    Operation,
    resource_type="aws_kinesis_stream",
    identity={"StreamName": plain("name"), "StreamARN": arn_of("stream", "name")},
    one_of=frozenset({"StreamName", "StreamARN"}),
)
_METRICS = "shard_level_metrics"


def _with_metrics(target: Target, given: object) -> Mapping[str, Json]:
    return {_METRICS: [*_metrics(target), *(name for name in _names(given) if name not in _metrics(target))]}


def _without_metrics(target: Target, given: object) -> Mapping[str, Json]:
    return {_METRICS: [name for name in _metrics(target) if name not in _names(given)]}


def _metrics(target: Target) -> list[Json]:
    recorded = target.recorded.get(_METRICS)
    return list(recorded) if is_list(recorded) else []


def _names(given: object) -> list[str]:
    """The metrics that a call names. Raises `NotUnderstood`, also for ALL, which stands for others."""
    if not isinstance(given, (list, tuple)) or "ALL" in given:
        raise NotUnderstood("metrics that are not named")
    return [str(name) for name in given]


_KINESIS_PUT = _on_stream(
    action=INVOKE,
    controls=controls("DryRun"),
    content=frozenset({"Data", "ExplicitHashKey", "PartitionKey", "Records", "SequenceNumberForOrdering"}),
)

KINESIS: Mapping[str, Operation] = {
    "PutRecord": _KINESIS_PUT,
    "PutRecords": _KINESIS_PUT,
    "EnableEnhancedMonitoring": _on_stream(attributes={"ShardLevelMetrics": _with_metrics}),
    "DisableEnhancedMonitoring": _on_stream(attributes={"ShardLevelMetrics": _without_metrics}),
    "StartStreamEncryption": _on_stream(attributes={"EncryptionType": "encryption_type", "KeyId": "kms_key_id"}),
}


TIMESTREAM: Mapping[str, Operation] = {
    "WriteRecords": Operation(
        resource_type="aws_timestreamwrite_table",
        identity={"DatabaseName": plain("database_name"), "TableName": plain("table_name")},
        action=INVOKE,
        content=frozenset({"CommonAttributes", "Records"}),
    )
}
