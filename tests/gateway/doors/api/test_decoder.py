"""Decoding proposals: strictly, with the same classes as at the AWS door; reads, other regions and bad idempotency keys are refused."""

import json
from typing import Any

import pytest

from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.aws import call_classes, routing_index
from gateway.errors import Malformed, UnknownOperation
from gateway.model.mutation import CallClass
from gateway.ports import Request
from gateway.service_models import ServiceModels
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
