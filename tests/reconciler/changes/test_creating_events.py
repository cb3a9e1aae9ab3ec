"""Events are creations unless they are known not to be: what nobody understands is told too."""

from typing import Any

import pytest

from reconciler.changes.cloudtrail import Event, events_of
from reconciler.changes.creating_events import Place, told


def _event(name: str, asked: Any = None, answered: Any = None, at: int = 10, **more: Any) -> Event:
    service, _, operation = name.partition(":")
    record = {
        "eventSource": f"{service}.amazonaws.com",
        "eventName": operation,
        "eventTime": f"2026-11-20T{at:02}:00:00Z",
        "userIdentity": {"userName": "ada"},
        "requestParameters": asked,
        "responseElements": answered,
        **more,
    }
    (found,) = events_of([record], "test").events
    return found


@pytest.mark.parametrize(
    ("name", "certain"),
    [
        ("sqs:CreateQueue", True),
        ("newservice:ProvisionThing", True),
        ("newservice:FrobnicateThing", False),
        ("events:PutRule", False),
        ("route53:ChangeResourceRecordSets", True),
    ],
)
def test_calls_that_may_create_something_are_told(name: str, *, certain: bool) -> None:
    (creation,) = told([_event(name, {"name": "x"})], Place()).creations
    assert creation.certain is certain


@pytest.mark.parametrize(
    "name",
    ["ec2:CreateTags", "sqs:SetQueueAttributes", "s3:PutBucketTagging", "sns:Publish", "lambda:Invoke", "ec2:StartInstances", "sqs:TagQueue"],
)  # fmt: skip
def test_calls_that_create_nothing_are_not(name: str) -> None:
    assert told([_event(name, {"name": "x"})], Place()).creations == ()


def test_a_call_that_makes_several_things_is_several_creations() -> None:
    answered = {"instancesSet": {"items": [{"instanceId": f"i-{n}", "imageId": "a", "instanceType": "t"} for n in (1, 2)]}}  # fmt: skip
    made = [each.made for each in told([_event("ec2:RunInstances", {}, answered)], Place()).creations]
    assert [each.import_id for each in made if each] == ["i-1", "i-2"]
    targets = _event("events:PutTargets", {"rule": "r", "targets": [{"id": "a"}, {"id": "b"}]})
    found = told([targets], Place()).creations
    assert [[each.text for each in one.values.asked] for one in found] == [["r", "a"], ["r", "b"]]


def test_a_deletion_ends_what_it_names_and_what_belonged_to_that() -> None:
    made = [_event("s3:CreateBucket", {"bucketName": "b"}), _event("s3:PutBucketCors", {"bucketName": "b"})]
    after = told([*made, _event("s3:DeleteBucket", {"bucketName": "b"}, at=11)], Place())
    (deletion,) = after.deletions
    assert [deletion.ends_itself(each) for each in after.creations] == [True, False]
    assert [deletion.ends(each) for each in after.creations] == [True, True]
    other = told([*made, _event("s3:DeleteBucket", {"bucketName": "c"}, at=11)], Place())
    assert not any(other.deletions[0].ends(each) for each in other.creations)
    before = told([*made, _event("s3:DeleteBucket", {"bucketName": "b"}, at=9)], Place())
    assert not any(before.deletions[0].ends(each) for each in before.creations)


def test_a_key_that_will_be_deleted_is_deleted() -> None:
    found = told([_event("kms:CreateKey", {}, {"keyMetadata": {"keyId": "k"}}), _event("kms:ScheduleKeyDeletion", {"keyId": "k"}, at=11)], Place())  # fmt: skip
    assert found.deletions[0].ends_itself(found.creations[0])


def test_the_place_of_a_stack_is_that_of_its_resources() -> None:
    place = Place.of({"a": {"arn": "arn:aws:sqs:eu-west-1:111122223333:q"}, "b": {"arn": "arn:aws:iam::aws:policy/x"}})
    assert place == Place(accounts=frozenset({"111122223333"}), regions=frozenset({"eu-west-1"}))
    far = told([_event("sqs:CreateQueue", {}, awsRegion="us-east-1"), _event("iam:CreateRole", {}, awsRegion="us-east-1")], place)  # fmt: skip
    assert [bool(each.elsewhere) for each in far.creations] == [True, False]
