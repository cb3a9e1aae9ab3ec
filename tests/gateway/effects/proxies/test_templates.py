"""Stacks are judged as the resources that their templates make, change and delete."""

import json
from typing import Any

import pytest

from gateway.effects.resolver import Explanation
from tests.gateway.effects.proxies.conftest import RESOURCES, ROLE, Understand, inner_effects


def queue(name: object = "orders", **properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": name, **properties}}


def template(parameters: Any = None, **resources: Any) -> str:
    return json.dumps({"Resources": resources, **({"Parameters": parameters} if parameters else {})})


def created(understand: Understand, body: str, **parameters: Any) -> Explanation:
    return understand("cloudformation", "CreateStack", {"StackName": "shop", "TemplateBody": body, **parameters})


STACK = {
    "aws_cloudformation_stack.shop": {
        "name": "shop",
        "template_body": template(Q=queue(DelaySeconds=1)),
        "parameters": {},
    }
}


def test_a_stack_has_the_effects_of_its_resources(understand: Understand) -> None:
    found = created(
        understand, template(Q=queue("q", DelaySeconds=3, VisibilityTimeout=60, Tags=[{"Key": "a", "Value": "b"}]))
    )
    address, by = "aws_sqs_queue{name=q}", "sqs:CreateQueue"
    assert inner_effects(found) == [
        (address, "*", "create", None, by),
        (address, "name", "create", "q", by),
        (address, "delay_seconds", "create", 3, by),
        (address, "visibility_timeout_seconds", "create", 60, by),
        (address, "tags.a", "create", "b", by),
    ]
    assert all(each.implied for each in found.effects if each.by)
    assert found.effects[0].address == "aws_cloudformation_stack{name=shop}"


def test_the_same_template_in_yaml_says_the_same(understand: Understand) -> None:
    text = """
Parameters:
  Stage: {Type: String, Default: dev}
  Delay: {Type: Number}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub "${Stage}-${AWS::Region}-jobs"
      DelaySeconds: !Ref Delay
"""
    found = created(understand, text, Parameters=[{"ParameterKey": "Delay", "ParameterValue": "7"}])
    values = {each[1]: each[3] for each in inner_effects(found)}
    assert values == {"*": None, "name": "dev-eu-west-1-jobs", "delay_seconds": 7}


def test_two_resources_without_names_are_two(understand: Understand) -> None:
    found = created(understand, template(A={"Type": "AWS::SNS::Topic"}, B={"Type": "AWS::SNS::Topic"}))
    assert len({each[0] for each in inner_effects(found)}) == 2


def test_a_role_is_judged_with_its_policies(understand: Understand) -> None:
    role = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "RoleName": "r",
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []},
            "ManagedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"],
            "Policies": [{"PolicyName": "p", "PolicyDocument": {"Version": "2012-10-17", "Statement": []}}],
        },
    }
    found = created(understand, template(R=role))
    assert [each.name for each in found.inner] == ["iam:CreateRole", "iam:AttachRolePolicy", "iam:PutRolePolicy"]
    assert {each.resource_type for each in found.effects if each.by} == {
        "aws_iam_role", "aws_iam_role_policy_attachment", "aws_iam_role_policy",
    }  # fmt: skip


