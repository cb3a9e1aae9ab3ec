"""A schedule, or a target of a rule, is judged as the call that AWS will make; what cannot be read holds it with the reason."""

import json
from typing import Any

import pytest

from gateway.core.model.mutation import CallClass
from tests.gateway.effects.conftest import ACCOUNT, REGION
from tests.gateway.effects.proxies.conftest import FUNCTION, QUEUE, ROLE, Understand, inner_effects


def schedule(arn: str, given: Any = None, **target: Any) -> dict[str, Any]:
    aim = {"Arn": arn, "RoleArn": ROLE, **target}
    if given is not None:
        aim["Input"] = given if isinstance(given, str) else json.dumps(given)
    return {
        "Name": "night",
        "GroupName": "default",
        "ScheduleExpression": "rate(1 day)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": aim,
    }


def universal(call: str) -> str:
    return f"arn:aws:scheduler:::aws-sdk:{call}"


def test_a_universal_target_has_the_effects_of_its_call(understand: Understand) -> None:
    found = understand(
        "scheduler",
        "CreateSchedule",
        schedule(universal("ecs:updateService"), {"Cluster": "main", "Service": "web", "DesiredCount": 0}),
    )
    assert inner_effects(found) == [("aws_ecs_service.web", "desired_count", "set", 0, "ecs:UpdateService")]
    assert found.effects[-1].implied
    assert [(each.name, each.role) for each in found.inner] == [("ecs:UpdateService", ROLE)]
    assert {each.resource_type for each in found.effects if not each.by} == {"aws_scheduler_schedule"}


@pytest.mark.parametrize(
    ("arn", "address", "by"),
    [
        (FUNCTION, "aws_lambda_function.worker", "lambda:Invoke"),
        (QUEUE, "aws_sqs_queue.orders", "sqs:SendMessage"),
        (f"arn:aws:sns:{REGION}:{ACCOUNT}:news", "aws_sns_topic{name=news}", "sns:Publish"),
        (f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/k", "aws_kinesis_stream{name=k}", "kinesis:PutRecord"),
        (
            f"arn:aws:firehose:{REGION}:{ACCOUNT}:deliverystream/d",
            "aws_kinesis_firehose_delivery_stream{name=d}",
            "firehose:PutRecord",
        ),
        (f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/b", "aws_cloudwatch_event_bus{name=b}", "events:PutEvents"),
    ],
)
def test_a_target_is_the_call_that_aws_makes_of_it(understand: Understand, arn: str, address: str, by: str) -> None:
    found = understand("scheduler", "CreateSchedule", schedule(arn))
    assert inner_effects(found) == [(address, "*", "invoke", None, by)]
    targets = {"Rule": "night", "Targets": [{"Id": "1", "Arn": arn}]}
    assert inner_effects(understand("events", "PutTargets", targets)) == [(address, "*", "invoke", None, by)]


@pytest.mark.parametrize(
    ("arn", "given", "reason"),
    [
        (universal("ecs:updateService"), {"Service": "web", "Sense": 1}, "parameter"),
        (universal("ecs:updateService"), "[]", "is not a JSON object"),
        (universal("ecs:updateService"), '{"Service": "a", "Service": "web"}', "names a member twice"),
        (
            universal("ecs:updateService"),
            {"Cluster": "main", "Service": "<aws.scheduler.execution-id>", "DesiredCount": 0},
            "service of ecs:UpdateService is known only when AWS makes the call",
        ),
        (universal("sqs:doNothing"), {}, "no row has this operation"),
        (universal("Ecs:updateService"), {}, "in an unknown form"),
        (f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:pipeline/p", None, "a kind of target that is not unpacked"),
        (f"arn:aws:lambda:{REGION}:999999999999:function:worker", None, "another account"),
        (f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:worker", None, "another region"),
        (f"arn:aws:codebuild:{REGION}:{ACCOUNT}:project/p", None, "codebuild:StartBuild is not understood"),
        ("nothing", None, "a kind of target that is not unpacked"),
        (universal("cloudformation:executeChangeSet"), {"ChangeSetName": "c"}, "what CloudFormation will do"),
    ],
)
def test_what_cannot_be_unpacked_is_held_with_the_reason(
    understand: Understand, arn: str, given: Any, reason: str
) -> None:
    found = understand("scheduler", "CreateSchedule", schedule(arn, given))
    assert found.effects == ()
    assert reason in found.not_understood


@pytest.mark.parametrize(
    ("call", "call_class"),
    [
        ("sts:assumeRole", CallClass.CREDENTIAL),
        ("iam:createAccessKey", CallClass.CREDENTIAL),
        ("secretsmanager:getSecretValue", CallClass.SECRET),
        ("kms:decrypt", CallClass.CRYPTO),
    ],
)
def test_calls_that_give_secrets_away_are_known_by_their_class(
    understand: Understand, call: str, call_class: CallClass
) -> None:
    found = understand("scheduler", "CreateSchedule", schedule(universal(call), {}))
    assert found.effects == ()
    assert [each.call_class for each in found.inner] == [call_class]


def test_a_call_that_only_reads_has_no_effect_of_its_own(understand: Understand) -> None:
    found = understand("scheduler", "CreateSchedule", schedule(universal("ec2:describeInstances"), {}))
    assert found.effects
    assert inner_effects(found) == []


def test_a_schedule_inside_a_schedule_is_unpacked_too(understand: Understand) -> None:
    innermost = {**schedule(universal("iam:createUser"), {"UserName": "eve"}), "Name": "inner"}
    found = understand("scheduler", "CreateSchedule", schedule(universal("scheduler:createSchedule"), innermost))
    assert [each.name for each in found.inner] == ["scheduler:CreateSchedule", "iam:CreateUser"]
    assert ("aws_iam_user{name=eve}", "*", "create", None, "iam:CreateUser") in inner_effects(found)


def test_calls_that_are_nested_too_deeply_are_held(understand: Understand) -> None:
    parameters = schedule(universal("iam:createUser"), {"UserName": "eve"})
    for depth in range(5):
        parameters = {**schedule(universal("scheduler:createSchedule"), parameters), "Name": f"n{depth}"}
    found = understand("scheduler", "CreateSchedule", parameters)
    assert found.effects == ()
    assert "nests calls in calls" in found.not_understood


def test_a_call_that_changes_the_schedule_itself_is_held(understand: Understand) -> None:
    found = understand(
        "scheduler",
        "CreateSchedule",
        schedule(universal("scheduler:deleteSchedule"), {"Name": "night", "GroupName": "default"}),
    )
    assert found.effects == ()
    assert "two of its calls concern aws_scheduler_schedule" in found.not_understood


def test_every_target_of_a_rule_is_read_although_one_cannot_be(understand: Understand) -> None:
    targets = [
        {"Id": "1", "Arn": "nothing"},
        {"Id": "2", "Arn": universal("sts:assumeRole"), "Input": "{}"},
        {"Id": "3", "Arn": FUNCTION},
    ]
    found = understand("events", "PutTargets", {"Rule": "night", "Targets": targets})
    assert found.effects == ()
    assert [each.name for each in found.inner] == ["sts:AssumeRole", "lambda:Invoke"]
