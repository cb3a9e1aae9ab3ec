"""The same parameters from all six protocols; whatever does not fit is refused in each."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.core.model.inbound import Inbound
from gateway.core.service_models import ServiceModels

SAME = [
    ("cloudwatch", "monitoring", "smithy-rpc-v2-cbor"),
    ("cloudwatch", "monitoring", "json"),
    ("cloudwatch", "monitoring", "query"),
]
ALARM = {
    "AlarmName": "lag",
    "Threshold": 500000.0,
    "EvaluationPeriods": 2,
    "ComparisonOperator": "GreaterThanThreshold",
    "Dimensions": [{"Name": "topic", "Value": "orders"}],
    "Tags": [{"Key": "owner", "Value": "é"}],
    "ActionsEnabled": False,
}


@pytest.mark.parametrize("case", SAME, ids=[case[2] for case in SAME])
async def test_one_call_reads_the_same_in_each_of_its_protocols(
    wire: Any, models: ServiceModels, read_back: Callable[[Inbound], Awaitable[Any]], case: tuple[str, str, str]
) -> None:
    service, signing, protocol = case
    operation: Any = models.operation(service, "PutMetricAlarm")
    got = await read_back(wire.serialized(signing, protocol, operation, ALARM))
    assert (got.operation, got.parameters) == ("PutMetricAlarm", ALARM)


BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "cbor of the wrong type": (
        "monitoring",
        {
            "headers": {"smithy-protocol": "rpc-v2-cbor", "content-type": "application/cbor"},
            "target": "/service/GraniteServiceVersion20100801/operation/DeleteAlarms",
            "body": b"\xa1jAlarmNames\x01",
        },
    ),
    "xml of another type": (
        "s3",
        {
            "method": "PUT",
            "target": "/b?versioning",
            "headers": {"content-type": "application/json"},
            "body": b"<VersioningConfiguration/>",
        },
    ),
    "an element twice": (
        "s3",
        {
            "method": "PUT",
            "target": "/b?versioning",
            "body": b"<V><Status>Enabled</Status><Status>Suspended</Status></V>",
        },
    ),
    "an unknown element": ("s3", {"method": "PUT", "target": "/b?versioning", "body": b"<V><Evil>1</Evil></V>"}),
    "text between elements": (
        "s3",
        {"method": "PUT", "target": "/b?versioning", "body": b"<V>x<Status>Enabled</Status></V>"},
    ),
    "a body where none belongs": (
        "s3",
        {"method": "DELETE", "target": "/b", "body": b"<Delete/>"},
    ),
    "json with a member that is bound to the path": (
        "lambda",
        {
            "method": "PUT",
            "target": "/2015-03-31/functions/good/configuration",
            "headers": {"content-type": "application/json"},
            "body": b'{"FunctionName":"evil","Timeout":3}',
        },
    ),
    "a query parameter twice": (
        "lambda",
        {"method": "DELETE", "target": "/2015-03-31/functions/f?Qualifier=1&Qualifier=2"},
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
async def test_what_does_not_fit_the_shape_is_refused(
    wire: Any, read_back: Callable[[Inbound], Awaitable[Any]], case: tuple[str, dict[str, Any]]
) -> None:
    signing, given = case
    with pytest.raises(Malformed):
        await read_back(wire.inbound(signing, **given))
