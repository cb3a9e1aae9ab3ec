"""The operations of Kinesis Data Streams. Writing records is an INVOKE of the stream."""

from collections.abc import Mapping

from gateway.effects.naming import arn_of, plain
from gateway.effects.operation import Operation, controls
from gateway.model.mutation import EffectAction

_PUT = Operation(
    resource_type="aws_kinesis_stream",
    identity={"StreamName": plain("name"), "StreamARN": arn_of("stream", "name")},
    action=EffectAction.INVOKE,
    controls=controls("DryRun"),
    content=frozenset({"Data", "ExplicitHashKey", "PartitionKey", "Records", "SequenceNumberForOrdering"}),
)

OPERATIONS: Mapping[str, Operation] = {"PutRecord": _PUT, "PutRecords": _PUT}
