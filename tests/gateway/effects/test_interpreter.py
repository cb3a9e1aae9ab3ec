"""A row of a table accounts for every parameter, or the call is not understood."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.interpreter import interpret
from gateway.effects.operation import Operation, any_value, controls
from gateway.effects.schema import read_schemas
from gateway.effects.values import NotUnderstood

QUEUE = "aws_sqs_queue"
SET = Operation(resource_type=QUEUE, identity={"Name": "name"}, controls=controls("Token"))
NAMED = {"Name": "q", "DelaySeconds": "3", "Token": "t", "Policy": None}


def test_parameters_become_effects_in_the_providers_form(context: Callable[..., Any]) -> None:
    (effect,) = interpret(SET, context(NAMED))
    assert (effect.attribute, effect.value, effect.action) == ("delay_seconds", 3, EffectAction.SET)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Name": "q"},
        {"Name": "q", "Token": "t"},
        {"DelaySeconds": 3},
        {"Name": "q", "DelaySeconds": 3, "Unheard": 1},
        {"Name": "q", "DelaySeconds": {"Value": {"Deeper": 1}}},
        {"Name": "q", "DelaySeconds": [3]},
        {"Name": "q", "Unheard": {}},
    ],
)
def test_a_parameter_that_nothing_accounts_for_is_not_understood(context: Callable[..., Any], parameters: Any) -> None:
    with pytest.raises(NotUnderstood):
        interpret(SET, context(parameters))


def test_an_upsert_creates_only_if_none_is_recorded(context: Callable[..., Any]) -> None:
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, controls=controls("Token"), upserts=True)
    created = interpret(row, context(NAMED))
    (changed,) = interpret(row, context(NAMED, {"aws_sqs_queue.q": {"name": "q"}}))
    assert [effect.attribute for effect in created] == ["*", "name", "delay_seconds"]
    assert changed.action is EffectAction.SET


def _marked(effects: Any, flag: str) -> set[str]:
    return {effect.attribute for effect in effects if getattr(effect, flag)}


@pytest.mark.parametrize(
    ("members", "obliged"),
    [
        ({}, set()),
        ({"obliged": frozenset({"DelaySeconds"})}, {"delay_seconds"}),
        ({"upserts": True}, {"delay_seconds", "policy"}),
        ({"upserts": True, "obliged": frozenset()}, set()),
        ({"defaults": {"kms_master_key_id": ""}}, {"delay_seconds", "policy"}),
        ({"overwrites": {"Policy": {}}}, {"policy"}),
    ],
)
def test_what_a_call_cannot_leave_out_is_marked(context: Callable[..., Any], members: Any, obliged: set[str]) -> None:
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, **members)
    given = {"Name": "q", "DelaySeconds": 3, "Policy": "{}"}
    assert _marked(interpret(row, context(given, {"aws_sqs_queue.q": {"name": "q"}})), "obliged") == obliged


def test_a_block_of_which_a_call_gives_members_is_not_reset(context: Callable[..., Any]) -> None:
    kind, block = "aws_scheduler_schedule", "target.retry_policy"
    row = Operation(resource_type=kind, identity={"Name": "name"}, overwrites={"Target": {block: []}})
    recorded = {f"{kind}.s": {"name": "s", "target": [{"retry_policy": [{"maximum_retry_attempts": 1}]}]}}

    def changed(**target: Any) -> set[str]:
        asked = replace(context({"Name": "s", "Target": target}, recorded), schemas=read_schemas({kind}))
        return {each.attribute for each in interpret(row, asked)}

    assert changed(RetryPolicy={"MaximumRetryAttempts": 2}) == {f"{block}.maximum_retry_attempts"}
    assert changed(Arn="a") == {"target.arn", block}


def test_an_upsert_switches_off_what_it_omits_and_proves_nothing(context: Callable[..., Any]) -> None:
    defaults = {"fifo_queue": False, "sqs_managed_sse_enabled": False, "delay_seconds": 0}
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, upserts=True, defaults=defaults)
    effects = interpret(row, context({"Name": "q", "FifoQueue": True}))
    assert {each.attribute: each.value for each in effects if each.implied} == {"sqs_managed_sse_enabled": False}
    assert _marked(effects, "upserted") == {"name", "fifo_queue", "sqs_managed_sse_enabled"}
    create = Operation(resource_type=QUEUE, identity={"Name": "name"}, action=EffectAction.CREATE, defaults=defaults)
    assert _marked(interpret(create, context({"Name": "q", "FifoQueue": True})), "upserted") == set()


@pytest.mark.parametrize("action", [EffectAction.DELETE, EffectAction.INVOKE])
def test_the_parameters_of_a_deletion_are_carried_ignored_or_not_understood(
    context: Callable[..., Any], action: EffectAction
) -> None:
    row = Operation(
        resource_type=QUEUE,
        identity={"Name": "name"},
        action=action,
        arguments={"Force": any_value},
        controls=frozenset({"Token"}),
        content=frozenset({"Body"}),
    )
    (effect,) = interpret(row, context({"Name": "q", "Force": True, "Token": "t", "Body": "b", "Left": None}))
    assert (effect.attribute, effect.action, effect.value) == ("*", action, {"Force": True})
    (plain,) = interpret(row, context({"Name": "q"}))
    assert plain.value is None
    with pytest.raises(NotUnderstood, match="Unheard"):
        interpret(row, context({"Name": "q", "Unheard": 1}))


def test_secrets_of_a_row_are_masked(context: Callable[..., Any]) -> None:
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, secrets=frozenset({"policy"}))
    (effect,) = interpret(row, context({"Name": "q", "Policy": "hush"}))
    assert effect.sensitive
    assert "hush" not in repr(effect)


def test_a_row_can_find_its_target_itself(context: Callable[..., Any]) -> None:
    row = Operation(
        resource_type=QUEUE, identity={"Name": "name"}, find_target=lambda call: call.target(QUEUE, {"name": "other"})
    )
    (effect,) = interpret(row, context({"Name": "q", "DelaySeconds": 3}))
    assert effect.address == "aws_sqs_queue{name=other}"


OVERWRITTEN: dict[str, tuple[str, str, dict[str, Any], dict[str, dict[str, Json]], dict[str, Json]]] = {
    "an alarm": (
        "cloudwatch",
        "PutMetricAlarm",
        {"AlarmName": "a", "EvaluationPeriods": 1, "ComparisonOperator": "LessThanThreshold", "Threshold": 5},
        {"aws_cloudwatch_metric_alarm.a": {
            "alarm_name": "a", "evaluation_periods": 1, "comparison_operator": "LessThanThreshold", "threshold": 5,
            "unit": "Bytes", "statistic": "Sum", "extended_statistic": "p99", "period": 60, "metric_name": "m",
            "namespace": "n", "treat_missing_data": "breaching", "datapoints_to_alarm": 2, "alarm_description": "d",
            "evaluate_low_sample_count_percentiles": "ignore", "ok_actions": ["x"], "actions_enabled": False,
        }},
        {
            "unit": "", "statistic": "", "extended_statistic": "", "period": 0, "metric_name": "", "namespace": "",
            "treat_missing_data": "missing", "datapoints_to_alarm": 0, "alarm_description": "",
            "evaluate_low_sample_count_percentiles": "", "ok_actions": [], "actions_enabled": True,
        },
    ),
    "a revision of a task": (
        "ecs",
        "RegisterTaskDefinition",
        {"family": "f", "containerDefinitions": []},
        {"aws_ecs_task_definition.f": {"family": "f", "task_role_arn": "r", "network_mode": "awsvpc", "cpu": "256"}},
        {"task_role_arn": "", "network_mode": "bridge", "cpu": ""},
    ),
    "the network of a service": (
        "ecs",
        "UpdateService",
        {"service": "s", "cluster": "c", "networkConfiguration": {"awsvpcConfiguration": {"subnets": ["n"]}}},
        {"aws_ecs_service.s": {
            "name": "s", "cluster": "c",
            "network_configuration": [{"subnets": ["n"], "security_groups": ["sg-1"], "assign_public_ip": False}],
        }},
        {"network_configuration.security_groups": []},
    ),
    "a role": (
        "iam",
        "UpdateRole",
        {"RoleName": "r", "Description": "d"},
        {"aws_iam_role.r": {"name": "r", "description": "d", "max_session_duration": 43200}},
        {"max_session_duration": 3600},
    ),
    "a subscription": (
        "logs",
        "PutSubscriptionFilter",
        {"logGroupName": "g", "filterName": "f", "filterPattern": "", "destinationArn": "d"},
        {"aws_cloudwatch_log_subscription_filter.f": {
            "log_group_name": "g", "name": "f", "destination_arn": "d", "filter_pattern": "", "role_arn": "r", "distribution": "Random",
        }},
        {"role_arn": "", "distribution": "ByLogStream"},
    ),
    "a route": (
        "ec2",
        "ReplaceRoute",
        {"RouteTableId": "rtb-1", "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-1"},
        {"aws_route.r": {
            "route_table_id": "rtb-1", "destination_cidr_block": "0.0.0.0/0", "nat_gateway_id": "nat-1", "gateway_id": "igw-1",
        }},
        {"nat_gateway_id": ""},
    ),
    "a record": (
        "route53",
        "ChangeResourceRecordSets",
        {"HostedZoneId": "Z1", "ChangeBatch": {"Changes": [{"Action": "UPSERT", "ResourceRecordSet": {
            "Name": "a.b", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.0.0.1"}],
        }}]}},
        {"aws_route53_record.a": {
            "zone_id": "Z1", "fqdn": "a.b", "type": "A", "ttl": 60, "records": ["10.0.0.1"], "health_check_id": "h",
        }},
        {"health_check_id": ""},
    ),
    "the template of a group": (
        "autoscaling",
        "UpdateAutoScalingGroup",
        {"AutoScalingGroupName": "a", "LaunchTemplate": {"LaunchTemplateId": "lt-1"}},
        {"aws_autoscaling_group.a": {"name": "a", "launch_template": [{"id": "lt-1", "version": "7"}]}},
        {"launch_template.version": "$Default"},
    ),
    "the origins of a function's URL": (
        "lambda",
        "UpdateFunctionUrlConfig",
        {"FunctionName": "f", "Cors": {"AllowMethods": ["GET"]}},
        {"aws_lambda_function_url.f": {
            "function_name": "f", "cors": [{"allow_methods": ["GET"], "allow_origins": ["https://a"], "max_age": 5}],
        }},
        {"cors.allow_origins": [], "cors.max_age": 0},
    ),
    "the key of a table": (
        "dynamodb",
        "UpdateTable",
        {"TableName": "t", "SSESpecification": {"Enabled": True}},
        {"aws_dynamodb_table.t": {"name": "t", "server_side_encryption": [{"enabled": True, "kms_key_arn": "k"}]}},
        {"server_side_encryption.kms_key_arn": ""},
    ),
    "the days of recovery": (
        "dynamodb",
        "UpdateContinuousBackups",
        {"TableName": "t", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
        {"aws_dynamodb_table.t": {
            "name": "t", "point_in_time_recovery": [{"enabled": True, "recovery_period_in_days": 7}],
        }},
        {"point_in_time_recovery.recovery_period_in_days": 35},
    ),
    "scale-in of a policy": (
        "autoscaling",
        "PutScalingPolicy",
        {"AutoScalingGroupName": "a", "PolicyName": "p", "TargetTrackingConfiguration": {"TargetValue": 5.0}},
        {"aws_autoscaling_policy.p": {
            "name": "p", "autoscaling_group_name": "a",
            "target_tracking_configuration": [{"target_value": 5, "disable_scale_in": True}],
        }},
        {"target_tracking_configuration.disable_scale_in": False},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OVERWRITTEN.values(), ids=OVERWRITTEN.keys())
def test_what_an_overwriting_call_leaves_out_falls_back_to_its_default(
    effects_of: Callable[..., Any],
    case: tuple[str, str, dict[str, Any], dict[str, dict[str, Json]], dict[str, Json]],
) -> None:
    service, operation, parameters, state, reset = case
    (address,) = state
    effects = [each for each in effects_of(service, operation, parameters, state) if each.address == address]
    changed = {
        each.attribute: each.value
        for each in effects
        if AttributePath(each.attribute).value_at(state[address]) != each.value
    }
    changed.pop("container_definitions", None)  # the call must have it, and its form is masked
    assert changed == reset


def test_a_default_of_a_structure_is_not_set_where_the_call_has_a_member_of_it(
    resolver_for: Callable[..., Any],
) -> None:
    target = {
        "Arn": "arn:aws:sqs:eu-west-1:123456789012:q", "RoleArn": "arn:aws:iam::123456789012:role/r",
        "RetryPolicy": {"MaximumRetryAttempts": 2}, "Input": "x",
    }  # fmt: skip
    schedule = {
        "Name": "s",
        "GroupName": "default",
        "ScheduleExpression": "rate(1 hour)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
    }
    recorded = {"target": [{"retry_policy": [{"maximum_retry_attempts": 1}], "dead_letter_config": [{"arn": "a"}]}]}
    declared = {"aws_scheduler_schedule.s": {"name": "s", "group_name": "default", **recorded}}
    call = Call(
        service="scheduler",
        operation="UpdateSchedule",
        parameters={**schedule, "Target": target},
        account="123456789012",
        region="eu-west-1",
    )
    effects = resolver_for(declared).effects(call)
    found = {effect.attribute: effect.value for effect in effects}
    assert found["target.retry_policy.maximum_retry_attempts"] == 2
    assert "target.retry_policy" not in found
    assert found["target.dead_letter_config"] == []
