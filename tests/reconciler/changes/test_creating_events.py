"""Events are creations unless they are known not to be: what nobody understands is told too."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway.core.derived_rows import derived_rows, operations_of, services
from gateway.core.event_sources import source_of
from gateway.core.model.mutation import EffectAction
from reconciler.changes.cloudtrail import Event, events_of
from reconciler.changes.creating_events import MOST_DELETIONS, Place, told
from tests.kit.growth import assert_linear


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


@pytest.mark.parametrize(
    ("create", "end", "named"),
    [
        ("sqs:CreateQueue", "sqs:PurgeQueue", {"queueUrl": "q"}),
        ("events:PutRule", "events:DisableRule", {"name": "q"}),
        ("kms:CreateKey", "kms:DisableKey", {"keyId": "q"}),
        ("ec2:CreateVolume", "ec2:DetachVolume", {"volumeId": "q"}),
        ("ec2:AllocateAddress", "ec2:DisassociateAddress", {"allocationId": "q"}),
        ("s3:CreateBucket", "s3:DeleteBucketPolicy", {"bucketName": "q"}),
    ],
)
def test_the_end_of_a_use_is_no_deletion(create: str, end: str, named: Mapping[str, str]) -> None:
    """Else what still exists would be passed over."""
    found = told([_event(create, named, named), _event(end, named, at=11)], Place())
    assert len(found.creations) == 1
    assert not any(each.ends(found.creations[0]) for each in found.deletions)


@pytest.mark.parametrize(
    ("create", "end"),
    [
        ("ec2:AttachVolume", "ec2:DetachVolume"),
        ("events:PutTargets", "events:RemoveTargets"),
        ("ec2:CreateVpcEndpoint", "ec2:DeleteVpcEndpoints"),
        ("ecs:RegisterTaskDefinition", "ecs:DeregisterTaskDefinition"),
    ],
)
def test_the_opposite_of_a_call_undoes_it(create: str, end: str) -> None:
    found = told([_event(create, {"id": "q"}), _event(end, {"id": "q"}, at=11)], Place())
    assert [each.ends_itself(found.creations[0]) for each in found.deletions_of(found.creations[0])] == [True]


def test_a_deletion_in_another_region_deletes_another_resource() -> None:
    def made(region: str) -> Event:
        return _event("sqs:DeleteQueue", {"queueUrl": "q"}, at=11, awsRegion=region)

    create = _event("sqs:CreateQueue", {"queueName": "q"}, {"queueUrl": "q"}, awsRegion="eu-west-1")
    ended = [[e.ends(c) for e in t.deletions for c in t.creations] for t in (told([create, made(r)], Place()) for r in ("us-east-1", "eu-west-1"))]  # fmt: skip
    assert ended == [[False], [True]]


def test_a_deletion_that_was_cancelled_deleted_nothing() -> None:
    key = [_event("kms:CreateKey", {}, {"keyMetadata": {"keyId": "k"}}), _event("kms:ScheduleKeyDeletion", {"keyId": "k"}, at=11)]  # fmt: skip
    assert told([*key, _event("kms:CancelKeyDeletion", {"keyId": "k"}, at=12)], Place()).deletions == ()
    assert len(told([*key, _event("kms:CancelKeyDeletion", {"keyId": "other"}, at=12)], Place()).deletions) == 1


def test_an_event_that_is_delivered_again_is_told_once() -> None:
    one = _event("sqs:CreateQueue", {"queueName": "q"}, eventID="e-1")
    assert len(told([one, one, _event("sqs:CreateQueue", {"queueName": "q"}, eventID="e-2")], Place()).creations) == 2


def test_many_events_cost_linear_time() -> None:
    def look(count: int) -> Callable[[], object]:
        def events(same: bool) -> list[Event]:
            names = [f"q{0 if same else index}" for index in range(count)]
            made = [_event("sqs:CreateQueue", {"queueName": name}, {"queueUrl": name}) for name in names]
            return [*made, *(_event("sqs:DeleteTable", {"queueUrl": name}, at=11) for name in names)]

        def all_of_them() -> None:
            for found in (told(events(same), Place()) for same in (True, False)):
                assert not any(each.ends_itself(one) for one in found.creations for each in found.deletions_of(one))

        return all_of_them

    assert_linear(look, MOST_DELETIONS)


@pytest.mark.parametrize(
    "name",
    ["cloudfront:CreateDistributionWithTags", "cognito-idp:AdminCreateUser", "cognito-idp:AdminAddUserToGroup", "servicecatalog:CreateTagOption",
     "lakeformation:CreateLFTag", "appstream:BatchAssociateUserStack", "rds:StartActivityStream", "securityhub:BatchEnableStandards",
     "iam:UpdateAccountPasswordPolicy", "autoscaling:BatchPutScheduledUpdateGroupAction"],
)  # fmt: skip
def test_a_call_whose_first_word_says_little_may_create_something_all_the_same(name: str) -> None:
    assert len(told([_event(name, {"name": "x"})], Place()).creations) == 1


@pytest.mark.parametrize(
    "name",
    ["signin:ConsoleLogin", "cognito-idp:AdminInitiateAuth", "cognito-idp:AdminSetUserPassword", "securityhub:BatchImportFindings",
     "dynamodb:BatchWriteItem", "config:StartConfigurationRecorder", "ec2:StartInstances", "autoscaling:CreateOrUpdateTags",
     "elasticloadbalancing:AddTags", "rds:AddTagsToResource", "sns:ConfirmSubscription"],
)  # fmt: skip
def test_traffic_tags_and_logins_create_nothing(name: str) -> None:
    assert told([_event(name, {"name": "x"})], Place()).creations == ()


_ONLY_CHANGES = {
    "account:DisableRegion", "autoscaling:CreateOrUpdateTags", "dynamodb:PutItem", "dynamodb:UpdateTable", "ec2:CreateTags",
    "ec2:DisassociateTransitGatewayRouteTable", "ec2:ModifyEbsDefaultKmsKeyId", "elasticache:ModifyUserGroup", "iot:UpdateEventConfigurations",
    "kms:Encrypt", "redshift-data:ExecuteStatement", "redshift:ModifyClusterSnapshotSchedule",
}  # fmt: skip
"""Reviewed one by one: traffic, tags, settings of the account, and attributes of another resource, of which a plan shows the change."""


def test_what_a_table_says_only_creates_is_told() -> None:
    silent = {
        f"{service}:{operation}"
        for service in services()
        for operation in operations_of(service)
        if any(row.actions == {EffectAction.CREATE} and row.resource_type.startswith("aws_") for row in derived_rows(service, operation))
        and not told([_event(f"{source_of(service)}:{operation}", {"name": "x"})], Place()).creations
    }  # fmt: skip
    assert silent <= _ONLY_CHANGES
