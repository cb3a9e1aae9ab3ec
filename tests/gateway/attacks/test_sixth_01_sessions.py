"""Somebody steals the session of a plan that changes one tag, and sends calls that contradict no value of the plan.

They stop a trail, switch an encryption off, delete recovery points and users, drop tags and security groups, or write a pool without its MFA.
What must hold: a call serves something that the plan changes, and takes nothing away that the plan keeps, whether it says so by a value, by its
name or by what it leaves out. What the plan changes still passes.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gateway.core.settings import StackSettings
from tests.kit.applying import opened, planned, refused
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ACCOUNT = "123456789012"
QUEUE = f"https://sqs.us-east-1.amazonaws.com/{ACCOUNT}/orders"
BALANCER = f"arn:aws:elasticloadbalancing:us-east-1:{ACCOUNT}:loadbalancer/app/front/1"
KEY = "11111111-2222-3333-4444-555555555555"
_TAGS = {"owner": "shop", "data": "pii"}
RESOURCES: Mapping[str, Mapping[str, Any]] = {
    "aws_cloudtrail.it": {"id": "trail", "name": "trail", "enable_logging": True},
    "aws_kinesis_stream.it": {"id": "stream", "name": "stream", "encryption_type": "KMS", "kms_key_id": "alias/k"},
    "aws_backup_vault.it": {"id": "vault", "name": "vault"},
    "aws_glacier_vault.it": {"id": "cold", "name": "cold", "access_policy": '{"Statement": []}'},
    "aws_lambda_function.it": {
        "id": "fn",
        "function_name": "fn",
        "code_signing_config_arn": f"arn:aws:lambda:us-east-1:{ACCOUNT}:code-signing-config:csc-1",
    },
    "aws_mq_broker.it": {"id": "b-1", "broker_name": "broker", "user": [{"username": "app"}, {"username": "old"}]},
    "aws_elasticache_replication_group.it": {
        "id": "cache",
        "replication_group_id": "cache",
        "num_cache_clusters": 3,
    },
    "aws_kms_key.it": {"id": KEY, "key_id": KEY},
    "aws_s3_bucket.it": {"id": "shop-data", "bucket": "shop-data"},
    "aws_sqs_queue.it": {"id": QUEUE, "url": QUEUE, "name": "orders"},
    "aws_instance.it": {"id": "i-0aaaaaaaaaaaaaaaa", "vpc_security_group_ids": ["sg-1", "sg-2"]},
    "aws_lb.it": {"id": BALANCER, "arn": BALANCER, "name": "front", "security_groups": ["sg-1", "sg-2"]},
    "aws_cognito_user_pool.it": {
        "id": "us-east-1_pool",
        "name": "pool",
        "mfa_configuration": "ON",
        "auto_verified_attributes": ["email"],
    },
    "aws_wafv2_ip_set.it": {
        "id": "ips",
        "name": "ips",
        "scope": "REGIONAL",
        "addresses": ["10.0.0.0/8", "192.0.2.0/24"],
    },
    "aws_vpc_endpoint.it": {"id": "vpce-1", "security_group_ids": ["sg-1", "sg-2"], "policy": '{"Statement": []}'},
    "aws_db_event_subscription.it": {"id": "events", "name": "events", "source_ids": ["one", "two"], "enabled": True},
}
"""Address → what the state records, beside its tags."""


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with a stack of these resources."""
    directory = tmp_path_factory.mktemp("gate")
    shop = directory / "shop"
    shop.mkdir()
    entries = []
    for address, attributes in RESOURCES.items():
        kind, name = address.split(".")
        whole = {**attributes, "tags": _TAGS, "tags_all": _TAGS}
        entries.append(
            {
                "mode": "managed",
                "type": kind,
                "name": name,
                "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
                "instances": [{"schema_version": 0, "attributes": whole}],
            }
        )
    state = {"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "shop", "resources": entries}
    (shop / "terraform.tfstate").write_text(json.dumps(state))
    blocks = ['resource "{}" "{}" {{}}\n'.format(*address.split(".")) for address in RESOURCES]
    (shop / "main.tf").write_text('provider "aws" {\n  region = "us-east-1"\n}\n' + "".join(blocks))
    with Gate(directory=directory, more_stacks=(StackSettings(name="shop", path=shop),)) as running:
        yield running


def call_of(gate: Gate, kind: str, values: Mapping[str, Any], operation: str) -> Any:
    """The call in the session of a plan that changes these values of the resource."""
    session = opened(gate, planned(f"{kind}.it", "update", values=values), stack="shop")
    service, _, method = operation.partition(":")
    return getattr(session.client(service), method)


TAG = {"tags.note": "x"}
POINT = f"arn:aws:backup:us-east-1:{ACCOUNT}:recovery-point:1"


@pytest.mark.parametrize(
    ("kind", "operation", "parameters"),
    [
        ("aws_cloudtrail", "cloudtrail:stop_logging", {"Name": "trail"}),
        (
            "aws_kinesis_stream",
            "kinesis:stop_stream_encryption",
            {"StreamName": "stream", "EncryptionType": "KMS", "KeyId": "alias/k"},
        ),
        (
            "aws_backup_vault",
            "backup:delete_recovery_point",
            {"BackupVaultName": "vault", "RecoveryPointArn": POINT},
        ),
        ("aws_glacier_vault", "glacier:delete_vault_access_policy", {"accountId": "-", "vaultName": "cold"}),
        ("aws_lambda_function", "lambda:delete_function_code_signing_config", {"FunctionName": "fn"}),
        ("aws_mq_broker", "mq:delete_user", {"BrokerId": "b-1", "Username": "app"}),
        (
            "aws_elasticache_replication_group",
            "elasticache:decrease_replica_count",
            {"ReplicationGroupId": "cache", "NewReplicaCount": 0, "ApplyImmediately": True},
        ),
        ("aws_kms_key", "kms:delete_imported_key_material", {"KeyId": KEY}),
        (
            "aws_instance",
            "ec2:reset_instance_attribute",
            {"InstanceId": "i-0aaaaaaaaaaaaaaaa", "Attribute": "sourceDestCheck"},
        ),
        ("aws_cognito_user_pool", "cognito-idp:update_user_pool", {"UserPoolId": "us-east-1_pool"}),
        ("aws_s3_bucket", "s3:delete_bucket_tagging", {"Bucket": "shop-data"}),
        (
            "aws_s3_bucket",
            "s3:put_bucket_tagging",
            {"Bucket": "shop-data", "Tagging": {"TagSet": [{"Key": "note", "Value": "x"}]}},
        ),
        ("aws_sqs_queue", "sqs:untag_queue", {"QueueUrl": QUEUE, "TagKeys": ["note", "owner"]}),
        ("aws_instance", "ec2:delete_tags", {"Resources": ["i-0aaaaaaaaaaaaaaaa"], "Tags": [{"Key": "owner"}]}),
        (
            "aws_elasticache_replication_group",
            "elasticache:remove_tags_from_resource",
            {"ResourceName": f"arn:aws:elasticache:us-east-1:{ACCOUNT}:replicationgroup:cache", "TagKeys": ["owner"]},
        ),
    ],
)
def test_a_plan_of_one_tag_takes_nothing_else_away(
    gate: Gate, kind: str, operation: str, parameters: dict[str, Any]
) -> None:
    sent = len(gate.upstream.asked)
    why = refused(call_of(gate, kind, TAG, operation), **parameters)
    assert "fits no change of plan" in why
    assert len(gate.upstream.asked) == sent


@pytest.mark.parametrize(
    ("kind", "values", "operation", "parameters"),
    [
        (
            "aws_wafv2_ip_set",
            {"addresses": ["10.0.0.0/8", "198.51.100.0/24"]},
            "wafv2:update_ip_set",
            {"Name": "ips", "Scope": "REGIONAL", "Id": "ips", "Addresses": ["192.0.2.0/24"], "LockToken": "t"},
        ),
        (
            "aws_lb",
            {"security_groups": ["sg-1", "sg-3"]},
            "elbv2:set_security_groups",
            {"LoadBalancerArn": BALANCER, "SecurityGroups": ["sg-2"]},
        ),
        (
            "aws_instance",
            {"vpc_security_group_ids": ["sg-1", "sg-3"]},
            "ec2:modify_instance_attribute",
            {"InstanceId": "i-0aaaaaaaaaaaaaaaa", "Groups": ["sg-2"]},
        ),
        (
            "aws_vpc_endpoint",
            {"security_group_ids": ["sg-1", "sg-3"]},
            "ec2:modify_vpc_endpoint",
            {"VpcEndpointId": "vpce-1", "RemoveSecurityGroupIds": ["sg-1"]},
        ),
        (
            "aws_db_event_subscription",
            {"source_ids": ["one"]},
            "rds:remove_source_identifier_from_subscription",
            {"SubscriptionName": "events", "SourceIdentifier": "one"},
        ),
        (
            "aws_mq_broker",
            {"user": [{"username": "app"}]},
            "mq:delete_user",
            {"BrokerId": "b-1", "Username": "app"},
        ),
        (
            "aws_cognito_user_pool",
            {"auto_verified_attributes": ["email", "phone_number"]},
            "cognito-idp:update_user_pool",
            {"UserPoolId": "us-east-1_pool", "AutoVerifiedAttributes": ["email", "phone_number"]},
        ),
    ],
)
def test_what_a_changed_list_or_a_written_resource_keeps_is_not_left_out(
    gate: Gate, kind: str, values: dict[str, Any], operation: str, parameters: dict[str, Any]
) -> None:
    sent = len(gate.upstream.asked)
    assert "fits no change of plan" in refused(call_of(gate, kind, values, operation), **parameters)
    assert len(gate.upstream.asked) == sent


@pytest.mark.parametrize(
    ("kind", "values", "operation", "parameters"),
    [
        (
            "aws_kinesis_stream",
            {"encryption_type": "NONE", "kms_key_id": ""},
            "kinesis:stop_stream_encryption",
            {"StreamName": "stream", "EncryptionType": "KMS", "KeyId": "alias/k"},
        ),
        ("aws_sqs_queue", {"tags.data": None}, "sqs:untag_queue", {"QueueUrl": QUEUE, "TagKeys": ["data"]}),
        (
            "aws_instance",
            {"vpc_security_group_ids": ["sg-1", "sg-3"]},
            "ec2:modify_instance_attribute",
            {"InstanceId": "i-0aaaaaaaaaaaaaaaa", "Groups": ["sg-1", "sg-3"]},
        ),
        (
            "aws_vpc_endpoint",
            {"security_group_ids": ["sg-1", "sg-3"]},
            "ec2:modify_vpc_endpoint",
            {"VpcEndpointId": "vpce-1", "AddSecurityGroupIds": ["sg-3"], "RemoveSecurityGroupIds": ["sg-2"]},
        ),
    ],
)
def test_what_the_plan_takes_away_goes(
    gate: Gate, kind: str, values: dict[str, Any], operation: str, parameters: dict[str, Any]
) -> None:
    sent = len(gate.upstream.asked)
    call_of(gate, kind, values, operation)(**parameters)
    assert len(gate.upstream.asked) == sent + 1
