"""The operations of Amazon Data Firehose. Writing records is an INVOKE of the delivery stream."""

from collections.abc import Mapping

from gateway.effects.naming import plain
from gateway.effects.operation import Operation
from gateway.model.mutation import EffectAction

_PUT = Operation(
    resource_type="aws_kinesis_firehose_delivery_stream",
    identity={"DeliveryStreamName": plain("name")},
    action=EffectAction.INVOKE,
    content=frozenset({"Record", "Records"}),
)

OPERATIONS: Mapping[str, Operation] = {"PutRecord": _PUT, "PutRecordBatch": _PUT}
