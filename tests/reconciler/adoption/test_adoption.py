"""Everything that events say was created is written, recognised or named: nothing is passed over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from reconciler.adoption.adoption import (
    MOST,
    DeclaredStack,
    adopt,
    adopt_told,
    left_without_looking,
    without_naming_left,
)
from reconciler.adoption.links import Texts
from reconciler.adoption.model import Adoption, left_creation_to_json
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import Creation, KnownCreation, Told
from reconciler.changes.event_values import EventValues
from reconciler.errors import PluginUnavailable
from reconciler.model import DriftOrigin
from reconciler.terraform.plugin.imports import NotImported
from reconciler.terraform.plugin.type_schemas import BlockSchema
from tests.reconciler.adoption.conftest import POLICY, QUEUE, ProviderDouble, attribute, event, schema

Given = Callable[..., DeclaredStack]
_ARN = "arn:aws:kinesis:eu-west-1:123456789012:stream/a-stream"
_STREAM: dict[str, Json] = {"id": _ARN, "arn": _ARN, "name": "a-stream", "kms_key_id": "key-0123456789abcdef0"}
_CREATED = event("kinesis:CreateStream", {"streamName": "a-stream"})
_KEY = 'resource "aws_kms_key" "own" {}\n'


def _provider() -> ProviderDouble:
    schemas = {"aws_kinesis_stream": QUEUE, "aws_iam_role_policy": POLICY}
    return ProviderDouble(schemas, {("aws_kinesis_stream", "a-stream"): _STREAM})


async def _adopted(
    provider: ProviderDouble, events: Sequence[Event], stack: DeclaredStack, how: Adopt = Adopt.LINKED
) -> Adoption:
    async def opened() -> Any:
        return provider

    return await adopt(opened, events, stack, how)


async def test_what_belongs_to_nothing_is_named_with_who_made_it(stack: Given) -> None:
    adoption = await _adopted(_provider(), [_CREATED], stack())
    assert adoption.created == ()
    (left,) = adoption.left
    written = left_creation_to_json(left)
    assert {name: written[name] for name in ("type", "identity", "arn", "by", "at", "event")} == {
        "type": "aws_kinesis_stream",
        "identity": "a-stream",
        "arn": _ARN,
        "by": "ada",
        "at": "2026-11-20T10:00:00+00:00",
        "event": "kinesis:CreateStream",
    }
    assert "belongs to no resource" in left.why


async def test_what_refers_to_a_resource_of_the_stack_is_written_below_it(stack: Given) -> None:
    declared = stack(_KEY, aws_kms_key__own={"id": "key-0123456789abcdef0"})
    adoption = await _adopted(_provider(), [_CREATED], declared)
    ((created, origin),) = adoption.created
    assert (created.import_id, created.owner, created.name) == ("a-stream", "aws_kms_key.own", "a-stream")
    assert created.attributes == {"name": "a-stream", "kms_key_id": "key-0123456789abcdef0"}
    assert (origin.actor, adoption.left) == ("ada", ())


async def test_all_is_written_or_nothing_if_that_is_wished(stack: Given) -> None:
    declared = stack(_KEY, aws_kms_key__own={"id": "key-0123456789abcdef0"})
    nothing = await _adopted(_provider(), [_CREATED], declared, Adopt.NONE)
    assert (nothing.created, len(nothing.left)) == ((), 1)
    everything = await _adopted(_provider(), [_CREATED], stack(), Adopt.ALL)
    assert (len(everything.created), everything.left) == (1, ())


async def test_what_the_state_has_is_recognised(stack: Given) -> None:
    declared = stack('resource "aws_kinesis_stream" "a" {}\n', aws_kinesis_stream__a=_STREAM)
    adoption = await _adopted(_provider(), [_CREATED], declared)
    assert (adoption.created, adoption.left) == ((), ())


async def test_what_was_deleted_again_is_accounted_for_and_a_failed_call_created_nothing(stack: Given) -> None:
    deleted = event("kinesis:DeleteStream", {"streamName": "a-stream"})
    provider = _provider()
    adoption = await _adopted(provider, [_CREATED, deleted], stack())
    assert (adoption.left, provider.tried) == ((), [])


async def test_what_was_made_again_after_a_deletion_is_named(stack: Given) -> None:
    deleted = event("kinesis:DeleteStream", {"streamName": "a-stream"}, eventTime="2026-11-20T11:00:00Z")
    again = event("kinesis:CreateStream", {"streamName": "a-stream"}, eventTime="2026-11-20T12:00:00Z")
    adoption = await _adopted(_provider(), [_CREATED, deleted, again], stack())
    assert [each.origin.at.hour for each in adoption.left] == [12]


async def test_a_call_that_no_table_knows_is_named_and_never_passed_over(stack: Given) -> None:
    odd = event("newthing:ProvisionGadget", {"gadgetName": "odd"})
    adoption = await _adopted(_provider(), [odd], stack())
    (left,) = adoption.left
    assert (left.resource_type, left.identity) == ("", "odd")
    assert "No table knows this call" in left.why


async def test_what_the_provider_cannot_read_is_named_as_the_call_names_it_not_by_an_id_of_the_reply(
    stack: Given,
) -> None:
    asked, answered = {"repositoryName": "spare"}, {"repositoryMetadata": {"repositoryId": "b44622d3-1dc3"}}
    provider = ProviderDouble({"aws_codecommit_repository": QUEUE}, {})
    adoption = await _adopted(provider, [event("codecommit:CreateRepository", asked, answered)], stack())
    assert [(each.resource_type, each.identity) for each in adoption.left] == [("aws_codecommit_repository", "spare")]


async def test_a_part_that_is_gone_with_what_it_belonged_to_is_accounted_for(stack: Given) -> None:
    put = event("iam:PutRolePolicy", {"roleName": "worker", "policyName": "read", "policyDocument": "{}"})
    deleted = event("iam:DeleteRole", {"roleName": "worker"})
    assert (await _adopted(_provider(), [put, deleted], stack())).left == ()
    assert len((await _adopted(_provider(), [put], stack())).left) == 1


async def test_what_is_a_block_inside_its_resource_is_no_resource_of_its_own(stack: Given) -> None:
    put = event("iam:PutRolePolicy", {"roleName": "worker", "policyName": "read", "policyDocument": "{}"})
    live = {"id": "worker:read", "role": "worker", "name": "read", "policy": "{}"}
    provider = _provider()
    provider.resources = {("aws_iam_role_policy", "worker:read"): live}
    inline = stack(
        'resource "aws_iam_role" "worker" {\n  inline_policy {\n    name = "own"\n  }\n}\n',
        aws_iam_role__worker={"id": "worker", "name": "worker"},
    )
    assert (await _adopted(provider, [put], inline)).created == ()
    plain = stack('resource "aws_iam_role" "worker" {}\n', aws_iam_role__worker={"id": "worker", "name": "worker"})
    ((created, _),) = (await _adopted(provider, [put], plain)).created
    assert created.owner == "aws_iam_role.worker"


_RULE = schema(security_group_id="required", ip_protocol="required", from_port="optional", to_port="optional", cidr_ipv4="optional", arn="computed")  # fmt: skip
_OLDER = schema(security_group_id="required", protocol="required", type="required")
_NEW: Mapping[str, Json] = {"id": "sgr-1", "arn": "arn:r", "security_group_id": "sg-0123456789abcdef0", "ip_protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_ipv4": "10.0.0.0/8"}  # fmt: skip
_OLD_ID = "sg-0123456789abcdef0_ingress_tcp_22_22_10.0.0.0/8"
_AUTHORIZED = event(
    "ec2:AuthorizeSecurityGroupIngress",
    {"groupId": "sg-0123456789abcdef0", "ipPermissions": {"items": [{"ipProtocol": "tcp", "fromPort": 22, "toPort": 22, "ipRanges": {"items": [{"cidrIp": "10.0.0.0/8"}]}}]}},
    {"securityGroupRuleSet": {"items": [{"securityGroupRuleId": "sgr-1"}]}},
)  # fmt: skip
_GROUP = 'resource "aws_security_group" "g" {}\nresource "aws_security_group_rule" "r" {}\nresource "aws_vpc_security_group_ingress_rule" "v" {}\n'


def _rules() -> ProviderDouble:
    old: Mapping[str, Json] = {
        "id": "sgrule-1",
        "security_group_id": "sg-0123456789abcdef0",
        "protocol": "tcp",
        "type": "ingress",
    }
    return ProviderDouble(
        {"aws_vpc_security_group_ingress_rule": _RULE, "aws_security_group_rule": _OLDER},
        {("aws_vpc_security_group_ingress_rule", "sgr-1"): _NEW, ("aws_security_group_rule", _OLD_ID): old},
    )


async def test_a_rule_takes_the_form_of_the_rules_of_its_group(stack: Given) -> None:
    group = {"aws_security_group__g": {"id": "sg-0123456789abcdef0"}}
    older = {"aws_security_group_rule__r": {"id": "sgrule-9", "security_group_id": "sg-0123456789abcdef0"}}
    newer = {"aws_vpc_security_group_ingress_rule__v": {"id": "sgr-9", "security_group_id": "sg-0123456789abcdef0"}}
    ((plain, _),) = (await _adopted(_rules(), [_AUTHORIZED], stack(_GROUP, **group))).created
    assert plain.resource_type == "aws_vpc_security_group_ingress_rule"
    ((like, _),) = (await _adopted(_rules(), [_AUTHORIZED], stack(_GROUP, **group, **older))).created
    assert (like.resource_type, like.import_id) == ("aws_security_group_rule", _OLD_ID)
    mixed = await _adopted(_rules(), [_AUTHORIZED], stack(_GROUP, **group, **older, **newer))
    assert mixed.created == ()
    assert "both kinds" in mixed.left[0].why


async def test_events_of_another_account_are_told_once_and_those_of_another_region_are_named(stack: Given) -> None:
    declared = stack("", aws_sqs_queue__a={"arn": "arn:aws:sqs:eu-west-1:123456789012:a"})
    theirs = event("kinesis:CreateStream", {"streamName": "x"}, recipientAccountId="999999999999")
    far = event("kinesis:CreateStream", {"streamName": "far"}, awsRegion="us-east-1")
    gone = event("kinesis:CreateStream", {"streamName": "gone"}, awsRegion="us-east-1")
    deleted = event("kinesis:DeleteStream", {"streamName": "gone"}, awsRegion="us-east-1")
    odd = event("newthing:FrobnicateGadget", {"gadgetName": "odd"}, awsRegion="us-east-1")
    adoption = await _adopted(_provider(), [theirs, theirs, far, gone, deleted, odd], declared)
    assert adoption.noted == ("2 × events of the account 999999999999, which is not the stack's.",)
    assert [(each.identity, "us-east-1" in each.why) for each in adoption.left] == [("far", True), ("odd", True)]


async def test_what_an_aws_service_made_by_itself_is_a_controllers(stack: Given) -> None:
    service = {"type": "AWSService", "invokedBy": "autoscaling.amazonaws.com"}
    made = event("kinesis:CreateStream", {"streamName": "a-stream"}, userIdentity=service)
    adoption = await _adopted(_provider(), [made], stack())
    assert adoption.left == ()
    assert "autoscaling.amazonaws.com" in adoption.noted[0]


async def test_a_required_secret_is_never_written(stack: Given) -> None:
    hidden = BlockSchema(attributes={**QUEUE.attributes, "password": attribute("required hidden")})
    provider = ProviderDouble({"aws_kinesis_stream": hidden}, {("aws_kinesis_stream", "a-stream"): _STREAM})
    adoption = await _adopted(provider, [_CREATED], stack(), Adopt.ALL)
    assert adoption.created == ()
    assert "password may be a secret" in adoption.left[0].why


async def test_without_a_provider_everything_is_named(stack: Given) -> None:
    async def missing() -> Any:
        raise PluginUnavailable.because("There is none.")

    adoption = await adopt(missing, [_CREATED, _CREATED], stack(), Adopt.LINKED)
    assert [each.identity for each in adoption.left] == ["a-stream"]
    assert "There is none." in adoption.left[0].why


async def test_a_type_that_cannot_be_imported_is_named_so(stack: Given) -> None:
    provider = ProviderDouble({"aws_kinesis_stream": QUEUE}, refusals={"aws_kinesis_stream": NotImported(never=True)})
    adoption = await _adopted(provider, [_CREATED], stack(), Adopt.ALL)
    assert "cannot import" in adoption.left[0].why


@pytest.mark.parametrize("name", ["logs:PutRetentionPolicy", "sqs:SetQueueAttributes", "ec2:CreateTags"])
async def test_a_change_of_something_declared_is_no_creation(stack: Given, name: str) -> None:
    declared = stack('resource "aws_sqs_queue" "a" {}\n', aws_sqs_queue__a={"id": "a-queue", "name": "a-queue"})
    adoption = await _adopted(_provider(), [event(name, {"name": "a-queue"})], declared)
    assert (adoption.created, adoption.left) == ((), ())
    noted = name == "logs:PutRetentionPolicy"
    assert adoption.noted == (
        ("1 × logs:PutRetentionPolicy of what is declared: a plan shows what it changed.",) if noted else ()
    )


@pytest.mark.parametrize("declared", [True, False])
async def test_a_version_of_something_declared_is_a_change_of_it(stack: Given, declared: bool) -> None:
    own = stack('resource "aws_launch_template" "a" {}\n', aws_launch_template__a={"id": "lt-0a", "name": "a"})
    asked = {"LaunchTemplateId": "lt-0a" if declared else "lt-0b", "LaunchTemplateData": {"InstanceType": "m5.large"}}
    version = event("ec2:CreateLaunchTemplateVersion", asked)
    adoption = await _adopted(_provider(), [version], own)
    assert [each.identity for each in adoption.left] == ([] if declared else ["lt-0b"])
    assert bool(adoption.noted) == declared


def test_without_looking_all_is_left_for_one_reason() -> None:
    (left,) = left_without_looking([_CREATED, event("kinesis:DeleteStream", {})], "No plan.")
    assert (left.identity, left.why) == ("a-stream", "No plan.")


async def test_a_part_that_the_provider_does_not_find_is_named_although_what_it_belongs_to_is_declared(
    stack: Given,
) -> None:
    put = event("iam:PutRolePolicy", {"roleName": "worker", "policyName": "read", "policyDocument": "{}"})
    declared = stack('resource "aws_iam_role" "worker" {}\n', aws_iam_role__worker={"id": "worker", "name": "worker"})
    (left,) = (await _adopted(_provider(), [put], declared)).left
    assert left.resource_type == "aws_iam_role_policy"
    unmade = event("iam:PutUserPolicy", {"userName": "worker", "policyName": "read", "policyDocument": "{}"})
    provider = ProviderDouble({"aws_iam_user_policy": POLICY})
    assert len((await _adopted(provider, [unmade], declared)).left) == 1


_TARGET = schema(rule="required", target_id="required", arn="required")
_QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:jobs"


async def test_a_part_is_not_taken_for_what_it_points_at_nor_for_another_one_that_does(stack: Given) -> None:
    live = {name: {"id": f"nightly-{name}", "rule": "nightly", "target_id": name, "arn": _QUEUE_ARN} for name in ("one", "two")}  # fmt: skip
    provider = ProviderDouble(
        {"aws_cloudwatch_event_target": _TARGET, "aws_sqs_queue": QUEUE},
        {("aws_cloudwatch_event_target", f"nightly/{name}"): own for name, own in live.items()},
        refusals={"aws_cloudwatch_event_target": NotImported(form="RULENAME/TARGETID")},
    )
    targets = [{"id": "one", "arn": _QUEUE_ARN}, {"id": "two", "arn": _QUEUE_ARN}]
    declared = stack('resource "aws_sqs_queue" "jobs" {}\n', aws_sqs_queue__jobs={"id": "x", "arn": _QUEUE_ARN})
    adoption = await _adopted(provider, [event("events:PutTargets", {"rule": "nightly", "targets": targets})], declared)
    assert [created.import_id for created, _ in adoption.created] == ["nightly/one", "nightly/two"]


_MEMBERS = BlockSchema(
    attributes={**schema(user="required").attributes, "groups": attribute("required", ["set", "string"])}
)


async def test_what_the_provider_names_anew_at_each_import_is_recognised_by_what_it_says(stack: Given) -> None:
    provider = ProviderDouble(
        {"aws_iam_user_group_membership": _MEMBERS},
        {("aws_iam_user_group_membership", "annette/ops"): {"id": "made-up-2", "user": "annette", "groups": ["ops"]}},
        refusals={"aws_iam_user_group_membership": NotImported(form="<user-name>/<group-name1>/...")},
    )
    code = 'resource "aws_iam_user_group_membership" "a" {}\nresource "aws_iam_user" "a" {}\n'
    user: Mapping[str, Any] = {"aws_iam_user__a": {"id": "annette", "name": "annette"}}
    added = event("iam:AddUserToGroup", {"userName": "annette", "groupName": "ops"})
    for groups, written in ((["dev", "ops"], 0), (["dev"], 1)):
        declared = {"id": "made-up-1", "user": "annette", "groups": groups}
        adoption = await _adopted(provider, [added], stack(code, aws_iam_user_group_membership__a=declared, **user))
        assert (len(adoption.created), adoption.left) == (written, ())


async def test_a_second_one_that_the_reply_names_is_not_taken_for_the_first(stack: Given) -> None:
    provider = ProviderDouble(
        {"aws_iam_access_key": schema(user="required")},
        {("aws_iam_access_key", "AKIASECOND"): {"id": "AKIASECOND", "user": "annette"}},
    )
    declared = stack(
        'resource "aws_iam_access_key" "a" {}\nresource "aws_iam_user" "a" {}\n',
        aws_iam_access_key__a={"id": "AKIAFIRST", "user": "annette"},
        aws_iam_user__a={"id": "annette", "name": "annette"},
    )
    made = event("iam:CreateAccessKey", {"userName": "annette"}, {"accessKey": {"accessKeyId": "AKIASECOND"}})
    ((created, _),) = (await _adopted(provider, [made], declared)).created
    assert created.import_id == "AKIASECOND"


_URL = schema(function_name="required", function_url="computed", url_id="computed")
_FUNCTION_ARN = "arn:aws:lambda:eu-west-1:123456789012:function:mail"


@pytest.mark.parametrize(("url", "written"), [("https://abc.example", 1), ("https://other.example", 0)])
async def test_one_resource_that_is_imported_by_its_name_and_by_its_arn_is_one(
    stack: Given, url: str, written: int
) -> None:
    """The provider keeps the id as it was given. Another resource differs in more than that."""
    names = {"mail": "https://abc.example", _FUNCTION_ARN: url}
    provider = ProviderDouble(
        {"aws_lambda_function_url": _URL},
        {
            ("aws_lambda_function_url", name): {"id": name, "function_name": name, "function_url": own}
            for name, own in names.items()
        },
    )
    made = event("lambda:CreateFunctionUrlConfig", {"functionName": "mail"}, {"functionArn": _FUNCTION_ARN})
    adoption = await _adopted(provider, [made], stack(), Adopt.ALL)
    assert len(adoption.created) == written
    assert [each.import_id for each, _ in adoption.created] == ["mail"] * written
    assert len(adoption.left) == 1 - written


async def test_what_was_identified_before_is_read_again_and_written_whatever_the_call_was(stack: Given) -> None:
    origin = DriftOrigin(actor="ada", event="kinesis:CreateStream", at=datetime(2026, 11, 20, tzinfo=UTC))
    values = EventValues(service="", operation="")
    for import_id, outcome in (("a-stream", (1, 0)), ("gone", (0, 1))):
        known = KnownCreation(resource_type="aws_kinesis_stream", import_id=import_id, given=frozenset({"kms_key_id"}))
        told = Told(creations=(Creation(event=Event(origin=origin, names=frozenset()), values=values, known=known),))
        provider = _provider()

        async def opened(provider: Any = provider) -> Any:
            return provider

        adoption = await adopt_told(opened, told, stack(), Adopt.ALL)
        assert (len(adoption.created), len(adoption.left)) == outcome
        assert provider.tried == [("aws_kinesis_stream", import_id)]
        assert all("finds no aws_kinesis_stream gone any more" in each.why for each in adoption.left)
        assert all(each.attributes.keys() == {"name", "kms_key_id"} for each, _ in adoption.created)


async def test_what_another_stack_declares_is_recognised(stack: Given) -> None:
    theirs = replace(stack(), others=frozenset({("aws_kinesis_stream", _ARN)}))
    assert (await _adopted(_provider(), [_CREATED], theirs, Adopt.ALL)) == Adoption()
    of_another_type = replace(stack(), others=frozenset({("aws_kinesis_firehose_delivery_stream", _ARN)}))
    assert len((await _adopted(_provider(), [_CREATED], of_another_type)).left) == 1


@pytest.mark.slow
async def test_ten_thousand_creations_are_all_accounted_for(stack: Given) -> None:
    """Only so many are looked at, and what was deleted again takes no place among them."""
    provider = _provider()
    passing = [event(f"kinesis:{verb}Stream", {"streamName": f"s{n}"}) for n in range(3_000) for verb in ("Create", "Delete")]  # fmt: skip
    staying = [event("kinesis:CreateStream", {"streamName": f"t{n}"}) for n in range(4_000)]
    adoption = await _adopted(provider, [*passing, *staying], stack(), Adopt.ALL)
    assert len({each.identity for each in adoption.left}) == 4_000
    assert sum("creations of one run" in each.why for each in adoption.left) == 4_000 - MOST
    assert ("aws_kinesis_stream", f"t{MOST - 1}") in provider.tried
    assert not any(f"t{MOST}" in name for _, name in provider.tried)


async def test_once_the_provider_names_a_form_it_comes_before_ids_of_other_things(stack: Given) -> None:
    """The provider takes the ARN of a cluster for the id of a service, and waits for that one in vain."""
    provider = ProviderDouble(
        {"aws_ecs_service": schema(name="required", cluster="required", task_definition="optional")},
        {("aws_ecs_service", "main/web"): {"id": "arn:service/main/web", "name": "web", "cluster": "main"}},
        refusals={"aws_ecs_service": NotImported(form="cluster-name/service-name")},
    )
    asked = {"cluster": "main", "serviceName": "web", "taskDefinition": "arn:aws:ecs:eu-west-1:1:task-definition/web:1"}
    answered = {"service": {"serviceArn": "arn:service/main/web", "clusterArn": "arn:aws:ecs:eu-west-1:1:cluster/main"}}
    adoption = await _adopted(provider, [event("ecs:CreateService", asked, answered)], stack(), Adopt.ALL)
    assert [each.import_id for each, _ in adoption.created] == ["main/web"]
    assert [name for _, name in provider.tried][1] == "main/web"


async def test_what_a_declared_resource_names_by_now_is_written_and_what_that_one_names_too(stack: Given) -> None:
    used = "arn:aws:kinesis:eu-west-1:123456789012:stream/used"
    streams: dict[str, dict[str, Json]] = {
        "used": {"id": used, "arn": used, "name": "used", "kms_key_id": _ARN},
        "a-stream": _STREAM,
        "other": {"id": f"{used}-not", "arn": f"{used}-not", "name": "other"},
    }
    provider = ProviderDouble(
        {"aws_kinesis_stream": QUEUE}, {("aws_kinesis_stream", name): own for name, own in streams.items()}
    )
    events = [event("kinesis:CreateStream", {"streamName": name}) for name in ("other", "a-stream", "used")]
    code = 'resource "aws_iot_rule" "r" {}\n'
    adoption = await _adopted(
        provider, events, stack(code, aws_iot_rule__r={"id": "r", "targets": f'[{{"to": "{used}"}}]'})
    )
    assert [(made.name, made.owner) for made, _ in adoption.created] == [("used", "aws_iot_rule.r"), ("a-stream", "")]
    assert [left.identity for left in adoption.left] == ["other"]
    (first, _), (second, _) = adoption.created
    assert (Texts(first.attributes).name(second), Texts(second.attributes).name(first)) == (True, False)


async def test_a_narrower_rule_takes_the_form_of_the_only_one_which_is_gone(stack: Given) -> None:
    group = {"aws_security_group__g": {"id": "sg-0123456789abcdef0"}}
    code = 'resource "aws_security_group" "g" {}\nresource "aws_security_group_rule" "wide" {}\n'
    ((like, _),) = (await _adopted(_rules(), [_AUTHORIZED], stack(code, **group))).created
    assert (like.resource_type, like.import_id) == ("aws_security_group_rule", _OLD_ID)


_ALARM: dict[str, Json] = {
    "id": "behind",
    "arn": "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:behind",
    "alarm_name": "behind",
    "dimensions": {"StreamName": "a-stream"},
    "topic_arn": "arn:aws:sns:eu-west-1:123456789012:alerts",
}
_ALARMS = schema(alarm_name="required", arn="computed", dimensions="optional", topic_arn="optional")
_TOPIC = 'resource "aws_sns_topic" "alerts" {}\n'


def _streams_and_alarms(**refusals: NotImported) -> ProviderDouble:
    resources = {("aws_kinesis_stream", "a-stream"): _STREAM, ("aws_cloudwatch_metric_alarm", "behind"): _ALARM}
    schemas = {"aws_kinesis_stream": QUEUE, "aws_cloudwatch_metric_alarm": _ALARMS}
    there = {key: own for key, own in resources.items() if key[0] not in refusals}
    return ProviderDouble(schemas, there, refusals)


@pytest.mark.parametrize("alarm_first", [True, False])
async def test_what_is_named_by_its_plain_name_in_a_map_belongs_to_the_stack_with_what_names_it(
    stack: Given, alarm_first: bool
) -> None:
    events = [_CREATED, event("monitoring:PutMetricAlarm", {"alarmName": "behind"})]
    declared = stack(_TOPIC, aws_sns_topic__alerts={"arn": _ALARM["topic_arn"]})
    adoption = await _adopted(_streams_and_alarms(), events[::-1] if alarm_first else events, declared)
    assert {made.import_id for made, _ in adoption.created} == {"behind", "a-stream"}
    assert adoption.left == ()
    assert without_naming_left(adoption) == adoption


async def test_what_names_what_the_same_actor_created_and_what_is_left_is_left_too(stack: Given) -> None:
    refused = _streams_and_alarms(aws_kinesis_stream=NotImported(reason="It cannot be read."))
    alarm = event("monitoring:PutMetricAlarm", {"alarmName": "behind"})
    declared = stack(_TOPIC, aws_sns_topic__alerts={"arn": _ALARM["topic_arn"]})
    adoption = await _adopted(refused, [_CREATED, alarm], declared)
    assert [made.import_id for made, _ in adoption.created] == ["behind"]
    whole = without_naming_left(adoption)
    assert (whole.created, [each.identity for each in whole.left]) == ((), ["a-stream", "behind"])
    assert "It names a-stream, which was created with it and is not written." in whole.left[1].why
    other = replace(alarm, origin=replace(alarm.origin, actor="bob"))
    of_two = await _adopted(refused, [_CREATED, other], declared)
    assert without_naming_left(of_two) == of_two
