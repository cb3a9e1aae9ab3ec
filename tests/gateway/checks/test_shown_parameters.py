"""Few parameters are shown to policies, as JSON, and none of them can hold a secret."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.checks.shown_parameters import _SHOWN, shown_parameters
from gateway.model.mutation import Call
from gateway.service_models import ServiceModels


def shown(service: str, operation: str, **parameters: Any) -> Any:
    return shown_parameters(Call(service=service, operation=operation, parameters=parameters))


def test_what_is_listed_and_given_is_shown_as_json() -> None:
    until = datetime(2120, 1, 1, tzinfo=UTC)
    given = shown("s3", "PutObject", ObjectLockMode="COMPLIANCE", ObjectLockRetainUntilDate=until, Body=b"hunter2")
    assert given == {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": "2120-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("service", "operation"), [("rds", "ModifyDBInstance"), ("lambda", "Invoke"), ("ssm", "PutParameter"), ("x", "Y")]
)
def test_of_other_operations_nothing_is_shown(service: str, operation: str) -> None:
    assert shown(service, operation, MasterUserPassword="hunter2", Payload=b"hunter2", Value="hunter2") == {}


def test_of_a_restore_only_the_members_are_named() -> None:
    request = {"OutputLocation": {"S3": {"Encryption": {"KMSContext": "hunter2"}}}, "Days": 1}
    assert shown("s3", "RestoreObject", RestoreRequest=request) == {"RestoreRequest": ["Days", "OutputLocation"]}
    assert shown("s3", "RestoreObject", RestoreRequest="odd") == {"RestoreRequest": []}


def test_what_is_null_is_not_shown() -> None:
    assert shown("s3", "PutObject", ObjectLockMode=None) == {}


@pytest.mark.parametrize("name", _SHOWN)
def test_every_row_names_parameters_of_its_operation(name: str) -> None:
    service, operation = name.split(":")
    shape = ServiceModels().shape(service, operation)
    assert shape is not None
    # Rows of S3 share a list of locks, of which each operation has some.
    assert set(_SHOWN[name]) & set(shape.members), name