def test_what_a_resource_carries_is_unpacked_too(understand: Understand) -> None:
    schedule = {
        "Type": "AWS::Scheduler::Schedule",
        "Properties": {
            "Name": "n",
            "ScheduleExpression": "rate(1 day)",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {
                "Arn": "arn:aws:scheduler:::aws-sdk:iam:createUser",
                "RoleArn": ROLE,
                "Input": '{"UserName": "eve"}',
            },
        },
    }
    found = created(understand, template(S=schedule))
    assert [each.name for each in found.inner] == ["scheduler:CreateSchedule", "iam:CreateUser"]
    rule = {
        "Type": "AWS::Events::Rule",
        "Properties": {
            "Name": "n",
            "EventPattern": {"source": ["a"]},
            "Targets": [{"Id": "1", "Arn": "arn:aws:scheduler:::aws-sdk:sts:assumeRole"}],
        },
    }
    found = created(understand, template(R=rule))
    assert [each.name for each in found.inner] == ["events:PutRule", "events:PutTargets", "sts:AssumeRole"]
    assert found.effects == ()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (template(Q={"Type": "AWS::Lambda::Url"}), "the type AWS::Lambda::Url is not unpacked"),
        (template(Q={"Type": "Custom::Thing"}), "the type Custom::Thing is not unpacked"),
        (template(Q=queue(PolicyOfNow="x")), "parameter PolicyOfNow"),
        (template(Q=queue({"Ref": "Other"})), "QueueName of sqs:CreateQueue is known only when AWS makes the call"),
        (template(Q=queue({"Fn::ImportValue": "x"})), "is known only when AWS makes the call"),
        (template(Q=queue("{{resolve:ssm:/name}}")), "is known only when AWS makes the call"),
        (template({"N": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/n"}}, Q=queue({"Ref": "N"})), "is known only"),
        (template({"N": {"Type": "String"}}, Q=queue({"Ref": "N"})), "is known only"),
        (template(Q={**queue(), "Condition": "Sometimes"}), "has a condition"),
        (json.dumps({"Transform": "AWS::Serverless-2016-10-31", "Resources": {"Q": queue()}}), "a section Transform"),
        (json.dumps({"Resources": {"Q": queue()}, "Mappings": {}}), "a section Mappings"),
        (template(Q={"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}}), "no RoleName"),
        ("Resources: &a\n  Q: *a\n", "has aliases"),
        ("a: 1\na: 2\n", "names a member twice"),
        ("- a\n", "is not a document with members"),
        ("a: [", "neither JSON nor YAML"),
        ("x" * 70_000, "more than 65536 characters"),
        ("{}", "has no resources"),
        ("Resources: {Q: {Type: AWS::SQS::Queue, Properties: {DelaySeconds: 010}}}", "readers of YAML differ"),
        ("Resources: {Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: yes}}}", "readers of YAML differ"),
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_held_with_the_reason(understand: Understand, body: str, reason: str) -> None:
    found = created(understand, body)
    assert found.effects == ()
    assert reason in found.not_understood


@pytest.mark.parametrize(
    ("operation", "parameters", "reason"),
    [
        ("CreateStack", {"TemplateURL": "https://x"}, "TemplateURL makes it do"),
        ("UpdateStack", {"UsePreviousTemplate": True}, "UsePreviousTemplate makes it do"),
        ("DeleteStack", {"RetainResources": ["Q"]}, "RetainResources makes it do"),
        ("UpdateStack", {"TemplateBody": template(Q=queue())}, "the stack has now is not recorded"),
        ("DeleteStack", {}, "the stack has now is not recorded"),
        ("CreateChangeSet", {"ChangeSetName": "c", "ChangeSetType": "IMPORT", "TemplateBody": template(Q=queue())}, "imports"),
        ("ExecuteChangeSet", {"ChangeSetName": "c"}, "what CloudFormation will do is not in the call"),
        ("UpdateStackSet", {"StackSetName": "s"}, "several accounts or regions"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_call_is_held_with_the_reason(
    understand: Understand, operation: str, parameters: dict[str, Any], reason: str
) -> None:
    found = understand("cloudformation", operation, {"StackName": "shop", **parameters})
    assert found.effects == ()
    assert reason in found.not_understood


def test_an_update_changes_makes_and_deletes_by_the_difference(understand: Understand) -> None:
    before = template(Q=queue(DelaySeconds=1), T={"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "old"}})
    stack = {"aws_cloudformation_stack.shop": {"name": "shop", "template_body": before, "iam_role_arn": ROLE}}
    after = template(Q=queue(DelaySeconds=9), U={"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "new"}})
    found = understand(
        "cloudformation", "UpdateStack", {"StackName": "shop", "TemplateBody": after}, {**RESOURCES, **stack}
    )
    assert [effect[:4] for effect in inner_effects(found)] == [
        ("aws_sqs_queue.orders", "delay_seconds", "set", 9),
        ("aws_sns_topic{name=new}", "*", "create", None),
        ("aws_sns_topic{name=new}", "name", "create", "new"),
        ("aws_sns_topic{name=old}", "*", "delete", None),
    ]
    assert {each.role for each in found.inner} == {ROLE}, "CloudFormation goes on using the role of the stack"


def test_a_property_that_is_removed_or_renames_is_held(understand: Understand) -> None:
    for after in (
        template(Q=queue()),
        template(Q=queue("other", DelaySeconds=1)),
        template(Q={"Type": "AWS::SNS::Topic"}),
    ):
        found = understand(
            "cloudformation", "UpdateStack", {"StackName": "shop", "TemplateBody": after}, {**RESOURCES, **STACK}
        )
        assert found.effects == ()


def test_deleting_a_stack_deletes_what_it_does_not_retain(understand: Understand) -> None:
    body = template(Q=queue(), K={**queue("kept"), "DeletionPolicy": "Retain"})
    stack = {"aws_cloudformation_stack.shop": {"name": "shop", "template_body": body}}
    found = understand("cloudformation", "DeleteStack", {"StackName": "shop"}, {**RESOURCES, **stack})
    assert [effect[:3] for effect in inner_effects(found)] == [("aws_sqs_queue.orders", "*", "delete")]


def test_a_deletion_of_what_the_template_does_not_name_is_held(understand: Understand) -> None:
    stack = {
        "aws_cloudformation_stack.shop": {"name": "shop", "template_body": template(T={"Type": "AWS::SNS::Topic"})}
    }
    found = understand("cloudformation", "DeleteStack", {"StackName": "shop"}, stack)
    assert "the template does not name the resource T" in found.not_understood
