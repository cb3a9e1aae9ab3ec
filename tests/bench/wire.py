"""What the AWS wire format costs: `python -m tests.bench.wire` prints one JSON object per figure.

Each request is read a few thousand times, warm, in one process; the value is the median, in microseconds. The floor of a request is
what botocore's own serializer needs to write it (`serialize_to_request`, no signing, no validation), so `ratio` is reading over writing.
"""

import asyncio
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import botocore.serialize

from gateway.aws.door.decoder import AwsDecoder
from gateway.aws.models import call_classes, routing_index
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.inbound import Inbound
from gateway.core.service_models import ServiceModels
from gateway.core.times import SystemClock
from gateway.line.data_plane import DataSignature, DataSignatures
from tests.bench.figure import quantile, show

ROUNDS = 3000
CALLER = Caller(actor="bench", kind=ActorKind.AGENT, key_id="SNTLAAAAAAAAAAAAAAAA")
CASES: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("read", "sqs", "json", "GetQueueUrl", {"QueueName": "orders"}),
    ("read", "ec2", "ec2", "DescribeInstances", {"InstanceIds": ["i-0123456789abcdef0"]}),
    ("read", "s3", "rest-xml", "GetObject", {"Bucket": "b", "Key": "a/b c"}),
    ("read", "lambda", "rest-json", "GetFunction", {"FunctionName": "f"}),
    ("mutation", "autoscaling", "query", "SetDesiredCapacity", {"AutoScalingGroupName": "kafka", "DesiredCapacity": 6}),
    (
        "mutation",
        "ec2",
        "ec2",
        "AuthorizeSecurityGroupIngress",
        {
            "GroupId": "sg-1",
            "IpPermissions": [
                {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}
            ],
        },
    ),
    (
        "mutation",
        "dynamodb",
        "json",
        "UpdateTable",
        {"TableName": "t", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
    ),
    ("mutation", "lambda", "rest-json", "UpdateFunctionConfiguration", {"FunctionName": "f", "Timeout": 30}),
    (
        "mutation",
        "s3",
        "rest-xml",
        "PutBucketVersioning",
        {"Bucket": "b", "VersioningConfiguration": {"Status": "Enabled"}},
    ),
    (
        "mutation",
        "cloudwatch",
        "smithy-rpc-v2-cbor",
        "PutMetricAlarm",
        {
            "AlarmName": "lag",
            "Threshold": 500000.0,
            "EvaluationPeriods": 2,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    ),
]


async def median(act: Callable[[], Awaitable[object]]) -> float:
    """Median of `ROUNDS` runs in microseconds, after a warm-up."""
    for _ in range(100):
        await act()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        await act()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def request(signing: str, made: Any) -> Inbound:
    """The inbound request with what a serializer made; its signature is not looked at."""
    headers = {
        key.lower(): value if isinstance(value, str) else value.decode() for key, value in made["headers"].items()
    }
    body = made["body"]
    if isinstance(body, dict):
        body = urlencode(body)
    query = made["query_string"]
    query = query if isinstance(query, str) else urlencode(query, doseq=True)
    content = body.encode() if isinstance(body, str) else bytes(body)
    headers |= {"host": "gateway", "x-amz-date": "20261121T010203Z"}
    proof = (
        f"AWS4-HMAC-SHA256 Credential=SNTLAAAAAAAAAAAAAAAA/20261121/eu-west-1/{signing}/aws4_request, "
        f"SignedHeaders={';'.join(sorted(headers))}, Signature={'0' * 64}"
    )

    async def read() -> bytes:
        return content

    return Inbound(
        method=made["method"],
        target=made["url_path"] + (("&" if "?" in made["url_path"] else "?") + query if query else ""),
        headers=(*headers.items(), ("authorization", proof)),
        read_body=read,
        received_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


async def main() -> None:
    """Print every figure."""
    for name, load in (("index_load", routing_index.load), ("classes_load", call_classes.load)):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            load()
            times.append(time.perf_counter() - start)
        show(f"wire.{name}", min(times) * 1000, "ms", n=5)
    tracemalloc.start()
    kept = (routing_index.load(), call_classes.load())
    show("wire.index_and_classes_in_memory", tracemalloc.get_traced_memory()[0] / 1e6, "MB", n=1)
    tracemalloc.stop()
    models = ServiceModels()
    decoder = AwsDecoder(
        account="", regions=("eu-west-1",), max_body_bytes=1 << 20, index=kept[0], classes=kept[1], models=models
    )
    for kind, service, protocol, operation, parameters in CASES:
        model = models.operation(service, operation)
        serializer: Any = botocore.serialize.create_serializer(protocol, include_validation=False)
        inbound = request(kept[0].services[service].signing, serializer.serialize_to_request(parameters, model))
        assert (await decoder.read(inbound, CALLER)).call.operation == operation

        async def write(serializer: Any = serializer, parameters: Any = parameters, model: Any = model) -> None:
            serializer.serialize_to_request(parameters, model)

        floor = round(await median(write), 1)

        async def read(inbound: Inbound = inbound) -> None:
            await decoder.read(inbound, CALLER)

        value = await median(read)
        show(f"wire.{kind}.{protocol}.{service}:{operation}.p50", value, "us", floor=floor, n=ROUNDS)
    signatures()


def signatures() -> None:
    """What it costs that the signature of a data call counts once, with 100,000 others remembered. Floor: adding a text to a set of as many."""
    clock, made = SystemClock(), [f"{number:064x}" for number in range(100_000 + ROUNDS)]
    for kind, covered in (("nonce_signed", True), ("nonce_not_signed", False)):
        spent, plain = DataSignatures(clock, skew=timedelta(seconds=300)), set(made[:-ROUNDS])
        for value in made[:-ROUNDS]:
            spent.spend(_data_signature(value, covered=covered))
        times: list[int] = []
        floors: list[int] = []
        for value in made[-ROUNDS:]:
            signature = _data_signature(value, covered=covered)
            start = time.perf_counter_ns()
            spent.spend(signature)
            between = time.perf_counter_ns()
            plain.add(value)
            floors.append(time.perf_counter_ns() - between)
            times.append(between - start)
        floor = statistics.median(floors) / 1000
        show(f"wire.signature_once.{kind}.p50", statistics.median(times) / 1000, "us", floor=floor, n=ROUNDS)
        show(f"wire.signature_once.{kind}.p99", quantile(times, 0.99) / 1000, "us", floor=floor, n=ROUNDS)


def _data_signature(value: str, *, covered: bool) -> DataSignature:
    return DataSignature(value=value, at=datetime.now(UTC), nonce=value[-8:], signed_nonce=covered)


if __name__ == "__main__":
    asyncio.run(main())
