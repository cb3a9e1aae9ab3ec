"""The class of a call whose statements decide what it does: PartiQL for DynamoDB."""

from gateway.effects.partiql import statements_of
from gateway.model.mutation import Call, CallClass


def class_of_call(call: Call, by_operation: CallClass) -> CallClass:
    """READ if every statement only reads, DATA if all are understood, else the class of the operation."""
    statements = statements_of(call) if by_operation is CallClass.EXECUTE else ()
    if not statements:
        return by_operation
    return CallClass.READ if all(statement.reads for statement in statements) else CallClass.DATA
