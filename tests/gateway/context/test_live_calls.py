"""Every call is a plain read of AWS, names attributes that exist, and asks by what the state records."""

import pytest

from gateway.context.live_calls import LIVE_CALLS
from gateway.context.live_shape import _schemas
from gateway.doors.aws import call_classes
from gateway.model.mutation import CallClass
from gateway.service_models import ServiceModels

TYPES = sorted(LIVE_CALLS)


@pytest.mark.parametrize("kind", TYPES)
def test_it_is_a_read_that_returns_no_secret(kind: str) -> None:
    call = LIVE_CALLS[kind]
    assert call_classes.shipped().of(call.service, call.operation) is CallClass.READ


@pytest.mark.parametrize("kind", TYPES)
def test_the_names_are_those_of_aws_and_of_the_provider(kind: str) -> None:
    call, schema = LIVE_CALLS[kind], _schemas()[kind]
    operation = ServiceModels().operation(call.service, call.operation)
    members = operation.input_shape.members
    given = {name.removesuffix("[]") for name in call.parameters} | set(call.constants)
    assert given <= set(members)
    assert all(members[name.removesuffix("[]")].type_name == "list" for name in call.parameters if name.endswith("[]"))
    assert {attribute for attribute in call.names.values() if attribute} <= set(schema.kinds)
    shape = operation.output_shape
    for step in call.found:
        shape = shape.member if step == "*" else shape.members[step] if shape.type_name == "structure" else shape
    if shape.type_name == "structure":
        assert {name.partition(".")[0] for name in call.names} <= set(shape.members)


def test_what_the_state_does_not_identify_cannot_be_asked_for() -> None:
    call = LIVE_CALLS["aws_ecs_service"]
    assert call.request({"cluster": "c"}) is None
    assert call.request({"cluster": "c", "name": ""}) is None
    assert call.request({"cluster": "c", "name": "s"}) == {"cluster": "c", "services": ["s"]}
