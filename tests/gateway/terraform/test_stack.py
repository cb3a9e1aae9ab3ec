"""One stack: lookup by address and identity, contracts in the context of their module, dependants."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import Ambiguous
from gateway.core.model.masking import PER_RUN
from gateway.terraform.stack import Stack
from tests.kit.stacks import GROUP, KAFKA, Source, load


@pytest.fixture(scope="module")
def kafka() -> Stack:
    return load(Source(path=KAFKA)).all[0]


def test_the_case_stack_has_no_warnings(kafka: Stack) -> None:
    assert kafka.warnings == ()


@pytest.mark.parametrize(
    ("resource_type", "identity", "expected"),
    [
        ("aws_autoscaling_group", {"name": "kafka-consumer-processor-asg"}, GROUP),
        ("aws_security_group", {"id": "sg-0abc1234"}, "aws_security_group.kafka_consumer"),
        ("aws_sqs_queue", {"url": "https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-1"}, "aws_sqs_queue.shard[1]"),
        ("aws_sqs_queue", {"name": "kafka-archive-hot"}, 'module.archive["hot"].aws_sqs_queue.this'),
        ("aws_sqs_queue", {"name": "kafka-consumer-audit"}, "aws_sqs_queue.audit"),
        ("aws_sqs_queue", {"name": "kafka-consumer-audit", "visibility_timeout_seconds": "60"}, "aws_sqs_queue.audit"),
        ("aws_sqs_queue", {"name": "nobody"}, None),
        ("aws_sqs_queue", {}, None),
        ("aws_caller_identity", {"id": "123456789012"}, None),
    ],
)  # fmt: skip
def test_a_resource_is_located_in_the_state_or_else_in_the_code(
    kafka: Stack, resource_type: str, identity: Mapping[str, str], expected: str | None
) -> None:
    assert kafka.locate(resource_type, identity) == expected


def test_what_fits_several_is_ambiguous(kafka: Stack) -> None:
    with pytest.raises(Ambiguous, match="fits"):
        kafka.locate("aws_sqs_queue", {"delay_seconds": "0"})


def test_children_are_found_by_their_foreign_key(kafka: Stack) -> None:
    found = kafka.find("aws_autoscaling_policy", "autoscaling_group_name", "kafka-consumer-processor-asg")

    assert found == ("aws_autoscaling_policy.scale_up_lag",)


def test_what_the_state_records_is_known_and_secrets_are_not(kafka: Stack) -> None:
    assert (kafka.recorded(GROUP) or {})["desired_capacity"] == 4
    assert (kafka.recorded("aws_db_instance.reports") or {})["password"] == PER_RUN.mask("correct horse battery staple")
    assert kafka.recorded("aws_sqs_queue.audit") is None


@pytest.mark.parametrize(
    ("address", "attribute", "expected"),
    [
        (GROUP, "desired_capacity", 4),
        (GROUP, "launch_template.version", "$Latest"),
        (GROUP, "launch_template.id", None),
        (GROUP, "nothing", None),
        (GROUP, "*", None),
        ('aws_cloudwatch_log_group.consumer["ingest"]', "retention_in_days", 14),
        ('module.archive["hot"].aws_sqs_queue.this', "name", "kafka-archive-hot"),
        ("aws_security_group.kafka_consumer", "tags.owner", "streaming"),
        ("aws_sqs_queue.nobody", "name", None),
        ("aws_sqs_queue{name=x}", "name", None),
    ],
)
def test_what_the_code_declares(kafka: Stack, address: str, attribute: str, expected: object) -> None:
    assert kafka.declared(address, attribute) == expected


def bounds_of(stack: Stack, address: str, change: Mapping[str, Any] | None = None) -> dict[tuple[str, str], Any]:
    before = stack.recorded(address) or {}
    bounds = stack.contract(address).evaluate({**before, **(change or {})}, before)
    return {(bound.attribute, f"{bound.name} {bound.source}"): bound.unknown or bound.limit for bound in bounds}


def test_bounds_are_evaluated_for_the_state_after_the_change(kafka: Stack) -> None:
    assert bounds_of(kafka, GROUP, {"max_size": 12}) == {
        ("desired_capacity", "min kafka.sentinel.hcl:9"): 2,
        ("desired_capacity", "max kafka.sentinel.hcl:10"): 12,
        ("desired_capacity", "max_step kafka.sentinel.hcl:11"): 4,
        ("max_size", "max kafka.sentinel.hcl:15"): 16,
        ("", "condition kafka.sentinel.hcl:67"): True,
        ("", "condition main.tf:21"): True,
        ("desired_capacity", "condition variables.tf:10"): True,
    }


def test_the_contract_of_a_module_is_evaluated_in_the_module(kafka: Stack) -> None:
    assert bounds_of(kafka, "module.retry.aws_sqs_queue.this") == {
        ("visibility_timeout_seconds", "min kafka.sentinel.hcl:44"): 0,
        ("visibility_timeout_seconds", "max kafka.sentinel.hcl:45"): 900,
        ("visibility_timeout_seconds", "max modules/worker/worker.sentinel.hcl:9"): 120,
        ("visibility_timeout_seconds", "condition modules/worker/main.tf:9"): True,
    }
    archive = bounds_of(kafka, 'module.archive["hot"].aws_sqs_queue.this')
    assert archive["visibility_timeout_seconds", "max modules/worker/worker.sentinel.hcl:9"] == 600


def test_a_contract_says_what_holds_for_its_resource(kafka: Stack) -> None:
    group, table = kafka.contract(GROUP), kafka.contract("aws_dynamodb_table.offsets")

    assert (group.owner, group.managed_by_agent, group.source) == ("team-streaming", True, "kafka.sentinel.hcl:5")
    assert group.bounded == ("desired_capacity", "max_size")
    assert (table.managed_by_agent, table.critical, table.prevent_delete) == (False, True, True)
    assert kafka.contract("aws_security_group.kafka_consumer").immutable == ("name",)
    assert kafka.contract("aws_sqs_queue.audit").mutable == ("tags.owner",)


def test_a_resource_without_contract_has_an_empty_one(kafka: Stack) -> None:
    for address in ("aws_iam_role.rebalancer", "aws_sqs_queue{name=x}", "aws_nothing.x"):
        contract = kafka.contract(address)
        assert (contract.managed_by_agent, contract.source, contract.evaluate({}, {})) == (False, "", ())


def test_dependants_come_with_their_place_and_weight(kafka: Stack) -> None:
    found = kafka.dependants("aws_iam_role.rebalancer")

    assert [(d.address, d.direct, d.critical, d.managed_by_agent, d.source) for d in found] == [
        ("aws_lambda_function.rebalancer", True, True, False, "main.tf:61")
    ]
    near, *far = kafka.dependants("aws_security_group.kafka_consumer")
    assert (near.address, near.direct) == ("aws_launch_template.kafka_consumer", True)
    assert [(d.address, d.direct) for d in far] == [
        (GROUP, False),
        ("aws_autoscaling_policy.scale_up_lag", False),
        ("aws_cloudwatch_metric_alarm.lag", False),
    ]


def test_a_stack_knows_its_resources_by_address_and_by_name(kafka: Stack) -> None:
    twin = replace(kafka, shared=frozenset({GROUP}), _dependants={})
    name = twin.named(GROUP)
    assert (name, twin.named("aws_sqs_queue.audit")) == (f"kafka:{GROUP}", "aws_sqs_queue.audit")
    assert (twin.local(name), twin.local(GROUP), twin.local(f"other:{GROUP}")) == (GROUP, GROUP, f"other:{GROUP}")
    assert (twin.other_name(name), twin.other_name("aws_sqs_queue.audit")) == (GROUP, "kafka:aws_sqs_queue.audit")
    assert twin.knows(name)
    assert not twin.knows(f"other:{GROUP}")
    assert twin.recorded(name) == kafka.recorded(GROUP)
    assert twin.declared(name, "max_size") == kafka.declared(GROUP, "max_size")
    assert twin.contract(name) == kafka.contract(GROUP)
    assert [each.direct for each in twin.dependants(name)] == [each.direct for each in kafka.dependants(GROUP)]
    assert name in {each.address for each in twin.dependants("aws_security_group.kafka_consumer")}


def test_a_new_resource_is_located_by_what_it_refers_to_in_the_state(tmp_path: Path) -> None:
    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
    (tmp_path / "main.tf").write_text(
        'resource "aws_sqs_queue" "q" {\n  name = "q"\n}\n'
        'resource "aws_sqs_queue_policy" "p" {\n  queue_url = aws_sqs_queue.q.url\n  policy    = "{}"\n}\n'
        'resource "aws_sqs_queue" "new" {\n  name = "new"\n}\n'
        'resource "aws_sqs_queue_policy" "n" {\n  queue_url = aws_sqs_queue.new.url\n  policy    = "{}"\n}\n'
    )
    queue = {"mode": "managed", "type": "aws_sqs_queue", "name": "q", "instances": [{"attributes": {"name": "q", "url": url}}]}  # fmt: skip
    (tmp_path / "terraform.tfstate").write_text(json.dumps({"version": 4, "serial": 1, "resources": [queue]}))
    stack = load(Source(path=tmp_path)).all[0]
    assert stack.locate("aws_sqs_queue_policy", {"queue_url": url}) == "aws_sqs_queue_policy.p"
    assert stack.recorded("aws_sqs_queue_policy.p") is None
    assert stack.declared("aws_sqs_queue_policy.p", "queue_url") is None
