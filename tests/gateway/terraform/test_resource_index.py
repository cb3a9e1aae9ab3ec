"""Lookup by type, attribute and value, never by value alone."""

from collections.abc import Mapping

import pytest

from gateway.core.errors import Ambiguous
from gateway.core.model.json import Json
from gateway.terraform.resource_index import ResourceIndex, as_text, only_match

RESOURCES: Mapping[str, Mapping[str, Json]] = {
    "aws_sqs_queue.a": {"name": "orders", "url": "https://q/orders", "delay": 5},
    "aws_sqs_queue.b": {"name": "jobs", "url": "https://q/jobs", "delay": 5},
    "aws_sns_topic.t": {"name": "orders", "fifo": True, "empty": "", "list": ["orders"]},
}


@pytest.fixture
def index() -> ResourceIndex:
    return ResourceIndex(
        [(address.partition(".")[0], address) for address in RESOURCES], lambda address: RESOURCES[address]
    )


@pytest.mark.parametrize(
    ("resource_type", "identity", "expected"),
    [
        ("aws_sqs_queue", {"name": "orders"}, ("aws_sqs_queue.a",)),
        ("aws_sns_topic", {"name": "orders"}, ("aws_sns_topic.t",)),
        ("aws_sqs_queue", {"delay": "5"}, ("aws_sqs_queue.a", "aws_sqs_queue.b")),
        ("aws_sqs_queue", {"delay": "5", "name": "jobs"}, ("aws_sqs_queue.b",)),
        ("aws_sqs_queue", {"name": "jobs", "url": "https://q/orders"}, ()),
        ("aws_sqs_queue", {"name": "Orders"}, ()),
        ("aws_sqs_queue", {"missing": "x"}, ()),
        ("aws_sqs_queue", {}, ()),
        ("aws_lambda_function", {"name": "orders"}, ()),
        ("aws_sns_topic", {"fifo": "true"}, ("aws_sns_topic.t",)),
        ("aws_sns_topic", {"empty": ""}, ()),
        ("aws_sns_topic", {"list": "['orders']"}, ()),
    ],
)
def test_all_members_of_an_identity_must_match(
    index: ResourceIndex, resource_type: str, identity: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert index.matching(resource_type, identity) == expected
    assert index.matching(resource_type, identity) == expected, "the second look-up uses what the first one built"


def test_several_hits_are_an_error_that_names_them(index: ResourceIndex) -> None:
    with pytest.raises(
        Ambiguous, match=r"delay = '5' fits 2 declared resources \(aws_sqs_queue\.a, aws_sqs_queue\.b\)"
    ):
        only_match(index.matching("aws_sqs_queue", {"delay": "5"}), "aws_sqs_queue", {"delay": "5"})


def test_one_hit_is_the_answer_and_none_is_none() -> None:
    assert only_match(("a.b",), "a", {}) == "a.b"
    assert only_match((), "a", {}) is None


@pytest.mark.parametrize(
    ("value", "text"), [(6, "6"), (6.0, "6"), (6.5, "6.5"), (True, "true"), (None, ""), ([], ""), ({}, ""), ("x", "x")]
)
def test_only_scalars_are_identities(value: Json, text: str) -> None:
    assert as_text(value) == text


GENERATED = "20261123080912345600000001"
PENDING: Mapping[str, Mapping[str, Json]] = {
    "aws_iam_role.jobs": {"name_prefix": "jobs-"},
    "aws_iam_role.named": {"name": "named"},
    "aws_lambda_permission.events": {"function_name": "resize"},
    "aws_lambda_permission.other": {"function_name": "other"},
    "aws_cloudwatch_event_target.t": {"arn": "a"},
}


@pytest.mark.parametrize(
    ("resource_type", "identity", "expected"),
    [
        ("aws_iam_role", {"name": f"jobs-{GENERATED}"}, ("aws_iam_role.jobs",)),
        ("aws_iam_role", {"name": f"other-{GENERATED}"}, ()),
        ("aws_iam_role", {"name": f"terraform-{GENERATED}"}, ()),
        ("aws_iam_role", {"name": "jobs-1"}, ()),
        (
            "aws_lambda_permission",
            {"statement_id": f"terraform-{GENERATED}", "function_name": "resize"},
            ("aws_lambda_permission.events",),
        ),
        ("aws_lambda_permission", {"statement_id": f"terraform-{GENERATED}", "function_name": "third"}, ()),
        (
            "aws_cloudwatch_event_target",
            {"target_id": f"terraform-{GENERATED}", "event_bus_name": "default"},
            ("aws_cloudwatch_event_target.t",),
        ),
    ],
)
def test_a_generated_name_leads_to_the_resource_that_leaves_its_name_to_the_provider(
    resource_type: str, identity: Mapping[str, str], expected: tuple[str, ...]
) -> None:
    pending = ResourceIndex([(each.partition(".")[0], each) for each in PENDING], lambda address: PENDING[address])
    assert pending.named_by_prefix(resource_type, identity) == expected
    assert pending.matching(resource_type, identity) == ()
