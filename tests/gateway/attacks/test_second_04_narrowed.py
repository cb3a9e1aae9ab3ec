"""Second audit, 04 and 11: `Principal: *` "narrowed" to strangers, federated strangers, and policy variables that counted as names.

The attack: a bucket or a role for everybody with a condition on somebody else's organization, VPC endpoint or bucket passed unheld, as did a
bucket for whatever a foreign provider vouches for, and grants on `role/${aws:PrincipalTag/none, ''}*`. What must hold: what narrows to
somebody who is neither ours nor trusted names a stranger; a variable may be empty.
"""

import json
from typing import Any

import httpx
import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

OURS = "123456789012"


def _verdict(gate: Gate, actor: str, service: str, operation: str, **parameters: Any) -> str:
    call = {
        "service": service,
        "operation": operation,
        "parameters": parameters,
        "motive": {"intent": "consistency", "motivation": "routine"},
        "dry_run": True,
    }
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    return str(answer.json()["decision"]["verdict"])


def _bucket(gate: Gate, actor: str, **statement: Any) -> str:
    whole = {"Effect": "Allow", "Action": "s3:*", "Resource": "*", **statement}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [whole]})
    return _verdict(gate, actor, "s3", "PutBucketPolicy", Bucket="payments", Policy=policy)


def _role(gate: Gate, actor: str, **statement: Any) -> str:
    whole = {"Effect": "Allow", "Action": "sts:AssumeRole", **statement}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [whole]})
    return _verdict(gate, actor, "iam", "CreateRole", RoleName="new", AssumeRolePolicyDocument=policy)


def _grant(gate: Gate, actor: str, resource: str) -> str:
    whole = {"Effect": "Allow", "Action": "iam:PassRole", "Resource": resource}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [whole]})
    named = {"RoleName": "kafka-rebalancer", "PolicyName": "p"}
    return _verdict(gate, actor, "iam", "PutRolePolicy", **named, PolicyDocument=policy)


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("aws:PrincipalOrgID", "o-attacker123"),
        ("aws:PrincipalOrgPaths", "o-attacker123/r-ab12/*"),
        ("aws:SourceVpce", "vpce-0attacker1"),
        ("aws:SourceVpc", "vpc-0ddba11f"),
        ("aws:SourceArn", "arn:aws:s3:::attackers-bucket"),
        ("aws:SourceArn", "arn:aws:sns:us-east-1:999999999999:t"),
        ("aws:PrincipalAccount", "${aws:SourceAccount}"),
    ],
)
def test_a_narrowing_to_strangers_is_held(gate: Gate, actor: str, key: str, value: str) -> None:
    statement = {"Principal": "*", "Condition": {"StringLike": {key: value}}}
    assert _bucket(gate, actor, **statement) == "hold"
    assert _role(gate, actor, **statement) == "hold"


@pytest.mark.parametrize(
    "provider", ["cognito-identity.amazonaws.com", "arn:aws:iam::999999999999:saml-provider/x", "accounts.google.com"]
)
def test_a_bucket_for_federated_strangers_is_held(gate: Gate, provider: str) -> None:
    assert _bucket(gate, "pipeline", Principal={"Federated": provider}) == "hold"


@pytest.mark.parametrize(
    "resource",
    ["arn:aws:iam::*:role/${aws:PrincipalTag/none, ''}*", "${aws:PrincipalTag/none, '*'}", "arn:aws:iam::${x}:role/*"],
)
def test_a_variable_is_no_name(gate: Gate, resource: str) -> None:
    assert _grant(gate, "pipeline", resource) == "hold"


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEquals": {"aws:PrincipalAccount": OURS}},
        {"StringEquals": {"aws:SourceAccount": OURS}, "ArnLike": {"aws:SourceArn": "arn:aws:s3:::logs"}},
        {"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{OURS}:role/app-*"}},
    ],
)
def test_a_narrowing_to_what_is_ours_passes(gate: Gate, condition: dict[str, Any]) -> None:
    assert _bucket(gate, "pipeline", Principal="*", Condition=condition) == "allow"


def test_the_everyday_grant_to_ones_own_user_passes(gate: Gate) -> None:
    assert _grant(gate, "pipeline", "arn:aws:iam::*:user/${aws:username}") == "allow"
    assert _bucket(gate, "pipeline", Principal={"Service": "logging.s3.amazonaws.com"}) == "allow"
