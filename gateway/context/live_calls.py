"""The AWS call that reads the live values of each resource type, and the conversion of its reply to the provider's attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from gateway.core.model.json import Json, to_json
from gateway.effects.schema import TypeSchema, known_schemas, match
from gateway.effects.tags import tag_map
from gateway.effects.values import NotUnderstood


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


_TAGS: Final = frozenset({"Tags", "TagList", "tags"})
_DEEPEST: Final = 4
_LISTS: Final = ("list(string)", "set(string)", "list(number)", "set(number)")


def live_attributes(resource_type: str, call: LiveCall, reply: Mapping[str, object]) -> Mapping[str, Json] | None:
    """Attribute path → live value, of all that is known by its name; None if the reply does not have the resource."""
    described = _found(reply, call.found)
    schema = _schemas().get(resource_type)
    if described is None or schema is None:
        return None
    return dict(_attributes(schema, call, described, ()))


@cache
def _schemas() -> Mapping[str, TypeSchema]:
    """The schemas of the resource types that can be read, from the file that ships with the gateway: read at the first live read."""
    return known_schemas(frozenset(LIVE_CALLS))


def _found(reply: object, steps: Sequence[str]) -> Mapping[str, object] | None:
    """What the steps lead to. Of a list that has several items, none is the one that was asked for."""
    for step in steps:
        if step == "*":
            reply = reply[0] if isinstance(reply, list) and len(reply) == 1 else None
        else:
            reply = reply.get(step) if isinstance(reply, Mapping) else None
    return reply if isinstance(reply, Mapping) else None


def _attributes(
    schema: TypeSchema, call: LiveCall, described: Mapping[str, object], above: tuple[str, ...]
) -> Iterator[tuple[str, Json]]:
    for name, value in described.items():
        steps = (*above, name)
        if name in _TAGS and not above:
            yield from _tags(schema, value)
        elif isinstance(value, Mapping) and len(steps) < _DEEPEST:
            yield from _attributes(schema, call, value, steps)
        else:
            path = _attribute(schema, call, steps)
            if path and (typed := _typed(schema.kinds[path], value)) is not None:
                yield path, typed


def _attribute(schema: TypeSchema, call: LiveCall, steps: tuple[str, ...]) -> str | None:
    """The attribute of a member of the reply; None if the call leaves it out, or no name fits."""
    named = call.names.get(".".join(steps))
    path = match(schema, steps) if named is None else named
    return path if path and path in schema.kinds else None


def _tags(schema: TypeSchema, value: object) -> Iterator[tuple[str, Json]]:
    if schema.kinds.get("tags") == "map(string)":
        try:
            yield "tags", dict(tag_map(value))
        except NotUnderstood:
            return


def _typed(kind: str, value: Any) -> Json:
    """The value in the provider's form; None if it has another form than the schema says."""
    match kind:
        case "number" if not isinstance(value, bool):
            return _number(value)
        case "bool" if isinstance(value, bool) or value in ("true", "false"):
            return value is True or value == "true"
        case "string" if not isinstance(value, Mapping | list | bool):
            return str(to_json(value))
        case _ if kind in _LISTS and isinstance(value, list):
            items = [each for each in value if isinstance(each, str | int)]
            return items if len(items) == len(value) else None
        case _:
            return None


def _number(value: Any) -> Json:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else number
