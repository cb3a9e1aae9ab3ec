"""JSON and CBOR documents are validated against their shape, member by member."""

from typing import Any

import pytest

from gateway.aws.door.protocols import document
from gateway.core.errors import Malformed
from gateway.core.service_models import ServiceModels


def test_members_go_by_their_name_on_the_wire(models: ServiceModels) -> None:
    shape = models.shape("ecs", "UpdateService")
    assert document.parse(shape, {"service": "s", "desiredCount": 3}) == {"service": "s", "desiredCount": 3}


def test_null_is_absent_and_the_type_marker_is_no_parameter(models: ServiceModels) -> None:
    shape = models.shape("ecs", "UpdateService")
    assert document.parse(shape, {"service": "s", "cluster": None, "__type": "x"}) == {"service": "s"}


BAD: dict[str, Any] = {
    "not an object": [],
    "an unknown member": {"service": "s", "evil": 1},
    "an unknown member, deep": {"service": "s", "deploymentConfiguration": {"evil": 1}},
    "null in a list": {"service": "s", "loadBalancers": [None]},
    "an object for a list": {"service": "s", "loadBalancers": {}},
    "a member in another case": {"Service": "s"},
    "true for a number": {"service": "s", "desiredCount": True},
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_document_that_does_not_fit_is_refused(models: ServiceModels, body: Any) -> None:
    with pytest.raises(Malformed):
        document.parse(models.shape("ecs", "UpdateService"), body)


def test_an_operation_without_input_takes_nothing() -> None:
    assert document.parse(None, {}) == {}
    with pytest.raises(Malformed):
        document.parse(None, {"a": 1})
