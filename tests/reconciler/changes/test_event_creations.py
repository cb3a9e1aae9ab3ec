"""What a call created is read from its record, in the API's member names and in CloudTrail's own for EC2 and S3."""

from typing import Any

import pytest

from reconciler.changes.event_creations import read_creation


def _call(event: str, asked: dict[str, Any], answered: dict[str, Any] | None = None) -> dict[str, Any]:
    service, _, name = event.partition(":")
    return {
        "eventSource": f"{service}.amazonaws.com",
        "eventName": name,
        "requestParameters": asked,
        "responseElements": answered,
    }


_POLICY = '{"Version": "2012-10-17", "Statement": []}'
_RANGE = {"ipProtocol": "tcp", "fromPort": 22, "toPort": 22}


@pytest.mark.parametrize(
    ("call", "resource_type", "import_id", "attributes"),
    [
        (_call("sqs:CreateQueue", {"queueName": "a", "tags": {"x": "y"}}, {"queueUrl": "https://q/a"}), "aws_sqs_queue", "https://q/a", {"name": "a", "tags": {"x": "y"}}),
        (_call("sns:CreateTopic", {"name": "a"}, {"topicArn": "arn:a"}), "aws_sns_topic", "arn:a", {"name": "a"}),
        (_call("logs:CreateLogGroup", {"logGroupName": "/a"}), "aws_cloudwatch_log_group", "/a", {"name": "/a"}),
        (_call("ssm:PutParameter", {"name": "/a", "type": "String", "value": "1"}), "aws_ssm_parameter", "/a", {"name": "/a", "type": "String", "value": "1"}),
        (_call("s3:CreateBucket", {"bucketName": "a"}), "aws_s3_bucket", "a", {"bucket": "a"}),
        (_call("s3:PutBucketVersioning", {"bucketName": "a", "VersioningConfiguration": {"Status": "Enabled"}}), "aws_s3_bucket_versioning", "a", {"bucket": "a", "versioning_configuration": [{"status": "Enabled"}]}),
        (_call("s3:PutBucketPolicy", {"bucketName": "a", "bucketPolicy": {"Version": "x"}}), "aws_s3_bucket_policy", "a", {"bucket": "a", "policy": {"json": {"Version": "x"}}}),
        (
            _call("s3:PutBucketEncryption", {"bucketName": "a", "ServerSideEncryptionConfiguration": {"Rule": {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}}}),
            "aws_s3_bucket_server_side_encryption_configuration",
            "a",
            {"bucket": "a", "rule": [{"apply_server_side_encryption_by_default": [{"sse_algorithm": "AES256"}]}]},
        ),
        (
            _call("s3:PutBucketLifecycle", {"bucketName": "a", "LifecycleConfiguration": {"Rule": {"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 9}}}}),
            "aws_s3_bucket_lifecycle_configuration",
            "a",
            {"bucket": "a", "rule": [{"id": "x", "status": "Enabled", "filter": [{"prefix": ""}], "expiration": [{"days": 9}]}]},
        ),
        (_call("iam:PutRolePolicy", {"roleName": "r", "policyName": "p", "policyDocument": _POLICY}), "aws_iam_role_policy", "r:p", {"name": "p", "role": "r", "policy": {"json": {"Version": "2012-10-17", "Statement": []}}}),
        (_call("iam:AttachRolePolicy", {"roleName": "r", "policyArn": "arn:p"}), "aws_iam_role_policy_attachment", "r/arn:p", {"role": "r", "policy_arn": "arn:p"}),
        (_call("ec2:CreateRoute", {"routeTableId": "rtb", "destinationCidrBlock": "10.0.0.0/8", "gatewayId": "igw"}), "aws_route", "rtb_10.0.0.0/8", {"route_table_id": "rtb", "destination_cidr_block": "10.0.0.0/8", "gateway_id": "igw"}),
        (_call("ec2:CreateSecurityGroup", {"groupName": "a", "groupDescription": "b", "vpcId": "v"}, {"groupId": "sg"}), "aws_security_group", "sg", {"name": "a", "description": "b", "vpc_id": "v"}),
        (
            _call("ec2:AuthorizeSecurityGroupIngress", {"groupId": "sg", "ipPermissions": {"items": [{**_RANGE, "ipRanges": {"items": [{"cidrIp": "10.0.0.0/8"}]}}]}}, {"securityGroupRuleSet": {"items": [{"securityGroupRuleId": "sgr"}]}}),
            "aws_vpc_security_group_ingress_rule",
            "sgr",
            {"security_group_id": "sg", "ip_protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_ipv4": "10.0.0.0/8"},
        ),
        (
            _call("elasticloadbalancing:CreateListener", {"loadBalancerArn": "lb", "port": 80, "protocol": "HTTP", "defaultActions": [{"type": "forward", "targetGroupArn": "tg"}]}, {"listeners": [{"listenerArn": "l"}]}),
            "aws_lb_listener",
            "l",
            {"load_balancer_arn": "lb", "port": 80, "protocol": "HTTP", "default_action": [{"type": "forward", "target_group_arn": "tg"}]},
        ),
        (
            _call("ec2:RunInstances", {"tagSpecificationSet": {"items": [{"resourceType": "instance", "tags": [{"key": "Name", "value": "n"}]}]}}, {"instancesSet": {"items": [{"instanceId": "i", "imageId": "ami", "instanceType": "t3.nano", "subnetId": "s"}]}}),
            "aws_instance",
            "i",
            {"ami": "ami", "instance_type": "t3.nano", "subnet_id": "s", "tags": {"Name": "n"}},
        ),
    ],
)  # fmt: skip
def test_what_was_created(call: dict[str, Any], resource_type: str, import_id: str, attributes: dict[str, Any]) -> None:
    created = read_creation(call)
    assert created is not None
    assert (created.resource_type, created.import_id, created.attributes) == (resource_type, import_id, attributes)


@pytest.mark.parametrize(
    "call",
    [
        {},
        _call("sqs:DeleteQueue", {"queueUrl": "x"}),
        _call("sqs:CreateQueue", {"queueName": "a"}),
        _call("ssm:PutParameter", {"name": "/a", "type": "SecureString", "value": "s3cret"}),
        _call("ssm:PutParameter", {"name": "/db/password", "type": "String", "value": "hunter"}),
        _call("ssm:PutParameter", {"name": "/a", "type": "String", "value": "AKx93-jd8Kw"}),
        _call("ssm:PutParameter", {"name": "/a", "type": "String", "value": "HIDDEN_DUE_TO_SECURITY_REASONS"}),
        _call("s3:PutBucketVersioning", {"bucketName": "a"}),
        _call("s3:PutBucketLifecycle", {"bucketName": "a", "LifecycleConfiguration": {"Rule": {"ID": "x", "Status": "Enabled", "Transition": {}}}}),
        _call("ec2:AuthorizeSecurityGroupIngress", {"groupId": "sg", "ipPermissions": [_RANGE, _RANGE]}, {"securityGroupRules": [{"securityGroupRuleId": "a"}, {"securityGroupRuleId": "b"}]}),
        _call("ec2:RunInstances", {}, {"instancesSet": {"items": [{"instanceId": "i"}, {"instanceId": "j"}]}}),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_nothing(call: dict[str, Any]) -> None:
    assert read_creation(call) is None
