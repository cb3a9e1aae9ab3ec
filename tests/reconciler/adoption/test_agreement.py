"""A resource is what a call created only if every name and id of the call is its own."""

from typing import Any

import pytest

from reconciler.adoption.agreement import Agreement, agreement
from reconciler.changes.event_values import event_values
from reconciler.terraform.plugin.imports import ImportedResource
from tests.reconciler.adoption.conftest import event, schema

_SCHEMA = schema(name="required", arn="computed", role_arn="required", description="optional", group="optional")
_LIVE = {"id": "i-1", "name": "worker", "arn": "arn:aws:x:::worker", "role_arn": "arn:aws:iam::1:role/r", "description": "old"}  # fmt: skip


def _agreed(asked: Any, answered: Any = None, **live: Any) -> Agreement:
    values = event_values(event("x:CreateWorker", asked, answered).call)
    resource = ImportedResource(resource_type="aws_x_worker", import_id="i-1", attributes={**_LIVE, **live})
    return agreement(values, resource, _SCHEMA)


def test_names_and_ids_speak_for_it() -> None:
    found = _agreed({"workerName": "worker", "roleArn": "arn:aws:iam::1:role/r"}, {"workerArn": "arn:aws:x:::worker"})
    assert found.holds
    assert found.answered
    assert found.names == {"name", "role_arn", "arn", "id"} - {"id"}


@pytest.mark.parametrize(
    "asked",
    [
        {"workerName": "another"},
        {"workerName": "worker", "roleArn": "arn:aws:iam::1:role/other"},
        {"workerName": "worker", "shiftName": "night"},
        {"description": "old"},
        {},
    ],
)
def test_another_name_or_one_that_stands_nowhere_in_it_speaks_against_it(asked: dict[str, str]) -> None:
    assert not _agreed(asked).holds


def test_what_may_have_changed_since_does_not_count() -> None:
    assert _agreed({"workerName": "worker", "description": "new"}).holds


def test_an_arn_agrees_with_the_name_at_its_end() -> None:
    assert _agreed({"workerName": "worker", "role": "runner"}, role_arn="arn:aws:iam::1:role/runner").against == ""
    assert _agreed({"workerName": "WORKER"}).holds
