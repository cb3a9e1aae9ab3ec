"""CloudFormation's resource types in the terms of calls and rows: what it takes to create, change and delete one.

A type that is not in the table is held. A type is added after its properties were compared with the provider's attributes: most have the
same names, and `attributes` has the others.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from gateway.effects.call_context import CallContext, Target
from gateway.effects.naming import queue_url, topic
from gateway.effects.operation import CREATE, DELETE, SET, Identify, Operation, Translate
from gateway.effects.proxies.carried import Runtime, holds_runtime, shown
from gateway.effects.tags import set_tags
from gateway.effects.values import NotUnderstood

LOGICAL_ID = "LogicalResourceId"
"""The parameter of an inner call that tells resources of one template apart, before AWS names them."""
_TYPE = re.compile(r"AWS::([A-Za-z0-9]{1,64})::([A-Za-z0-9]{1,64})")
_SERVICES = {"sso": "sso-admin", "elasticloadbalancingv2": "elbv2", "certificatemanager": "acm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call that CloudFormation makes for a resource."""

    service: str
    operation: str
    parameters: Mapping[str, object]
    row: Operation | None = None
    """What it does, where the parameters are the resource's properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRow:
    """A type whose properties are attributes of a Terraform type."""

    service: str
    operations: tuple[str, str, str]
    """What creates, changes and deletes one; policies know these."""
    resource_type: str
    name: str
    """The property that names the resource."""
    identify: str | Identify
    """Converts the name, or the identifier that Cloud Control uses, to identifying attributes."""
    attributes: Mapping[str, str | Translate] = field(default_factory=dict)

    def creation(self, properties: Mapping[str, object]) -> Iterator[Step]:
        """What creates a resource with these properties."""
        row = Operation(
            resource_type=self.resource_type,
            identity={self.name: self.identify},
            action=CREATE,
            attributes={"Tags": set_tags, **self.attributes},
            controls=frozenset({LOGICAL_ID}),
        )
        yield Step(service=self.service, operation=self.operations[0], parameters=properties, row=row)

    def change(self, identifier: str, properties: Mapping[str, object]) -> Iterator[Step]:
        """What gives a resource these properties. Raises `NotUnderstood` if its name is among them, or its tags: all are replaced."""
        if self.name in properties or "Tags" in properties:
            raise NotUnderstood(f"a change of {self.name} or of Tags")
        row = Operation(
            resource_type=self.resource_type,
            identity={"Identifier": self.identify},
            action=SET,
            attributes=self.attributes,
            controls=frozenset({LOGICAL_ID}),
        )
        yield Step(
            service=self.service,
            operation=self.operations[1],
            parameters={"Identifier": identifier, **properties},
            row=row,
        )

    def deletion(self, identifier: str) -> Iterator[Step]:
        """What deletes a resource."""
        row = Operation(resource_type=self.resource_type, identity={"Identifier": self.identify}, action=DELETE)
        yield Step(service=self.service, operation=self.operations[2], parameters={"Identifier": identifier}, row=row)


Steps = Callable[[Mapping[str, object]], Iterator[Step]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByCalls:
    """A type whose properties are parameters of the calls that create it. Changes of it are not unpacked."""

    service: str
    name: str
    create: Steps
    delete: tuple[str, str]
    """The operation that deletes one, and its parameter for the name; a list of names if it ends with `[]`."""

    def creation(self, properties: Mapping[str, object]) -> Iterator[Step]:
        """What creates a resource with these properties. Raises `NotUnderstood` if they do not name it."""
        if not isinstance(properties.get(self.name), str):
            raise NotUnderstood(f"no {self.name}: AWS would choose the name")
        yield from self.create({name: value for name, value in properties.items() if name != LOGICAL_ID})

    def change(self, _identifier: str, _properties: Mapping[str, object]) -> Iterator[Step]:
        """Raises `NotUnderstood`."""
        raise NotUnderstood("a change of a resource of a type whose changes are not unpacked")

    def deletion(self, identifier: str) -> Iterator[Step]:
        """What deletes a resource."""
        operation, parameter = self.delete
        value: object = [identifier] if parameter.endswith("[]") else identifier
        yield Step(service=self.service, operation=operation, parameters={parameter.removesuffix("[]"): value})


def _queue(context: CallContext, text: str) -> Mapping[str, str]:
    return queue_url(context, text) if text.startswith("https://") else {"name": text}


def _topic(context: CallContext, text: str) -> Mapping[str, str]:
    return topic(context, text) if text.startswith("arn:") else {"name": text}


def _document_in(attribute: str) -> Translate:
    """A property that is a JSON object where the attribute is its text."""

    def translate(_target: Target, value: object) -> Mapping[str, str]:
        return {attribute: value if isinstance(value, str) else json.dumps(value)}

    return translate


def _same(service: str, operation: str) -> Steps:
    """Properties that have the names of the parameters."""

    def requests(properties: Mapping[str, object]) -> Iterator[Step]:
        yield Step(service=service, operation=operation, parameters=properties)

    return requests


_MACHINE = {
    "DefinitionString": "definition", "RoleArn": "roleArn", "StateMachineName": "name", "StateMachineType": "type",
    "LoggingConfiguration": "loggingConfiguration", "TracingConfiguration": "tracingConfiguration",
}  # fmt: skip


def _machine(properties: Mapping[str, object]) -> Iterator[Step]:
    parameters: dict[str, object] = {}
    for name, value in properties.items():
        if name == "Definition":
            parameters["definition"] = _text(value)
        else:
            parameters[_MACHINE.get(name, name)] = value
    yield Step(service="stepfunctions", operation="CreateStateMachine", parameters=parameters)


def _rule(properties: Mapping[str, object]) -> Iterator[Step]:
    """A rule, and then its targets."""
    rule = {name: value for name, value in properties.items() if name != "Targets"}
    if "EventPattern" in rule:
        rule["EventPattern"] = _text(rule["EventPattern"])
    yield Step(service="events", operation="PutRule", parameters=rule)
    if properties.get("Targets"):
        place = {"EventBusName": rule["EventBusName"]} if rule.get("EventBusName") else {}
        parameters = {"Rule": rule.get("Name"), "Targets": properties["Targets"], **place}
        yield Step(service="events", operation="PutTargets", parameters=parameters)


def _role(properties: Mapping[str, object]) -> Iterator[Step]:
    """A role, then its policies."""
    role = {name: value for name, value in properties.items() if name not in ("Policies", "ManagedPolicyArns")}
    role["AssumeRolePolicyDocument"] = _text(role.get("AssumeRolePolicyDocument"))
    yield Step(service="iam", operation="CreateRole", parameters=role)
    named = {"RoleName": role["RoleName"]}
    for arn in _listed(properties.get("ManagedPolicyArns")):
        yield Step(service="iam", operation="AttachRolePolicy", parameters={**named, "PolicyArn": arn})
    for policy in _listed(properties.get("Policies")):
        if not isinstance(policy, Mapping) or set(policy) != {"PolicyName", "PolicyDocument"}:
            raise NotUnderstood("a policy in an unknown form")
        document = {"PolicyName": policy["PolicyName"], "PolicyDocument": _text(policy["PolicyDocument"])}
        yield Step(service="iam", operation="PutRolePolicy", parameters={**named, **document})


def _text(value: object) -> object:
    """A property that is an object where the parameter is its text. With a part that is filled in later, so is the text."""
    if not isinstance(value, Mapping):
        return value
    return Runtime("a document") if holds_runtime(value) else json.dumps(value)


def _listed(value: object) -> list[object]:
    if value is not None and not isinstance(value, (list, tuple)):
        raise NotUnderstood("a list in an unknown form")
    return list(value or [])


RESOURCE_TYPES: Mapping[str, ByRow | ByCalls] = {
    "AWS::CloudWatch::Alarm": ByCalls(
        service="cloudwatch",
        name="AlarmName",
        create=_same("cloudwatch", "PutMetricAlarm"),
        delete=("DeleteAlarms", "AlarmNames[]"),
    ),
    "AWS::DynamoDB::Table": ByCalls(
        service="dynamodb",
        name="TableName",
        create=_same("dynamodb", "CreateTable"),
        delete=("DeleteTable", "TableName"),
    ),
    "AWS::ECR::Repository": ByRow(
        service="ecr",
        operations=("CreateRepository", "PutImageTagMutability", "DeleteRepository"),
        resource_type="aws_ecr_repository",
        name="RepositoryName",
        identify="name",
    ),
    "AWS::Events::Rule": ByCalls(service="events", name="Name", create=_rule, delete=("DeleteRule", "Name")),
    "AWS::IAM::Role": ByCalls(service="iam", name="RoleName", create=_role, delete=("DeleteRole", "RoleName")),
    "AWS::Kinesis::Stream": ByRow(
        service="kinesis",
        operations=("CreateStream", "UpdateShardCount", "DeleteStream"),
        resource_type="aws_kinesis_stream",
        name="Name",
        identify="name",
        attributes={"RetentionPeriodHours": "retention_period"},
    ),
    "AWS::Lambda::Function": ByCalls(
        service="lambda",
        name="FunctionName",
        create=_same("lambda", "CreateFunction"),
        delete=("DeleteFunction", "FunctionName"),
    ),
    "AWS::Logs::LogGroup": ByRow(
        service="logs",
        operations=("CreateLogGroup", "PutRetentionPolicy", "DeleteLogGroup"),
        resource_type="aws_cloudwatch_log_group",
        name="LogGroupName",
        identify="name",
    ),
    "AWS::S3::Bucket": ByRow(
        service="s3",
        operations=("CreateBucket", "PutBucketTagging", "DeleteBucket"),
        resource_type="aws_s3_bucket",
        name="BucketName",
        identify="bucket",
    ),
    "AWS::SNS::Topic": ByRow(
        service="sns",
        operations=("CreateTopic", "SetTopicAttributes", "DeleteTopic"),
        resource_type="aws_sns_topic",
        name="TopicName",
        identify=_topic,
    ),
    "AWS::SQS::Queue": ByRow(
        service="sqs",
        operations=("CreateQueue", "SetQueueAttributes", "DeleteQueue"),
        resource_type="aws_sqs_queue",
        name="QueueName",
        identify=_queue,
        attributes={
            "MaximumMessageSize": "max_message_size",
            "MessageRetentionPeriod": "message_retention_seconds",
            "ReceiveMessageWaitTimeSeconds": "receive_wait_time_seconds",
            "RedriveAllowPolicy": _document_in("redrive_allow_policy"),
            "RedrivePolicy": _document_in("redrive_policy"),
            "VisibilityTimeout": "visibility_timeout_seconds",
        },
    ),
    "AWS::SSM::Parameter": ByCalls(
        service="ssm", name="Name", create=_same("ssm", "PutParameter"), delete=("DeleteParameter", "Name")
    ),
    "AWS::Scheduler::Schedule": ByCalls(
        service="scheduler", name="Name", create=_same("scheduler", "CreateSchedule"), delete=("DeleteSchedule", "Name")
    ),
    "AWS::StepFunctions::StateMachine": ByCalls(
        service="stepfunctions",
        name="StateMachineName",
        create=_machine,
        delete=("DeleteStateMachine", "stateMachineArn"),
    ),
}
"""CloudFormation type → how it is made. A type of which a part is other Terraform resources (a bucket's policy) has those parts in no row, so
that a template with them is held.
"""
WITHOUT_RESOURCE = frozenset({"AWS::CDK::Metadata"})
"""Types that make nothing."""


def kind_of(resource_type: str) -> ByRow | ByCalls | None:
    """How a CloudFormation type is made; None if it is not in the table."""
    return RESOURCE_TYPES.get(resource_type)


def unknown_step(verb: str, resource_type: str, properties: Mapping[str, object]) -> Step:
    """The call that the name of an unknown type suggests (`AWS::IAM::User` → `iam:CreateUser`). It is never understood, but refused to
    anyone who may not make it at all.
    """
    found = _TYPE.fullmatch(resource_type)
    row = Operation(resource_type="", handler=_refuse(resource_type))
    if found is None:
        return Step(service="cloudformation", operation=f"{verb}Resource", parameters={}, row=row)
    service = found[1].lower()
    return Step(service=_SERVICES.get(service, service), operation=f"{verb}{found[2]}", parameters=properties, row=row)


def _refuse(resource_type: str) -> Callable[[CallContext], tuple[()]]:
    def handler(_context: CallContext) -> tuple[()]:
        raise NotUnderstood(f"the type {shown(resource_type)} is not unpacked")

    return handler
