"""What a mutation created, read from its effects."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.mutation_creations import creations_of, is_of_place
from tests.kit import nouns

_AT = datetime(2026, 11, 1, tzinfo=UTC)


def _mutation(resource_type: str, identity: dict[str, str], **attributes: Any) -> AppliedMutation:
    def effect(attribute: str, value: Json) -> Effect:
        return nouns.effect(
            f"{resource_type}{{new}}", attribute, value, action=EffectAction.CREATE, identity=identity, declared=False
        )

    effects = (effect(WHOLE, None), *(effect(name.replace("__", "."), value) for name, value in attributes.items()))
    return AppliedMutation(
        id="mut_1",
        seq=1,
        stack="shop",
        actor="agent",
        kind="agent",
        at=_AT,
        settled_at=_AT,
        operation="any:Create",
        account="111122223333",
        region="eu-west-1",
        effects=effects,
    )


def test_a_queue_is_imported_by_its_url_and_has_the_values_of_the_call() -> None:
    mutation = _mutation("aws_sqs_queue", {"name": "jobs"}, delay_seconds=5, tags__a="b", **{"tags__x.y/z": "c"})
    ((address, created),) = creations_of(mutation)
    assert address == "aws_sqs_queue{new}"
    assert created.import_id == "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs"
    assert created.attributes == {"name": "jobs", "delay_seconds": 5, "tags": {"a": "b", "x.y/z": "c"}}
    assert (created.name, created.parent) == ("jobs", "")


@pytest.mark.parametrize(
    ("resource_type", "identity", "import_id", "parent"),
    [
        ("aws_sns_topic", {"name": "alerts"}, "arn:aws:sns:eu-west-1:111122223333:alerts", ""),
        ("aws_cloudwatch_log_group", {"name": "/shop/app"}, "/shop/app", ""),
        ("aws_s3_bucket", {"bucket": "shop-data"}, "shop-data", ""),
        ("aws_s3_bucket_versioning", {"bucket": "shop-data"}, "shop-data", "shop-data"),
        ("aws_iam_role_policy", {"role": "worker", "name": "read"}, "worker:read", "worker"),
        (
            "aws_iam_role_policy_attachment",
            {"role": "worker", "policy_arn": "arn:aws:iam::aws:policy/ReadOnlyAccess"},
            "worker/arn:aws:iam::aws:policy/ReadOnlyAccess",
            "worker",
        ),
    ],
)
def test_the_id_to_import_by(resource_type: str, identity: dict[str, str], import_id: str, parent: str) -> None:
    ((_, created),) = creations_of(_mutation(resource_type, identity))
    assert (created.import_id, created.parent) == (import_id, parent)
    assert dict(created.attributes) == identity


def test_a_policy_is_written_as_a_document() -> None:
    mutation = _mutation("aws_iam_role_policy", {"role": "worker", "name": "read"}, policy='{"Version": "2012-10-17"}')
    ((_, created),) = creations_of(mutation)
    assert created.attributes["policy"] == {"json": {"Version": "2012-10-17"}}


@pytest.mark.parametrize(
    ("region", "topic", "queue"),
    [
        ("cn-north-1", "arn:aws-cn:sns:cn-north-1:", "https://sqs.cn-north-1.amazonaws.com.cn/"),
        ("us-gov-west-1", "arn:aws-us-gov:sns:us-gov-west-1:", "https://sqs.us-gov-west-1.amazonaws.com/"),
    ],
)
def test_an_id_names_the_partition(region: str, topic: str, queue: str) -> None:
    for kind, begins in (("aws_sns_topic", topic), ("aws_sqs_queue", queue)):
        ((_, created),) = creations_of(replace(_mutation(kind, {"name": "jobs"}), region=region))
        assert created.import_id.startswith(begins)


def test_what_is_not_certain_is_not_created() -> None:
    queue = _mutation("aws_sqs_queue", {"name": "jobs"}, delay_seconds=5)
    secret = tuple(replace(each, sensitive=each.attribute != WHOLE) for each in queue.effects)
    declared = tuple(replace(each, declared=True) for each in queue.effects)
    assert creations_of(queue)
    assert not creations_of(replace(queue, account=""))
    assert not creations_of(replace(queue, region=""))
    assert not creations_of(replace(queue, effects=secret))
    assert not creations_of(replace(queue, effects=declared))
    assert not creations_of(replace(queue, wanted_seconds=60.0))
    assert not creations_of(_mutation("aws_sqs_queue", {"arn": "x"}))
    assert not creations_of(_mutation("aws_db_instance", {"identifier": "main"}))


def _live(*arns: str) -> dict[str, dict[str, Json]]:
    return {"aws_x.none": {"id": "1"}, **{f"aws_x.a{index}": {"arn": arn} for index, arn in enumerate(arns)}}


HERE, THERE = "arn:aws:sqs:eu-west-1:111122223333:a", "arn:aws:sqs:us-west-2:111122223333:b"


@pytest.mark.parametrize(
    ("resource_type", "identity", "live", "here"),
    [
        ("aws_sqs_queue", {"name": "jobs"}, _live(HERE), True),
        ("aws_sqs_queue", {"name": "jobs"}, _live(THERE), False),
        ("aws_sqs_queue", {"name": "jobs"}, _live(HERE, THERE), False),
        ("aws_sqs_queue", {"name": "jobs"}, _live(), False),
        ("aws_sqs_queue", {"name": "jobs"}, _live("arn:aws:sqs:eu-west-1:999999999999:a"), False),
        ("aws_iam_role", {"name": "jobs"}, _live(THERE), True),
        ("aws_iam_role", {"name": "jobs"}, _live("arn:aws:iam::999999999999:role/a"), False),
    ],
)
def test_only_what_was_created_where_the_stack_is_is_imported(
    resource_type: str, identity: dict[str, str], live: dict[str, dict[str, Json]], here: bool
) -> None:
    mutation = _mutation(resource_type, identity)
    ((_, created),) = creations_of(mutation)
    assert is_of_place(mutation, created, live) is here


def test_a_document_that_is_nested_too_deeply_stays_text() -> None:
    deep = "[" * 100_000
    mutation = _mutation("aws_iam_role_policy", {"role": "worker", "name": "read"}, policy=deep)
    ((_, created),) = creations_of(mutation)
    assert created.attributes["policy"] == deep


@pytest.mark.parametrize(
    ("other", "written"),
    [
        ({"cidr_blocks": ["10.0.0.0/8"]}, "10.0.0.0/8"),
        ({"source_security_group_id": "sg-2"}, "sg-2"),
        ({"self": True}, "self"),
        ({"cidr_blocks": ["10.0.0.0/8", "10.1.0.0/16"]}, ""),
        ({}, ""),
    ],
)
def test_a_rule_of_the_older_kind_is_imported_by_all_that_tells_it_from_others(
    other: dict[str, Any], written: str
) -> None:
    rule = {"type": "ingress", "protocol": "tcp", "from_port": 22, "to_port": 23, **other}
    mutation = _mutation("aws_security_group_rule", {"security_group_id": "sg-1"}, **rule)
    found = creations_of(mutation)
    assert [created.import_id for _, created in found] == ([f"sg-1_ingress_tcp_22_23_{written}"] if written else [])
    assert all((created.parent, created.name) == ("sg-1", "22") for _, created in found)
