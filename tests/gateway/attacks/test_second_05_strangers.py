"""Second audit, 05 and 15: data sent to strangers by a subscription, strangers' keys and functions, code by another name, denials lifted.

The attack: `PutSubscriptionFilter` sends every log to another account, `Subscribe` a topic's messages to any web address; a bucket is
encrypted with somebody else's key; a service runs another task definition; a wrapper is loaded before a function; AWSDenyAll is detached. No
guardrail looked. What must hold: what is not ours and not declared in the code is held, for people and pipelines too. A pipeline that gives
a declared service or group another task definition or template is everyday work and passes, like code and roles of declared resources.
"""

import json
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

US, THEM = "123456789012", "999999999999"
QUEUE = f"https://sqs.us-east-1.amazonaws.com/{US}/kafka-shard-0"
TOPIC = f"arn:aws:sns:us-east-1:{US}:t"
LOGS = "/kafka/consumer/app"


def _verdict(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> str:
    service, _, name = operation.partition(":")
    call = {
        "service": service,
        "operation": name,
        "parameters": parameters,
        "motive": {"intent": "consistency", "motivation": "routine"},
        "dry_run": True,
    }
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    return str(answer.json()["decision"]["verdict"])


def _calls(account: str) -> dict[str, dict[str, Any]]:
    """Calls that name something of this account."""
    key, function = f"arn:aws:kms:us-east-1:{account}:key/k", f"arn:aws:lambda:us-east-1:{account}:function:f"
    queue = f"arn:aws:sqs:us-east-1:{account}:q"
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
    redrive = json.dumps({"deadLetterTargetArn": queue, "maxReceiveCount": 1})
    filtered = {"logGroupName": LOGS, "filterName": "f", "filterPattern": ""}
    return {
        "logs:PutSubscriptionFilter": {**filtered, "destinationArn": function},
        "sns:Subscribe": {"TopicArn": TOPIC, "Protocol": "sqs", "Endpoint": queue},
        "s3:PutBucketEncryption": {"Bucket": "b", "ServerSideEncryptionConfiguration": {"Rules": [rule]}},
        "secretsmanager:RotateSecret": {"SecretId": "x", "RotationLambdaARN": function},
        "sqs:SetQueueAttributes": {"QueueUrl": QUEUE, "Attributes": {"RedrivePolicy": redrive}},
        "logs:AssociateKmsKey": {"logGroupName": LOGS, "kmsKeyId": key},
    }


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "a web address": ("sns:Subscribe", {"TopicArn": TOPIC, "Protocol": "https", "Endpoint": "https://evil.example"}),
    "a mail address": ("sns:Subscribe", {"TopicArn": TOPIC, "Protocol": "email", "Endpoint": "m@evil.example"}),
    "another task definition": ("ecs:UpdateService", {"service": "s", "cluster": "c", "taskDefinition": "admin:1"}),
    "another template": (
        "autoscaling:UpdateAutoScalingGroup",
        {"AutoScalingGroupName": "g", "LaunchTemplate": {"LaunchTemplateId": "lt-12345678", "Version": "9"}},
    ),
    "a wrapper": (
        "lambda:UpdateFunctionConfiguration",
        {"FunctionName": "g", "Environment": {"Variables": {"AWS_LAMBDA_EXEC_WRAPPER": "/tmp/x"}}},
    ),
    "a denial lifted": (
        "iam:DetachRolePolicy",
        {"RoleName": "kafka-rebalancer", "PolicyArn": "arn:aws:iam::aws:policy/AWSDenyAll"},
    ),
    "a key policy without its safety check": (
        "kms:PutKeyPolicy",
        {
            "KeyId": "1234abcd-12ab-34cd-56ef-1234567890ab",
            "Policy": json.dumps(
                {"Statement": [{"Effect": "Allow", "Principal": {"AWS": US}, "Action": "kms:*", "Resource": "*"}]}
            ),
            "BypassPolicyLockoutSafetyCheck": True,
        },
    ),
}


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(("operation", "parameters"), _calls(THEM).items())
def test_what_a_stranger_gets_or_owns_is_held(
    gate: Gate, actor: str, operation: str, parameters: dict[str, Any]
) -> None:
    assert _verdict(gate, actor, operation, parameters) == "hold"


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(("operation", "parameters"), _calls(US).items())
def test_what_we_get_or_own_passes(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> None:
    assert _verdict(gate, actor, operation, parameters) == "allow"


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(("operation", "parameters"), OTHERS.values(), ids=OTHERS.keys())
def test_what_nothing_declares_is_held(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> None:
    assert _verdict(gate, actor, operation, parameters) == "hold"


def test_a_pipeline_gives_a_declared_group_another_template(gate: Gate) -> None:
    template = {"LaunchTemplate": {"LaunchTemplateId": "lt-12345678", "Version": "9"}}
    given = {"AutoScalingGroupName": ASG, **template}
    assert _verdict(gate, "pipeline", "autoscaling:UpdateAutoScalingGroup", given) == "allow"
    assert _verdict(gate, "human", "autoscaling:UpdateAutoScalingGroup", given) == "hold"
