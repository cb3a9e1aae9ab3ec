"""A text names a declared resource only in a form that the state records, and only where the call goes."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.call_context import CallContext
from gateway.effects.identification import ends_of_arn, name_in_arn, names_fully, resources_named
from gateway.effects.values import NotUnderstood

ACCOUNT, REGION = "123456789012", "eu-west-1"
QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:orders"
URL = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/orders"
RESOURCES = {
    "aws_sqs_queue.q": {"id": URL, "url": URL, "name": "orders", "arn": QUEUE},
    "aws_sqs_queue.there": {
        "id": "there",
        "name": "orders-us",
        "arn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:orders-us",
    },
    "aws_ecs_cluster.c": {"id": "c", "name": "c", "arn": f"arn:aws:ecs:{REGION}:{ACCOUNT}:cluster/team/c"},
}
Context = Callable[..., CallContext]


@pytest.mark.parametrize(
    ("resource_type", "text", "found"),
    [
        ("aws_sqs_queue", "orders", True),
        ("aws_sqs_queue", URL, True),
        ("aws_sqs_queue", QUEUE, True),
        ("aws_sqs_queue", f"{ACCOUNT}:orders", True),
        ("aws_sqs_queue", f"{REGION}:{ACCOUNT}:orders", True),
        ("aws_sqs_queue", "999999999999:orders", False),
        ("aws_sqs_queue", "us-east-1:123456789012:orders", False),
        ("aws_sqs_queue", "orders-us", False),
        ("aws_sqs_queue", URL.replace(ACCOUNT, "999999999999"), False),
        ("aws_ecs_cluster", "cluster/team/c", True),
        ("aws_ecs_cluster", "team/c", False),
        ("aws_ecs_cluster", QUEUE, False),
        ("aws_sqs_queue", "", False),
    ],
)
def test_each_form_of_a_name(context: Context, resource_type: str, text: str, *, found: bool) -> None:
    named = resources_named(context({}, RESOURCES), resource_type, "name", text)

    assert bool(named) is found


@pytest.mark.parametrize("change", [(ACCOUNT, "999999999999"), (REGION, "us-east-1"), ("arn:aws:", "arn:aws-cn:")])
def test_an_arn_of_another_place_names_nothing_of_ours(context: Context, change: tuple[str, str]) -> None:
    with pytest.raises(NotUnderstood, match="another"):
        resources_named(context({}, RESOURCES), "aws_sqs_queue", "name", QUEUE.replace(*change))


@pytest.mark.parametrize("text", ["arn:aws:sqs", "arn:aws:sqs:::", f"arn::sqs:{REGION}:{ACCOUNT}:orders"])
def test_what_only_looks_like_an_arn_names_nothing(context: Context, text: str) -> None:
    with pytest.raises(NotUnderstood):
        resources_named(context({}, RESOURCES), "aws_sqs_queue", "name", text)


def test_the_name_of_one_and_the_id_of_another_is_both(context: Context) -> None:
    resources = {**RESOURCES, "aws_sqs_queue.odd": {"id": "orders", "name": "odd"}}

    assert len(resources_named(context({}, resources), "aws_sqs_queue", "name", "orders")) == 2


def test_an_arn_stands_for_the_name_that_the_state_records(context: Context) -> None:
    assert name_in_arn(context({}, RESOURCES), "aws_sqs_queue", "name", QUEUE) == "orders"
    with pytest.raises(NotUnderstood, match="no declared aws_sqs_queue has"):
        name_in_arn(context({}, RESOURCES), "aws_sqs_queue", "name", f"{QUEUE}2")


@pytest.mark.parametrize(
    ("recorded", "given", "full"),
    [
        ({"id": "a1"}, ["a1"], True),
        ({"id": "a1/prod"}, ["a1"], False),
        ({"id": "a1/prod"}, ["a1", "prod"], True),
        ({"id": f"{ACCOUNT}:db:table"}, ["db", "table"], True),
        ({"id": "x1", "arn": QUEUE}, [QUEUE], True),
        ({"id": "x1", "arn": QUEUE}, ["orders"], True),
        ({"id": "x1", "name": "orders"}, ["orders"], False),
        ({"name": "orders"}, ["orders"], False),
    ],
)
def test_a_name_is_full_if_it_says_all_of_the_id(
    context: Context, recorded: dict[str, Any], given: list[str], *, full: bool
) -> None:
    assert names_fully(context(), recorded, given) is full


def test_the_ends_of_an_arn_that_stand_for_all_of_it() -> None:
    assert ends_of_arn(QUEUE) == {"orders", f"{ACCOUNT}:orders", f"{REGION}:{ACCOUNT}:orders"}
    assert ends_of_arn("orders") == frozenset()
