"""`sentinel effects explain` and `coverage`: from the rows that ship, and with a running gateway."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.models.call_classes import shipped
from gateway.effects.coverage import understanding
from tests.kit.gate import ASG, Gate

Document = Callable[..., tuple[int, Any]]


def test_a_hand_made_row_says_what_the_call_sets(sentinel: Callable[..., Any]) -> None:
    given = json.dumps({"AutoScalingGroupName": "a", "DesiredCapacity": 6})

    shown = sentinel("effects", "explain", "autoscaling", "set_desired_capacity", given)

    assert shown.exit_code == 0, shown.output
    assert "hand" in shown.stdout
    assert "would touch aws_autoscaling_group{name=a}.desired_capacity = 6" in shown.stdout


def test_a_derived_row_says_where_it_comes_from_and_how_certain_it_is(document: Document) -> None:
    code, reply = document("effects", "explain", "connect", "DeleteQueue", '{"InstanceId": "i", "QueueId": "q"}')

    row = next(each for each in reply["rows"] if each["origin"] == reply["known_by"])
    assert (code, reply["known_by"], reply["confidence"]) == (0, row["origin"], row["confidence"])
    assert (row["type"], row["actions"], row["names"]["queue_id"]) == ("aws_connect_queue", ["delete"], "q")
    assert "no Terraform code declares" in reply["reason"]


def test_parameters_may_stand_in_a_file(document: Document, elsewhere: Path) -> None:
    (elsewhere / "call.json").write_text('{"QueueUrl": "https://sqs.eu-central-1.amazonaws.com/123456789012/orders"}')

    code, reply = document("effects", "explain", "sqs", "DeleteQueue", "@call.json")

    assert code == 0
    assert [each["address"] for each in reply["effects"]] == ["aws_sqs_queue{name=orders}"]


def test_an_operation_without_a_row_is_not_understood(sentinel: Callable[..., Any]) -> None:
    unknown = (
        (service, operation)
        for service, operations in shipped().mutating().items()
        for operation in operations
        if understanding(service, operation) is None
    )

    shown = sentinel("effects", "explain", *next(unknown))

    assert shown.exit_code == 2
    assert "no row" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nothing", "Create"), "unknown_operation"),
        (("sqs", "CreateQueues"), "unknown_operation"),
        (("sqs", "CreateQueue", "[1]"), "malformed"),
        (("sqs", "CreateQueue", "{"), "malformed"),
        (("sqs", "CreateQueue", '{"Nam": "a"}'), "unknown_parameter"),
        (("sqs", "CreateQueue", "@missing.json"), "malformed"),
    ],
)
def test_a_mistake_is_a_sentence(document: Document, arguments: tuple[str, ...], code: str) -> None:
    exit_code, reply = document("effects", "explain", *arguments)

    assert (exit_code, reply["code"]) == (1, code)


def test_coverage_counts_each_operation_once(document: Document) -> None:
    code, reply = document("effects", "coverage", "--service", "sqs")

    (found,) = reply["services"]
    by_origin = sum(found[name] for name in ("hand", "traced", "model", "learned", "unknown"))
    by_confidence = sum(found[name] for name in ("attributes", "resource", "type", "unknown"))
    assert code == 0
    assert found["operations"] == by_origin == by_confidence
    assert found["hand"] > 0


def test_coverage_of_all_services_is_above_the_figure_of_the_project(document: Document) -> None:
    _, reply = document("effects", "coverage")

    total = reply["total"]
    assert total["unknown"] < 0.4 * total["operations"]


def test_coverage_of_an_unknown_service_is_an_error(document: Document) -> None:
    code, reply = document("effects", "coverage", "--service", "nothing")

    assert (code, reply["code"]) == (1, "unknown_operation")


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_stack_shows_what_is_known_of_its_types(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "human")

    code, reply = document("effects", "coverage", "--stack", "kafka")

    assert code == 0
    (group,) = (each for each in reply["types"] if each["type"] == "aws_autoscaling_group")
    assert group["resources"] == 1
    assert "autoscaling:SetDesiredCapacity" in group["exactly"]
    shown = sentinel("effects", "coverage", "--stack", "kafka")
    assert "understood only with a plan" in shown.stdout.replace("\n", " ")


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_gateway_says_which_declared_resource_a_call_would_touch(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Document
) -> None:
    speak_as(gate, "agent")
    given = json.dumps({"AutoScalingGroupName": ASG, "DesiredCapacity": 6})

    code, reply = document("effects", "explain", "autoscaling", "SetDesiredCapacity", given, "--dry-run")

    assert code == 0, reply
    assert reply["dry_run"]["mutation"]["effects"][0]["address"] == "aws_autoscaling_group.kafka_consumer"
    shown = sentinel("effects", "explain", "autoscaling", "SetDesiredCapacity", given, "--dry-run")
    assert "would touch aws_autoscaling_group.kafka_consumer.desired_capacity = 6" in shown.stdout.replace("\n", " ")


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_call_that_the_gateway_does_not_understand_ends_with_its_own_exit_code(
    gate: Gate, speak_as: Callable[..., None], sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "agent")

    shown = sentinel("effects", "explain", "clouddirectory", "CreateDirectory", '{"Name": "a", "SchemaArn": "arn"}', "--dry-run")  # fmt: skip

    assert shown.exit_code == 2, shown.output
    assert "does not understand clouddirectory:CreateDirectory" in shown.stdout.replace("\n", " ")
