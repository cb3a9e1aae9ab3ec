"""One small request froze the gateway: everybody else waited 8 to 25 seconds, `/healthz` included.

The attack: a few kilobytes for which a parser, an effect table or a check takes quadratic time, or a few megabytes for which a linear one
takes seconds. What must hold: such a request is refused in words or decided, and little of the work for it is done on the event loop,
where every other request waits for it. The work is counted in lines of Python that run in the loop's thread, so no clock is needed:
300,000 lines take about 30 ms on one core of 2020.
"""

import gzip
import json
import sys
from collections.abc import Callable
from hashlib import sha256
from types import FrameType
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate
from tests.kit.signed_requests import FORM, MOTIVE, Signer, talk

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

MOST_LINES = 300_000
ALARMS = {"smithy-protocol": "rpc-v2-cbor", "content-type": "application/cbor"}
ALARMS_PATH = "/service/GraniteServiceVersion20100801/operation/EnableAlarmActions"
WHY = {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}
GROUP = "sg-0abc1234"

Attack = Callable[[Gate], int]


def _raw(body: bytes) -> Attack:
    """The status of a proposal with this body."""

    def send(gate: Gate) -> int:
        headers = {"content-type": "application/json", **gate.bearer("agent")}
        return httpx.post(f"{gate.url}/v1/mutations", content=body, headers=headers, timeout=300).status_code

    return send


def _api(service: str, operation: str, parameters: Any) -> Attack:
    return _raw(
        json.dumps({"service": service, "operation": operation, "parameters": parameters, "motive": WHY}).encode()
    )


def _aws(
    service: str, body: bytes, headers: dict[str, str], *, method: str = "POST", target: str = "/", hashed: bool = False
) -> Attack:
    """The status of a signed request at the AWS door."""

    def send(gate: Gate) -> int:
        key = gate.keys["agent"]
        signer = Signer(url=gate.url, key_id=key.id, secret=key.secret, service=service)
        payload = sha256(body).hexdigest() if hashed else ""
        wire = signer.signed(method=method, target=target, headers={**headers, **MOTIVE}, body=body, payload=payload)
        return talk(gate.url, wire.raw, seconds=120).status

    return send


