"""Row 11: what a pipeline or a human could grant, open or throw away unseen because a spelling hid what it means.

Everything by `**`, `?*` or `arn:aws:*`; roles for strangers behind a condition that narrows nothing; the world in 256 ranges; backups
kept for a day. None of it may reach AWS before another human has agreed, whoever asks; opening ports to the world never may.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Attack = Callable[[Gate, str], Any]
GROUP = "sg-0abc1234"
TABLE = "kafka-offsets"
DATABASE = "kafka-reports"
ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers"


def _document(**statement: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})


def _grants(allowed: Any, resource: Any = "*", **more: Any) -> Attack:
    document = _document(Action=allowed, Resource=resource, **more)
    return lambda gate, actor: gate.client("iam", actor).put_role_policy(
        RoleName="kafka-rebalancer", PolicyName="p", PolicyDocument=document
    )


def _denied_first() -> Attack:
    statements = [
        {"Effect": "Deny", "Action": "*", "Resource": "*"},
        {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"},
        {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "*"},
    ]
    document = json.dumps({"Statement": statements})
    return lambda gate, actor: gate.client("iam", actor).create_policy(PolicyName="p", PolicyDocument=document)


def _trusts(principal: Any, condition: Any = None, action: str = "sts:AssumeRole") -> Attack:
    narrowed = {"Condition": condition} if condition is not None else {}
    who = principal if isinstance(principal, dict) and set(principal) == {"NotPrincipal"} else {"Principal": principal}
    document = _document(Action=action, **who, **narrowed)
    return lambda gate, actor: gate.client("iam", actor).create_role(RoleName="new", AssumeRolePolicyDocument=document)


def _opens(principal: Any, condition: Any = None) -> Attack:
    narrowed = {"Condition": condition} if condition is not None else {}
    document = _document(Action="s3:GetObject", Resource="arn:aws:s3:::b/*", Principal=principal, **narrowed)
    return lambda gate, actor: gate.client("s3", actor).put_bucket_policy(Bucket="b", Policy=document)


def _lets_in(*rules: dict[str, Any]) -> Attack:
    permissions = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, **rule} for rule in rules]
    return lambda gate, actor: gate.client("ec2", actor).authorize_security_group_ingress(
        GroupId=GROUP, IpPermissions=permissions
    )


def _ranges(*cidrs: str) -> dict[str, Any]:
    return {"IpRanges": [{"CidrIp": cidr} for cidr in cidrs]}


def _expires(**rule: Any) -> Attack:
    whole = {"ID": "x", "Status": "Enabled", "Expiration": {"Days": 1}, **rule}
    return lambda gate, actor: gate.client("s3", actor).put_bucket_lifecycle_configuration(
        Bucket="b", LifecycleConfiguration={"Rules": [whole]}
    )


def _grantee(**grantee: str) -> Attack:
    grants = [{"Grantee": grantee, "Permission": "FULL_CONTROL"}]
    return lambda gate, actor: gate.client("s3", actor).put_bucket_acl(
        Bucket="b", AccessControlPolicy={"Owner": {"ID": "me"}, "Grants": grants}
    )


PROVIDER = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
AUDIENCE = {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"}
SUBJECT = "token.actions.githubusercontent.com:sub"

GRANTS: dict[str, Attack] = {
    "star on every ARN": _grants("*", "arn:aws:*"),
    "two stars": _grants("**"),
    "a mark and a star": _grants("?*", "?*"),
    "every service and every action": _grants("*:*", "arn:*"),
    "the first letter of IAM": _grants("i*:*"),
    "the middle of PassRole": _grants("iam:P?ssR*"),
    "pass, key and assume together": _grants(["iam:PassRole", "iam:CreateAccessKey", "sts:AssumeRole"]),
    "one of many statements": _denied_first(),
    "every role of every account": _grants("iam:PassRole", "arn:aws:iam::*:role/*"),
    "roles by their first letter": _grants("sts:AssumeRole", [f"arn:aws:iam::123456789012:role/{a}*" for a in "abc"]),
    "all but something": lambda gate, actor: gate.client("iam", actor).put_role_policy(
        RoleName="r",
        PolicyName="p",
        PolicyDocument=_document(NotAction="sqs:*", NotResource="arn:aws:sqs:us-east-1:123456789012:q"),
    ),
    "the same word twice in other letters": _grants("sqs:SendMessage", action="*"),
    "a boundary that is lifted": lambda gate, actor: gate.client("iam", actor).delete_role_permissions_boundary(
        RoleName="kafka-rebalancer"
    ),
    "a policy nobody has seen": lambda gate, actor: gate.client("iam", actor).attach_role_policy(
        RoleName="kafka-rebalancer", PolicyArn="arn:aws:iam::123456789012:policy/unseen"
    ),
    "an administrator of another partition": lambda gate, actor: gate.client("iam", actor).attach_role_policy(
        RoleName="kafka-rebalancer", PolicyArn="arn:aws-cn:iam::aws:policy/AdministratorAccess"
    ),
    "a role for an instance": lambda gate, actor: gate.client("ec2", actor).run_instances(
        ImageId="ami-1", MinCount=1, MaxCount=1, IamInstanceProfile={"Name": "admin"}
    ),
}
TRUSTS: dict[str, Attack] = {
    "the world behind MFA": _trusts("*", {"Bool": {"aws:MultiFactorAuthPresent": "true"}}),
    "the world but one": _trusts({"NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"}}),
    "any organization": _trusts({"AWS": "*"}, {"StringLike": {"aws:PrincipalOrgID": "o-*"}}),
    "an organization if there is one": _trusts({"AWS": "*"}, {"StringEqualsIfExists": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}),
    "another account": _trusts({"AWS": "arn:aws:iam::999999999999:root"}),
    "another account by its number": _trusts({"AWS": "999999999999"}, {"StringEquals": {"sts:ExternalId": "x"}}),
    "anybody's pipeline": _trusts({"Federated": PROVIDER}, {"StringEquals": AUDIENCE}, "sts:AssumeRoleWithWebIdentity"),
    "anybody's repository": _trusts({"Federated": PROVIDER}, {"StringEquals": AUDIENCE, "StringLike": {SUBJECT: "repo:*"}}, "sts:AssumeRoleWithWebIdentity"),
    "repositories that begin like ours": _trusts({"Federated": PROVIDER}, {"StringEquals": AUDIENCE, "StringLike": {SUBJECT: "repo:acme*"}}, "sts:AssumeRoleWithWebIdentity"),
    "SAML for any audience": _trusts({"Federated": "arn:aws:iam::123456789012:saml-provider/corp"}, None, "sts:AssumeRoleWithSAML"),
}  # fmt: skip
EXPOSES: dict[str, Attack] = {
    "everybody narrowed to everybody": _opens("*", {"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:*"}}),
    "everybody of any organization": _opens("*", {"StringLike": {"aws:PrincipalOrgID": "o-*"}}),
    "everybody with an account": _opens("*", {"StringLike": {"aws:PrincipalAccount": "?*"}}),
    "everybody over TLS": _opens({"AWS": ["*"]}, {"Bool": {"aws:SecureTransport": "true"}}),
    "everybody if the key is missing": _opens("*", {"ForAllValues:StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}),
    "another account": _opens({"AWS": "arn:aws:iam::999999999999:role/x"}),
    "a list for all users": _grantee(Type="Group", URI=ALL_USERS),
    "a list for whoever has an account": _grantee(Type="Group", URI="http://acs.amazonaws.com/groups/global/AuthenticatedUsers"),
    "a list for a stranger": _grantee(Type="CanonicalUser", ID="somebody"),
    "a list in a header": lambda gate, actor: gate.client("s3", actor).put_bucket_acl(Bucket="b", GrantFullControl=f'uri="{ALL_USERS}"'),
    "a function for another account": lambda gate, actor: gate.client("lambda", actor).add_permission(
        FunctionName="kafka-rebalancer", StatementId="s", Action="lambda:InvokeFunction", Principal="999999999999"
    ),
}  # fmt: skip
WORLDS: dict[str, Attack] = {
    "all 256 eighths": _lets_in(_ranges(*(f"{first}.0.0.0/8" for first in range(256)))),
    "two halves in two rules": _lets_in(_ranges("0.0.0.0/1"), _ranges("128.0.0.0/1")),
    "IPv6 in sixteenths": _lets_in({"Ipv6Ranges": [{"CidrIpv6": f"2{digit:x}00::/16"} for digit in range(16)]}),
    "IPv4 inside IPv6": _lets_in({"Ipv6Ranges": [{"CidrIpv6": "64:ff9b::/96"}]}),
    "more ports and more ranges": _lets_in(
        *({"FromPort": 1000 + first, "ToPort": 1000 + first, **_ranges(f"{first}.0.0.0/8")} for first in range(16, 30))
    ),
    "a prefix list": _lets_in({"PrefixListIds": [{"PrefixListId": "pl-1"}]}),
}
LOSSES: dict[str, Attack] = {
    "backups for a day": lambda gate, actor: gate.client("rds", actor).modify_db_instance(
        DBInstanceIdentifier=DATABASE, BackupRetentionPeriod=1
    ),
    "no backups": lambda gate, actor: gate.client("rds", actor).modify_db_instance(
        DBInstanceIdentifier=DATABASE, BackupRetentionPeriod=0
    ),
    "items that end": lambda gate, actor: gate.client("dynamodb", actor).update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"Enabled": True, "AttributeName": "x"}
    ),
    "everything expires": _expires(Filter={"Prefix": ""}),
    "everything of any size expires": _expires(Filter={"ObjectSizeGreaterThan": 1}),
    "everything under one letter expires": _expires(Filter={"Prefix": "a"}),
    "old versions expire": _expires(Filter={"Prefix": ""}, NoncurrentVersionExpiration={"NoncurrentDays": 1}),
    "a zone": lambda gate, actor: gate.client("route53", actor).delete_hosted_zone(Id="Z1"),
    "messages for a minute": lambda gate, actor: gate.client("sqs", actor).set_queue_attributes(
        QueueUrl="https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0",
        Attributes={"MessageRetentionPeriod": "60"},
    ),
    "logs for a day": lambda gate, actor: gate.client("logs", actor).put_retention_policy(
        logGroupName="/kafka/other", retentionInDays=1
    ),
    "the trail": lambda gate, actor: gate.client("cloudtrail", actor).stop_logging(Name="t"),
}
ATTACKS = {
    f"{group}: {name}": attack
    for group, attacks in (
        ("grants", GRANTS), ("trusts", TRUSTS), ("exposes", EXPOSES), ("opens", WORLDS), ("loses", LOSSES),
    )
    for name, attack in attacks.items()
}  # fmt: skip


@pytest.mark.parametrize("actor", ["pipeline", "human"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_it_waits_for_a_human_or_is_refused(gate: Gate, attack: Attack, actor: str) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError) as caught:
        attack(gate, actor)
    assert gate.upstream.asked == []
    assert "SEN-" in caught.value.response["Error"]["Message"] or _rules(gate, caught.value)
    assert not gate.run(gate.ledger.claims())


def _rules(gate: Gate, error: ClientError) -> set[str]:
    """The guardrails that spoke in the record of the refused call."""
    mutation = error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"]
    bodies: list[Any] = [record.body.members for record in gate.records(mutation_id=mutation)]
    rules = {finding["rule"] for body in bodies for finding in body.get("findings", [])}
    return {rule for rule in rules if rule.startswith("SEN-")}


HARMLESS: dict[str, Attack] = {
    "a whole service on everything": _grants("sqs:*"),
    "roles of one family": _grants("iam:PassRole", "arn:aws:iam::123456789012:role/kafka-*"),
    "a role for our own account": _trusts({"AWS": "arn:aws:iam::123456789012:root"}),
    "a role for our repository": _trusts({"Federated": PROVIDER}, {"StringEquals": AUDIENCE, "StringLike": {SUBJECT: "repo:acme/app:*"}}, "sts:AssumeRoleWithWebIdentity"),
    "a bucket for our account": _opens("*", {"StringEquals": {"aws:PrincipalAccount": "123456789012"}}),
    "temporary objects that expire": _expires(Filter={"Prefix": "tmp/"}),
    "backups for a month": lambda gate, actor: gate.client("rds", actor).modify_db_instance(DBInstanceIdentifier=DATABASE, BackupRetentionPeriod=30),
}  # fmt: skip


@pytest.mark.parametrize("call", HARMLESS.values(), ids=HARMLESS.keys())
def test_a_pipeline_still_does_its_work(gate: Gate, call: Attack) -> None:
    gate.upstream.asked.clear()
    # The scripted AWS replies to every call alike, which may not be what this one's reply looks like: what counts is that it was sent.
    with suppress(ClientError):
        call(gate, "pipeline")
    assert len(gate.upstream.asked) == 1
    gate.release_all()
