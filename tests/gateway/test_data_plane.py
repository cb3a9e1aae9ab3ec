"""Which calls of the data plane pass: by the stack of the resource, the kind of actor, and what the call asks for beside the data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.data_plane import DataPlane
from gateway.effects.resolver import EffectResolver
from gateway.errors import Ambiguous
from gateway.model.caller import ActorKind, Caller
from gateway.model.data_plane import DEFAULT_TREATMENTS, DataTreatment, Passage
from gateway.model.json import Json
from gateway.model.mutation import Call, CallClass
from gateway.ports import Request
from gateway.terraform.places import Place

PASS, RECORD, POLICY = DataTreatment
ADDRESSES = {
    "aws_dynamodb_table.orders": ("orders", {"name": "orders"}),
    "aws_dynamodb_table.users": ("users", {"name": "users"}),
    "aws_dynamodb_table.both": ("", {"name": "both"}),
    "aws_s3_bucket.b": ("orders", {"bucket": "b"}),
    "aws_s3_bucket.c": ("orders", {"bucket": "c"}),
    "aws_s3_object.o": ("orders", {"bucket": "b", "key": "declared"}),
    "aws_kms_key.k": ("orders", {"key_id": "k"}),
}
EVERY = dict.fromkeys(ActorKind, PASS)


@dataclass(frozen=True)
class Named:
    """A stack, of which only the name is asked for."""

    name: str


class World:
    """Resources of two stacks; one resource is in both."""

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        return next(
            (
                address
                for address, (_, given) in ADDRESSES.items()
                if address.startswith(f"{resource_type}.") and identity.items() <= given.items()
            ),
            None,
        )

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return ()

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        return ADDRESSES[address][1] if address in ADDRESSES else None

    def place(self, address: str) -> Place:
        return Place()

    def accounts(self) -> frozenset[str]:
        return frozenset()

    def declaring(self, address: str) -> Named | None:
        name = ADDRESSES.get(address, (None, {}))[0]
        if name == "":
            raise Ambiguous("two stacks have it")
        return Named(name) if name else None


def _caller(kind: ActorKind = ActorKind.SERVICE) -> Caller:
    return Caller(actor="app", kind=kind, key_id="SNTLAPP")


async def _passage(
    operation: str,
    parameters: dict[str, Any],
    *,
    kind: ActorKind = ActorKind.SERVICE,
    treatments: Mapping[ActorKind, DataTreatment] = DEFAULT_TREATMENTS,
    by_stack: Mapping[str, Mapping[ActorKind, DataTreatment]] | None = None,
    call_class: CallClass = CallClass.DATA,
) -> Passage | None:
    world: Any = World()
    plane = DataPlane(resolver=EffectResolver(world), stacks=world, treatments=treatments, by_stack=by_stack or {})
    service, _, name = operation.partition(":")
    call = Call(service=service, operation=name, parameters=parameters, region="us-east-1")
    return await plane.passage(_caller(kind), Request(call=call, call_class=call_class))


PUT = ("dynamodb:PutItem", {"TableName": "orders", "Item": {"id": {"S": "1"}}})


@pytest.mark.parametrize(
    ("kind", "treatment"),
    [
        (ActorKind.SERVICE, PASS),
        (ActorKind.HUMAN, RECORD),
        (ActorKind.PIPELINE, RECORD),
        (ActorKind.AGENT, None),
    ],
)
async def test_the_defaults(kind: ActorKind, treatment: DataTreatment | None) -> None:
    passage = await _passage(*PUT, kind=kind, by_stack={"orders": DEFAULT_TREATMENTS})
    assert (passage.treatment if passage else None) is treatment
    if passage:
        assert passage.stack == "orders"
        assert passage.addresses == (("aws_dynamodb_table.orders",) if treatment is RECORD else ())


async def test_the_resource_s_stack_decides() -> None:
    by_stack = {"orders": {**EVERY, ActorKind.AGENT: RECORD}, "users": {**EVERY, ActorKind.AGENT: POLICY}}
    agent = {"kind": ActorKind.AGENT, "by_stack": by_stack}
    put: dict[str, Any] = {"Item": {}}
    orders = await _passage("dynamodb:PutItem", {"TableName": "orders", **put}, **agent)  # type: ignore[arg-type]
    users = await _passage("dynamodb:PutItem", {"TableName": "users", **put}, **agent)  # type: ignore[arg-type]
    unknown = await _passage("dynamodb:PutItem", {"TableName": "unknown", **put}, **agent)  # type: ignore[arg-type]
    assert orders is not None
    assert orders.addresses == ("aws_dynamodb_table.orders",)
    assert users is None
    assert unknown is None


async def test_of_several_stacks_the_strictest_decides() -> None:
    batch: dict[str, Any] = {"RequestItems": {name: [{"DeleteRequest": {"Key": {}}}] for name in ("orders", "users")}}
    recorded = await _passage(
        "dynamodb:BatchWriteItem", batch, by_stack={"orders": EVERY, "users": dict.fromkeys(ActorKind, RECORD)}
    )
    decided = await _passage(
        "dynamodb:BatchWriteItem", batch, by_stack={"orders": EVERY, "users": dict.fromkeys(ActorKind, POLICY)}
    )
    assert recorded is not None
    assert (recorded.treatment, recorded.stack, len(recorded.addresses)) == (RECORD, "", 2)
    assert decided is None


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        PUT,
        ("dynamodb:ExecuteStatement", {"Statement": "DELETE FROM \"orders\" WHERE id = '1'"}),
        ("dynamodb:PutItem", {"TableName": "nobody-declares-it", "Item": {}}),
        (
            "sqs:ReceiveMessage",
            {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "WaitTimeSeconds": 20},
        ),
        ("sqs:DeleteMessage", {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "ReceiptHandle": "r"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "Body": b"x"}),
        ("s3:DeleteObject", {"Bucket": "b", "Key": "k", "VersionId": "1"}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "b/j"}),
        ("s3:UploadPart", {"Bucket": "b", "Key": "k", "UploadId": "u", "PartNumber": 1, "Body": b"x"}),
        ("kinesis:PutRecord", {"StreamName": "s", "Data": b"x", "PartitionKey": "k"}),
        ("events:PutEvents", {"Entries": [{"Source": "s", "DetailType": "t", "Detail": "{}"}]}),
        ("logs:PutLogEvents", {"logGroupName": "g", "logStreamName": "s", "logEvents": []}),
        ("sns:Publish", {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "m"}),
        ("cloudwatch:PutMetricData", {"Namespace": "n", "MetricData": []}),
        ("xray:PutTraceSegments", {"TraceSegmentDocuments": []}),
    ],
)
async def test_data_passes(operation: str, parameters: dict[str, Any]) -> None:
    assert await _passage(operation, parameters) is not None


@pytest.mark.parametrize(
    ("operation", "parameters"),
    [
        ("dynamodb:PutItem", {"TableName": "both", "Item": {}}),
        ("dynamodb:PutItem", {"TableName": "arn:aws:dynamodb:us-east-1:123456789012:table/o/index/i", "Item": {}}),
        ("dynamodb:PutItem", {"TableName": "orders", "Item": {}, "SomethingNew": 1}),
        ("s3:PutObject", {"Bucket": "b", "Key": "declared", "Body": b"x"}),
        ("s3:DeleteObjects", {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}, {"Key": "declared"}]}}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "ACL": "public-read"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "ObjectLockMode": "COMPLIANCE"}),
        ("s3:PutObject", {"Bucket": "b", "Key": "k", "SSECustomerKey": "x" * 32}),
        ("s3:DeleteObjects", {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}]}, "BypassGovernanceRetention": True}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "c/j"}),
        ("s3:CopyObject", {"Bucket": "b", "Key": "k", "CopySource": "unknown/j"}),
        ("sns:Publish", {"PhoneNumber": "+15550100", "Message": "m"}),
        ("events:PutEvents", {"Entries": [{"Source": "s"}], "EndpointId": "e"}),
        ("dynamodb:BatchWriteItem", {"RequestItems": {str(number): [] for number in range(20_000)}}),
    ],
)
async def test_what_is_more_than_data_is_a_mutation(operation: str, parameters: dict[str, Any]) -> None:
    assert await _passage(operation, parameters, treatments=EVERY) is None


@pytest.mark.parametrize("call_class", [each for each in CallClass if each is not CallClass.DATA])
async def test_no_other_class_passes(call_class: CallClass) -> None:
    assert await _passage(*PUT, treatments=EVERY, call_class=call_class) is None