def _rules(count: int) -> dict[str, Any]:
    ranges = [{"CidrIp": f"10.{number // 256}.{number % 256}.0/24"} for number in range(count)]
    return {"GroupId": GROUP, "IpPermissions": [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": ranges}]}  # fmt: skip


def _nested(levels: int, width: int) -> dict[str, Any]:
    value: dict[str, Any] = {"L": [{"S": "x"}] * width}
    for _ in range(levels):
        value = {"M": {"n" * 500: value}}
    return {"TableName": "t", "Item": {"a": value}}


ATTACKS: dict[str, Attack] = {
    # As reproduced in the audit.
    "brackets, then escaped quotes": _raw(b"[" + b"[]," * 70 + b'"' + b'\\"' * 9_000 + b'"]'),
    "brackets, then escaped quotes, 6 MB": _raw(b"[" + b"[]," * 70 + b'"' + b'\\"' * 2_900_000 + b'"]'),
    "4,000 alarm names": _api("cloudwatch", "EnableAlarmActions", {"AlarmNames": [f"a{n}" for n in range(4_000)]}),
    "16,000 ranges": _api("ec2", "AuthorizeSecurityGroupIngress", _rules(16_000)),
    # As many as are taken.
    "1,000 alarm names": _api("cloudwatch", "EnableAlarmActions", {"AlarmNames": [f"a{n}" for n in range(1_000)]}),
    "1,000 ranges": _api("ec2", "AuthorizeSecurityGroupIngress", _rules(1_000)),
    "900 attributes": _api(
        "sqs",
        "SetQueueAttributes",
        {
            "QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q",
            "Attributes": {f"A{n}": "1" for n in range(900)},
        },
    ),
    # Their neighbours.
    "quotes without an end": _raw(b"[" + b"[]," * 70 + b'"' + b'\\"' * 100_000),
    "6 MB of brackets": _raw(b"[" + b"[]," * 1_900_000 + b"0]"),
    "6 MB of numbers": _raw(b"[" + b"0," * 2_900_000 + b"0]"),
    "6 MB of commas in a text": _raw(b'{"service":"' + b"," * 5_900_000 + b'"}'),
    "9,000 members": _raw(json.dumps({f"a{number}": 1 for number in range(9_000)}).encode()),
    "a name of 5 MB": _api(
        "sqs", "SetQueueAttributes", {"QueueUrl": "https://q/" + "x" * 5_000_000, "Attributes": {"DelaySeconds": "1"}}
    ),
    "a name of capitals": _api(
        "sqs", "SetQueueAttributes", {"QueueUrl": "https://q", "Attributes": {"A" * 500_000: "1"}}
    ),
    "long names above many values": _api("dynamodb", "PutItem", _nested(20, 9_000)),
    "a policy of 9,000 actions": _api(
        "iam",
        "PutRolePolicy",
        {
            "RoleName": "r",
            "PolicyName": "p",
            "PolicyDocument": json.dumps(
                {"Statement": [{"Effect": "Allow", "Action": [f"s3:Get{n}" for n in range(9_000)], "Resource": "*"}]}
            ),
        },
    ),
    "5 MB of CBOR": _aws("monitoring", b"\x9f" + b"\x00" * 5_000_000 + b"\xff", ALARMS, target=ALARMS_PATH),
    "pieces of CBOR text": _aws("monitoring", b"\x7f" + b"\x60" * 2_000_000 + b"\xff", ALARMS, target=ALARMS_PATH),
    "500,000 elements": _aws(
        "s3",
        b"<Delete>" + b"<Object/>" * 500_000 + b"</Delete>",
        {"content-type": "application/xml"},
        target="/bucket?delete",
        hashed=True,
    ),
    "900 form fields": _aws(
        "autoscaling",
        b"Action=SuspendProcesses&Version=2011-01-01&AutoScalingGroupName=x&"
        + b"&".join(b"ScalingProcesses.member.%d=Launch" % number for number in range(1, 900)),
        {"content-type": FORM},
    ),
    "5 MB of escapes": _aws(
        "autoscaling",
        b"Action=SetDesiredCapacity&Version=2011-01-01&DesiredCapacity=6&AutoScalingGroupName=" + b"%41" * 1_500_000,
        {"content-type": FORM},
    ),
    "a bomb": _aws(
        "monitoring",
        gzip.compress(b"Action=PutMetricData&Version=2010-08-01&Namespace=" + b"a" * 5_900_000),
        {"content-type": FORM, "content-encoding": "gzip"},
    ),
    "9,000 values": _aws(
        "dynamodb",
        json.dumps(_nested(0, 9_000)).encode(),
        {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.PutItem"},
    ),
    "an object of 20 MB": _aws("s3", b"x" * 20_000_000, {}, method="PUT", target="/bucket/key", hashed=True),
}


class _Lines:
    """Counts the lines of Python that run in the thread where it is started."""

    def __init__(self) -> None:
        self.count = 0

    async def start(self) -> None:
        """Begin to count."""

        def line(_frame: FrameType, event: str, _argument: Any) -> Any:
            self.count += event == "line"
            return line

        sys.settrace(line)

    async def stop(self) -> None:
        """Stop counting."""
        sys.settrace(None)


@pytest.fixture(scope="module")
def warm(gate: Gate) -> Gate:
    """The gateway after its first request at each door: what is built once is built."""
    for send in (_api("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": ASG, "DesiredCapacity": 6}), _aws("sqs", b"{}", {})):  # fmt: skip
        send(gate)
    gate.release_all()
    return gate


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_little_of_the_work_is_done_where_others_wait(warm: Gate, attack: str) -> None:
    lines = _Lines()
    warm.run(lines.start())
    try:
        status = ATTACKS[attack](warm)
    finally:
        warm.run(lines.stop())
        warm.release_all()
    assert lines.count < MOST_LINES
    assert status in (200, 202, 400, 403, 413)


TOO_MUCH = (
    "4,000 alarm names",
    "16,000 ranges",
    "6 MB of numbers",
    "5 MB of CBOR",
    "500,000 elements",
    "a name of capitals",
)


@pytest.mark.parametrize("attack", TOO_MUCH)
def test_too_much_is_refused_and_recorded(warm: Gate, attack: str) -> None:
    assert ATTACKS[attack](warm) == 400
    assert warm.records()[-1].body.members["code"] in ("call_too_large", "too_many_values", "name_too_long")
