"""The operations of Timestream. Writing records is an INVOKE of the table."""

from collections.abc import Mapping

from gateway.effects.naming import plain
from gateway.effects.operation import Operation
from gateway.model.mutation import EffectAction

OPERATIONS: Mapping[str, Operation] = {
    "WriteRecords": Operation(
        resource_type="aws_timestreamwrite_table",
        identity={"DatabaseName": plain("database_name"), "TableName": plain("table_name")},
        action=EffectAction.INVOKE,
        content=frozenset({"CommonAttributes", "Records"}),
    ),
}
