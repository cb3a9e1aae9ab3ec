"""Decoding proposals: strictly, with the same classes as at the AWS door; reads, other regions and bad idempotency keys are refused."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.model import DenormalizedStructureBuilder
from hypothesis import given
from hypothesis import strategies as st

from gateway.aws.models import call_classes, routing_index
from gateway.core.errors import Malformed, UnknownOperation
from gateway.core.model.mutation import CallClass
from gateway.core.ports import Request
from gateway.core.service_models import ServiceModels, Shape
from gateway.doors.api.decoder import ApiDecoder, parameters
from tests.kit.doubles import AGENT, inbound

PROPOSAL = {"service": "sqs", "operation": "PurgeQueue", "parameters": {"QueueUrl": "https://q"}}


@pytest.fixture(scope="module")
def decoder() -> ApiDecoder:
    return ApiDecoder(
        account="123456789012",
        regions=("us-east-1", "eu-west-1"),
        default_region="us-east-1",
        index=routing_index.load(),
        classes=call_classes.load(),
        models=ServiceModels(),
    )


async def _read(decoder: ApiDecoder, key: str | None = None, **more: Any) -> Request:
    headers = (("content-type", "application/json"), *((("idempotency-key", key),) if key is not None else ()))
    body = json.dumps({**PROPOSAL, **more}).encode()
    return await decoder.read(inbound(headers=headers, body=body), AGENT)


async def test_a_proposal_is_a_call(decoder: ApiDecoder) -> None:
    request = await _read(decoder)
    call = request.call
    assert (call.service, call.operation, call.region, call.account) == ("sqs", "PurgeQueue", "us-east-1", "123456789012")  # fmt: skip
    assert call.parameters == {"QueueUrl": "https://q"}
    assert (request.call_class, request.motive, request.idempotency_key, request.dry_run) == (CallClass.MUTATION, None, "", False)  # fmt: skip
    assert decoder.operation(call).name == "PurgeQueue"


@pytest.mark.parametrize(
    ("service", "method", "operation"),
    [
        ("sqs", "purge_queue", "PurgeQueue"),
        ("autoscaling", "set_desired_capacity", "SetDesiredCapacity"),
        ("rds", "modify_db_instance", "ModifyDBInstance"),
        ("efs", "put_file_system_policy", "PutFileSystemPolicy"),
    ],
)
def test_an_operation_may_be_named_as_boto3_names_its_method(
    decoder: ApiDecoder, service: str, method: str, operation: str
) -> None:
    assert decoder._operation_name(service, method) == operation


async def test_the_call_has_the_name_that_aws_gives_it(decoder: ApiDecoder) -> None:
    request = await _read(decoder, operation="purge_queue")
    assert request.call.operation == "PurgeQueue"


async def test_all_of_it_is_taken(decoder: ApiDecoder) -> None:
    motive = {"intent": "cost", "motivation": "budget"}
    request = await _read(decoder, "k 1", region="eu-west-1", motive=motive, dry_run=True)
    assert (request.call.region, request.idempotency_key, request.dry_run) == ("eu-west-1", "api:k 1", True)
    assert request.motive is not None


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"service": "nothing"}, UnknownOperation),
        ({"operation": "Explode"}, UnknownOperation),
        ({"operation": "purge__queue"}, UnknownOperation),
        ({"operation": "ListQueues", "parameters": {}}, Malformed),
        ({"region": "mars-north-1"}, Malformed),
        ({"region": "evil.example/#"}, Malformed),
        ({"parameters": {"QueueUrl": "q", "Colour": "red"}}, Malformed),
        ({"parameters": {}}, Malformed),
        ({"service": "secretsmanager", "operation": "GetSecretValue", "parameters": {"SecretId": "s"}}, Malformed),
    ],
)
async def test_what_is_no_change_that_may_be_proposed_is_refused(
    decoder: ApiDecoder, more: dict[str, Any], error: type[Malformed]
) -> None:
    with pytest.raises(error):
        await _read(decoder, **more)


@pytest.mark.parametrize("key", ["", "k" * 256, "k\n", "kä", "\x7f"])
async def test_an_invalid_idempotency_key_is_refused(decoder: ApiDecoder, key: str) -> None:
    with pytest.raises(Malformed) as caught:
        await _read(decoder, key)
    assert caught.value.code == "idempotency_key"


MEMBERS: dict[str, Any] = {
    "Name": {"type": "string"},
    "Size": {"type": "integer"},
    "Ratio": {"type": "double"},
    "Data": {"type": "blob"},
    "When": {"type": "timestamp"},
    "Flag": {"type": "boolean"},
    "Tags": {"type": "map", "key": {"type": "string"}, "value": {"type": "blob"}},
    "Steps": {"type": "list", "member": {"type": "structure", "members": {"At": {"type": "timestamp"}}}},
}


@pytest.fixture(scope="module")
def shape() -> Shape:
    built: Shape = DenormalizedStructureBuilder().with_members(MEMBERS).build_model()
    return built


@pytest.mark.parametrize(
    ("given_", "converted"),
    [
        ({}, {}),
        ({"Name": "n", "Size": 3, "Ratio": 0.5, "Flag": True}, {"Name": "n", "Size": 3, "Ratio": 0.5, "Flag": True}),
        ({"Data": "aGk="}, {"Data": b"hi"}),
        ({"When": "2026-11-21T09:00:00Z"}, {"When": datetime(2026, 11, 21, 9, tzinfo=UTC)}),
        ({"Tags": {"a": "aGk="}}, {"Tags": {"a": b"hi"}}),
        ({"When": 1795251600}, {"When": datetime(2026, 11, 21, 9, tzinfo=UTC)}),
        ({"Steps": [{"At": "2026-11-21T09:00:00Z"}]}, {"Steps": [{"At": datetime(2026, 11, 21, 9, tzinfo=UTC)}]}),
    ],
)
def test_parameters_are_as_boto3_takes_them(shape: Shape, given_: dict[str, Any], converted: dict[str, Any]) -> None:
    assert parameters(shape, given_) == converted


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"Colour": "red"}, "no member 'Colour'"),
        ({"Steps": [{"By": 1}]}, r"Steps\[0\] has no member 'By'"),
        ({"Size": "6"}, "Size"),
        ({"Size": True}, "Size is of type integer"),
        ({"Ratio": False}, "Ratio is of type"),
        ({"Size": 1.5}, "Size"),
        ({"Name": 3}, "Name"),
        ({"Name": None}, "Name"),
        ({"Name": ["n"]}, "Name"),
        ({"Flag": "true"}, "Flag"),
        ({"Tags": ["a"]}, "Tags"),
        ({"Steps": {"At": 1}}, "Steps"),
        ({"Data": "not base64!"}, "base64"),
        ({"Data": "aGk"}, "base64"),
        ({"When": "yesterday"}, "must be a time"),
        ({"When": "2026-11-21T09:00:00"}, "needs a zone"),
        ({"When": 6.77680361916768e16}, "outside the calendar"),
        ({"When": -1e300}, "outside the calendar"),
        ({"When": 10**400}, "outside the calendar"),
        ({"When": "0001-01-01T00:00:00+14:00"}, "outside the calendar"),
        ({"When": "9999-12-31T23:59:59-14:00"}, "outside the calendar"),
        ({"When": True}, "When"),
    ],
)
def test_what_does_not_fit_is_named(shape: Shape, given_: dict[str, Any], says: str) -> None:
    with pytest.raises(Malformed, match=says):
        parameters(shape, given_)


def test_a_mistake_is_not_quoted(shape: Shape) -> None:
    with pytest.raises(Malformed) as caught:
        parameters(shape, {"Size": "hunter2", "Name": {"password": "hunter2"}})
    assert "hunter2" not in str(caught.value)


def test_an_operation_without_parameters_takes_none() -> None:
    assert parameters(None, {}) == {}
    with pytest.raises(Malformed, match="takes no parameters"):
        parameters(None, {"Name": "n"})


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*MEMBERS, "At", "x"]), inner),
    max_leaves=8,
)


@given(value=st.dictionaries(st.sampled_from([*MEMBERS, "Other"]), _json, max_size=4))
def test_any_value_is_converted_or_refused(shape: Shape, value: dict[str, Any]) -> None:
    try:
        converted = parameters(shape, value)
    except Malformed:
        return
    assert converted.keys() == value.keys()
