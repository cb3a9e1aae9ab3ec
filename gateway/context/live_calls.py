"""By which call of AWS the live values of a resource type are read, as data. Every one is a read that returns no secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCall:
    """One call that describes one resource."""

    service: str
    operation: str
    parameters: Mapping[str, str]
    """Parameter → the recorded attribute that it is given; with `[]` behind its name it takes a list."""
    constants: Mapping[str, Json] = field(default_factory=dict)
    """Parameters that are the same for every resource."""
    found: tuple[str, ...] = ()
    """The steps from the reply to the resource; `*` is the only item of a list."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Member of the reply, by its dotted path → attribute, where the names do not say it. An empty attribute leaves the member out."""

    def request(self, recorded: Mapping[str, Json]) -> Mapping[str, Json] | None:
        """The parameters of the call for a resource; None if its state does not identify it."""
        given: dict[str, Json] = dict(self.constants)
        for name, attribute in self.parameters.items():
            value = recorded.get(attribute)
            if not isinstance(value, str) or not value:
                return None
            given[name.removesuffix("[]")] = [value] if name.endswith("[]") else value
        return given


def _call(service: str, operation: str, parameters: Mapping[str, str], *found: str, **names: str) -> LiveCall:
    dotted = {name.replace("__", "."): attribute for name, attribute in names.items()}
    return LiveCall(service=service, operation=operation, parameters=parameters, found=found, names=dotted)


LIVE_CALLS: Final[Mapping[str, LiveCall]] = {
    "aws_autoscaling_group": _call(
        "autoscaling",
        "DescribeAutoScalingGroups",
        {"AutoScalingGroupNames[]": "name"},
        "AutoScalingGroups",
        "*",
        LaunchConfigurationName="launch_configuration",
        LoadBalancerNames="load_balancers",
        NewInstancesProtectedFromScaleIn="protect_from_scale_in",
        TargetGroupARNs="target_group_arns",
    ),
    "aws_sqs_queue": LiveCall(
        service="sqs",
        operation="GetQueueAttributes",
        parameters={"QueueUrl": "url"},
        constants={"AttributeNames": ["All"]},
        found=("Attributes",),
        names={
            "MaximumMessageSize": "max_message_size",
            "MessageRetentionPeriod": "message_retention_seconds",
            "ReceiveMessageWaitTimeSeconds": "receive_wait_time_seconds",
            "VisibilityTimeout": "visibility_timeout_seconds",
        },
    ),
    "aws_sns_topic": _call("sns", "GetTopicAttributes", {"TopicArn": "arn"}, "Attributes"),
    "aws_dynamodb_table": _call(
        "dynamodb",
        "DescribeTable",
        {"TableName": "name"},
        "Table",
        BillingModeSummary__BillingMode="billing_mode",
        ProvisionedThroughput__ReadCapacityUnits="read_capacity",
        ProvisionedThroughput__WriteCapacityUnits="write_capacity",
        TableName="name",
    ),
    "aws_security_group": _call(
        "ec2",
        "DescribeSecurityGroups",
        {"GroupIds[]": "id"},
        "SecurityGroups",
        "*",
        GroupName="name",
        IpPermissions="",
        IpPermissionsEgress="",
    ),
    "aws_instance": _call(
        "ec2", "DescribeInstances", {"InstanceIds[]": "id"}, "Reservations", "*", "Instances", "*", ImageId="ami"
    ),
    "aws_cloudwatch_log_group": _call(
        "logs", "DescribeLogGroups", {"logGroupNamePrefix": "name"}, "logGroups", "*", logGroupName="name"
    ),
    "aws_cloudwatch_metric_alarm": _call(
        "cloudwatch", "DescribeAlarms", {"AlarmNames[]": "alarm_name"}, "MetricAlarms", "*"
    ),
    "aws_ecs_service": _call(
        "ecs", "DescribeServices", {"cluster": "cluster", "services[]": "name"}, "services", "*", serviceName="name"
    ),
    "aws_db_instance": _call(
        "rds",
        "DescribeDBInstances",
        {"DBInstanceIdentifier": "identifier"},
        "DBInstances",
        "*",
        DBInstanceClass="instance_class",
        DBInstanceIdentifier="identifier",
    ),
    "aws_elasticache_replication_group": _call(
        "elasticache",
        "DescribeReplicationGroups",
        {"ReplicationGroupId": "replication_group_id"},
        "ReplicationGroups",
        "*",
        CacheNodeType="node_type",
    ),
    "aws_kinesis_stream": _call(
        "kinesis",
        "DescribeStreamSummary",
        {"StreamName": "name"},
        "StreamDescriptionSummary",
        OpenShardCount="shard_count",
        RetentionPeriodHours="retention_period",
        StreamName="name",
    ),
    "aws_iam_role": _call("iam", "GetRole", {"RoleName": "name"}, "Role", RoleName="name", AssumeRolePolicyDocument=""),
    "aws_kms_key": _call("kms", "DescribeKey", {"KeyId": "key_id"}, "KeyMetadata", Enabled="is_enabled"),
    "aws_lb": _call("elbv2", "DescribeLoadBalancers", {"LoadBalancerArns[]": "arn"}, "LoadBalancers", "*"),
    "aws_eks_node_group": _call(
        "eks", "DescribeNodegroup", {"clusterName": "cluster_name", "nodegroupName": "node_group_name"}, "nodegroup"
    ),
}
"""By resource type."""
