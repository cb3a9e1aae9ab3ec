"""A statement of a policy document is hidden from guardrails, record and approver.

In one compact document, the search for passwords in URLs began in the user agent of one statement and ended in that of another, so that
the mask swallowed all between them. Or the document names `Statement` twice: the guardrails read the last one, and nobody knows which
one AWS reads. What must hold: policies judge the document as it is; a mask never leaves the string it begins in; an ambiguous document
is held for everybody.
"""

import json
from typing import Any

import httpx
import pytest

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

S3_READ = '"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::payments"'
EVERYTHING = '"Effect":"Allow","Action":"*","Resource":"*"'
SERVICE = '"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"'
BUCKET = (
    '"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::payments"'
)
ROLE: dict[str, str] = {"RoleName": "kafka-rebalancer", "PolicyName": "p"}

DOCUMENTS = [
    ("s3", "PutBucketPolicy", "Policy", {"Bucket": "payments"}, '"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"*"', BUCKET),
    ("iam", "PutRolePolicy", "PolicyDocument", ROLE, EVERYTHING, S3_READ),
    ("iam", "CreateRole", "AssumeRolePolicyDocument", {"RoleName": "new"}, '"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"', SERVICE),
]  # fmt: skip

# What the mask begins with and what it ends with, each inside a string of its own.
FORMS = [
    ("a://b:", "*@"),
    ("a://b:", "c@"),
    ("token=", "x"),
    ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    ("-----BEGIN PRIVATE KEY-----\\nAAAA", "BBBB\\n-----END PRIVATE KEY-----"),
]


def _document(ours: str, evil: str, form: tuple[str, str]) -> str:
    condition = '"Condition":{"StringLike":{"aws:UserAgent":"%s"}}'
    statements = f"{{{ours},{condition % form[0]}}},{{{evil},{condition % form[1]}}}"
    return f'{{"Version":"2012-10-17","Statement":[{statements}]}}'


def _judged(gate: Gate, service: str, operation: str, actor: str = "pipeline", **parameters: str) -> dict[str, Any]:
    call = {
        "service": service,
        "operation": operation,
        "parameters": parameters,
        "motive": {"intent": "consistency", "motivation": "routine"},
        "dry_run": True,
    }
    answer: dict[str, Any] = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor)).json()
    return answer


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", DOCUMENTS, ids=[case[1] for case in DOCUMENTS])
def test_no_statement_is_hidden(
    gate: Gate, case: tuple[str, str, str, dict[str, str], str, str], form: tuple[str, str]
) -> None:
    service, operation, name, parameters, evil, ours = case
    text = _document(ours, evil, form)
    answer = _judged(gate, service, operation, **{**parameters, name: text})
    assert answer["decision"]["verdict"] == "hold"
    (shown,) = (
        effect["value"]
        for effect in answer["mutation"]["effects"]
        if isinstance(effect["value"], str) and "Statement" in effect["value"]
    )
    kept = [{**statement, "Condition": {}} for statement in json.loads(shown)["Statement"]]
    assert kept == [{**statement, "Condition": {}} for statement in json.loads(text)["Statement"]]


@pytest.mark.parametrize("secret", ["password=12345678", "a://b:c@d", "ghp_abcdefghijklmnopqrstuvwxyz"])
def test_a_mask_inside_a_principal_hides_it_neither(gate: Gate, secret: str) -> None:
    evil = f'"Effect":"Allow","Principal":{{"AWS":"arn:aws:iam::999999999999:role/{secret}"}},"Action":"sts:AssumeRole"'
    text = f'{{"Version":"2012-10-17","Statement":[{{{evil}}}]}}'
    answer = _judged(gate, "iam", "CreateRole", RoleName="new", AssumeRolePolicyDocument=text)
    assert answer["decision"]["verdict"] == "hold"
    assert "999999999999" in str(answer["decision"]["findings"])
    assert secret not in json.dumps(answer)


TWICE = [
    f'{{"Version":"2012-10-17","Statement":[{{{EVERYTHING}}}],"Statement":[{{{S3_READ}}}]}}',
    f'{{"Version":"2012-10-17","Statement":[{{{S3_READ}}}],"Statement":[{{{EVERYTHING}}}]}}',
    f'{{"Version":"2012-10-17","Statement":[{{{S3_READ},"Action":"*"}}]}}',
    f'{{"Version":"2012-10-17","Statement":[{{{S3_READ},"\\u0041ction":"*"}}]}}',
    f'{{"Version":"2012-10-17","Statement":[{{{S3_READ}}}],"Id":{"[" * 20_000}{"]" * 20_000}}}',
    f'{{"Version":"2012-10-17","statement":[{{{EVERYTHING}}}],"Statement":[{{{S3_READ}}}]}}',
    f'\ufeff{{"Version":"2012-10-17","Statement":[{{{S3_READ}}}]}}',
]


@pytest.mark.parametrize("text", TWICE, ids=range(len(TWICE)))
@pytest.mark.parametrize("actor", ["pipeline", "human"])
def test_an_ambiguous_document_is_held(gate: Gate, actor: str, text: str) -> None:
    answer = _judged(gate, "iam", "PutRolePolicy", actor, **ROLE, PolicyDocument=text)
    assert answer["decision"]["verdict"] == "hold"


def test_a_plain_document_with_a_user_agent_passes(gate: Gate) -> None:
    condition = '"Condition":{"StringLike":{"aws:UserAgent":"https://ops@example.com token=abcdef"}}'
    text = f'{{"Version":"2012-10-17","Statement":[{{{S3_READ},{condition}}}]}}'
    answer = _judged(gate, "iam", "PutRolePolicy", **ROLE, PolicyDocument=text)
    plain = _judged(
        gate, "iam", "PutRolePolicy", **ROLE, PolicyDocument=f'{{"Version":"2012-10-17","Statement":[{{{S3_READ}}}]}}'
    )
    assert plain["decision"]["verdict"] == answer["decision"]["verdict"] == "allow"
