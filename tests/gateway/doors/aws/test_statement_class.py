"""PartiQL is what its statements do."""

from typing import Any

import pytest

from gateway.doors.aws.statement_class import class_of_call
from gateway.model.mutation import Call, CallClass

SELECT, DELETE, STRANGE = ({"Statement": text} for text in ("SELECT * FROM T", "DELETE FROM T WHERE k = 1", "UNLOAD x"))


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("ExecuteStatement", SELECT, CallClass.READ),
        ("ExecuteStatement", DELETE, CallClass.DATA),
        ("ExecuteStatement", STRANGE, CallClass.EXECUTE),
        ("BatchExecuteStatement", {"Statements": [SELECT, SELECT]}, CallClass.READ),
        ("BatchExecuteStatement", {"Statements": [SELECT, DELETE]}, CallClass.DATA),
        ("BatchExecuteStatement", {"Statements": [SELECT, STRANGE]}, CallClass.EXECUTE),
        ("ExecuteTransaction", {"TransactStatements": [DELETE]}, CallClass.DATA),
        ("ExecuteTransaction", {}, CallClass.EXECUTE),
    ],
)
def test_the_strictest_statement_decides(operation: str, parameters: dict[str, Any], expected: CallClass) -> None:
    call = Call(service="dynamodb", operation=operation, parameters=parameters)
    assert class_of_call(call, CallClass.EXECUTE) is expected


def test_other_statements_are_what_their_operation_is() -> None:
    call = Call(service="rds-data", operation="ExecuteStatement", parameters=SELECT)
    assert class_of_call(call, CallClass.EXECUTE) is CallClass.EXECUTE


def test_no_other_class_is_softened() -> None:
    call = Call(service="dynamodb", operation="ExecuteStatement", parameters=SELECT)
    assert class_of_call(call, CallClass.CREDENTIAL) is CallClass.CREDENTIAL
