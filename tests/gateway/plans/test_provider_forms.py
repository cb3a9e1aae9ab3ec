"""Planned values that the provider writes in another form pass, and nothing beside them that looks alike."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.derived_rows import AttributeSource, Confidence, Origin, ValueForm
from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlanRules, SessionChange
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import CallMatch, SessionCall, by_effects
from gateway.plans.planned_values import WrittenPlaces
from gateway.plans.row_match import by_rows
from gateway.plans.session_calls import match_of
from tests.gateway.plans.test_row_match import KAFKA, C, D, S, change, match, row, session_call, source
from tests.kit import nouns
from tests.kit.growth import assert_linear

DELETE, UPDATE = PlannedAction.DELETE, PlannedAction.UPDATE
ACCOUNT = "123456789012"


def called(asked: SessionCall, service: str, operation: str, **recorded: dict[str, Json]) -> SessionCall:
    """The same call by another name, beside a state that has these attributes of these addresses."""
    state = KAFKA.state
    some = next(iter(state.resources.values()))
    known = {
        change.address: replace(some, address=change.address, attributes=recorded[change.address.rpartition(".")[2]])
        for change in asked.session.changes
        if change.address.rpartition(".")[2] in recorded
    }
    stack = replace(KAFKA, state=replace(state, resources={**state.resources, **known}))
    return replace(asked, call=replace(asked.call, service=service, operation=operation), stack=stack)


def test_a_value_in_a_planned_document_stands_at_the_place_of_the_parameter() -> None:
    kind = "aws_batch_job_definition"
    document = json.dumps({"image": "busybox", "command": ["date"], "jobRoleArn": "r", "readonlyRootFilesystem": True})
    planned = change(kind=kind, values={"name": "seed", "container_properties": document})

    def given(**container: Any) -> CallMatch:
        asked = session_call(row(C, resource_type=kind), changes=(planned,), containerProperties=container)
        return by_rows(replace(asked, carries=True, schemas=read_schemas({kind})))

    assert given(image="busybox", command=["date"]).uses
    assert given(jobRoleArn="r").uses
    assert given(command=["curl", "evil"]).objection
    assert given(command=["busybox"]).objection, "another value of the document"
    assert given(jobRoleArn="busybox").objection
    assert given(privileged=True).objection, "under no name of the document"


def test_a_map_of_the_call_has_the_planned_blocks_under_their_names() -> None:
    kind = "aws_fis_experiment_template"
    blocks: list[Json] = [
        {"name": "stop", "action_id": "aws:ec2:stop-instances", "target": [{"key": "Instances", "value": "some"}]},
        {"name": "wait", "action_id": "aws:fis:wait"},
    ]
    planned = change(kind=kind, values={"action": blocks})

    def given(**actions: Any) -> CallMatch:
        asked = session_call(row(C, resource_type=kind), changes=(planned,), actions=actions)
        return by_rows(replace(asked, carries=True, schemas=read_schemas({kind})))

    assert given(stop={"actionId": "aws:ec2:stop-instances", "targets": {"Instances": "some"}}).uses
    assert given(wait={"actionId": "aws:fis:wait"}).uses
    assert given(wait={"actionId": "aws:ec2:stop-instances"}).objection, "the action of another block"
    assert given(other={"actionId": "aws:fis:wait"}).objection
    assert given(stop={"actionId": "aws:ec2:terminate-instances"}).objection


@pytest.mark.parametrize(
    ("values", "free", "said", "passes"),
    [
        ({"buffering_size": 5}, (), "NoEncryption", True),
        ({"buffering_size": 5}, (), "SomeEncryption", False),
        ({"extended_s3_configuration": [{"kms_key_arn": "k"}]}, (), "NoEncryption", False),
        ({"buffering_size": 5}, ("extended_s3_configuration.kms_key_arn",), "NoEncryption", False),
    ],
)
def test_without_a_key_the_provider_says_so(
    values: dict[str, Any], free: tuple[str, ...], said: str, *, passes: bool
) -> None:
    kind = "aws_kinesis_firehose_delivery_stream"
    planned = change(kind=kind, values=values, free=frozenset(free))
    asked = session_call(
        row(C, resource_type=kind), changes=(planned,), S3={"EncryptionConfiguration": {"NoEncryptionConfig": said}}
    )
    assert bool(by_rows(asked).uses) is passes
    encrypted: Json = [{"kms_key_arn": "k"}]
    kept = replace(asked, rows=(row(S, resource_type=kind, identity={"Name": source("name")}),))
    updated = change("seed", UPDATE, kind, values={"buffering_size": 6})
    kept = replace(
        kept,
        session=replace(kept.session, changes=(updated,)),
        call=replace(kept.call, parameters={"Name": "seed", **kept.call.parameters}),
    )
    state: dict[str, Json] = {"name": "seed", "extended_s3_configuration": encrypted}
    assert by_rows(called(kept, "firehose", "UpdateDestination", seed=state)).objection, "it would take the key away"


def test_the_content_of_a_planned_file_is_what_its_digest_says() -> None:
    kind, content = "aws_lambda_layer_version", b"PK"
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    rules = PlanRules(guarded=frozenset({"zip_file"}))

    def given(zip_file: bytes, free: frozenset[str] = frozenset(), **values: Any) -> CallMatch:
        planned = change(kind=kind, values={"layer_name": "seed", **values}, free=free)
        asked = session_call(row(C, resource_type=kind), changes=(planned,), rules=rules, Content={"ZipFile": zip_file})
        return by_rows(asked)

    new = frozenset({"source_code_hash"})
    assert given(content, filename="a.zip", source_code_hash=digest).uses
    assert given(b"other", filename="a.zip", source_code_hash=digest).objection
    assert given(content, new, filename="a.zip").uses
    assert given(content, new).objection, "the plan makes it of an object of a bucket"
    assert given(content, filename="a.zip").objection, "the plan has no new digest"


DEFAULT = {
    "Version": "2008-10-17",
    "Id": "__default_policy_ID",
    "Statement": [
        {
            "Sid": "__default_statement_ID",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": [
                f"SNS:{name}"
                for name in [
                    "GetTopicAttributes",
                    "SetTopicAttributes",
                    "AddPermission",
                    "RemovePermission",
                    "DeleteTopic",
                    "Subscribe",
                    "ListSubscriptionsByTopic",
                    "Publish",
                    "Receive",
                ]
            ],
            "Resource": "arn:aws:sns:us-east-1:123456789012:app",
            "Condition": {"StringEquals": {"AWS:SourceOwner": ACCOUNT}},
        }
    ],
}


@pytest.mark.parametrize(
    ("old", "new", "action", "passes"),
    [
        ("", "", DELETE, True),
        (ACCOUNT, "210987654321", DELETE, False),
        (":app", ":other", DELETE, False),
        ("SNS:Publish", "SNS:*", DELETE, False),
        ("", "", UPDATE, False),
    ],
)
def test_a_policy_is_deleted_by_the_default_one_of_this_account(
    old: str, new: str, action: PlannedAction, *, passes: bool
) -> None:
    kind = "aws_sns_topic_policy"
    planned = change("app", action, kind, values={"policy": "{}"} if action is UPDATE else {})
    value = json.dumps(DEFAULT).replace(old, new) if old else json.dumps(DEFAULT)
    effect = nouns.effect(f"{kind}.app", "policy", value, resource_type=kind)
    asked = replace(session_call(changes=(planned,)), effects=(effect,))
    state: dict[str, Json] = {"arn": "arn:aws:sns:us-east-1:123456789012:app", "policy": '{"a": "b"}'}
    assert bool(by_effects(called(asked, "sns", "SetTopicAttributes", app=state)).uses) is passes


def test_a_key_gets_its_default_policy_back_and_no_wider_one() -> None:
    kind = "aws_kms_key_policy"

    def given(principal: str) -> CallMatch:
        statement = {
            "Sid": "Enable IAM User Permissions",
            "Effect": "Allow",
            "Principal": {"AWS": principal},
            "Action": "kms:*",
            "Resource": "*",
        }
        value = json.dumps({"Version": "2012-10-17", "Id": "default", "Statement": [statement]})
        effect = nouns.effect(f"{kind}.app", "policy", value, resource_type=kind)
        asked = replace(session_call(changes=(change("app", DELETE, kind),)), effects=(effect,))
        return by_effects(called(asked, "kms", "PutKeyPolicy", app={"key_id": "k", "policy": '{"a": "b"}'}))

    assert given(f"arn:aws:iam::{ACCOUNT}:root").uses
    assert given("arn:aws:iam::210987654321:root").objection
    assert given("*").objection


def test_what_an_account_always_has_is_deleted_by_that_of_a_new_one() -> None:
    kind = "aws_ecr_registry_scanning_configuration"
    deletes = row(
        C, S, D, confidence=Confidence.ATTRIBUTES, resource_type=kind, attributes={"scanType": source("scan_type")}
    )

    def given(action: PlannedAction = DELETE, **parameters: Any) -> CallMatch:
        asked = session_call(deletes, changes=(change("app", action, kind),))
        asked = replace(asked, call=replace(asked.call, parameters=parameters))
        return by_rows(called(asked, "ecr", "PutRegistryScanningConfiguration", app={"scan_type": "ENHANCED"}))

    assert given(scanType="BASIC", rules=[]).uses
    assert given(scanType="ENHANCED", rules=[]).objection
    assert given(scanType="BASIC", rules=[{"scanFrequency": "MANUAL"}]).objection
    assert given(UPDATE, scanType="BASIC", rules=[]).objection


def test_a_recorded_arn_names_a_resource_that_others_call_by_its_name() -> None:
    kind, arn = "aws_batch_job_definition", f"arn:aws:batch:us-east-1:{ACCOUNT}:job-definition/seed:"
    deletes = row(D, origin=Origin.MODEL, resource_type=kind, identity={"jobDefinition": source("name")})

    def given(text: str, action: PlannedAction = DELETE) -> CallMatch:
        asked = session_call(deletes, changes=(change("app", action, kind),), jobDefinition=text)
        return by_rows(called(asked, "batch", "DeregisterJobDefinition", app={"name": "seed", "arn": f"{arn}1"}))

    assert given(f"{arn}1").uses
    assert given(f"{arn}2").objection, "another revision"
    assert given(f"{arn}1".replace("seed", "other")).objection
    assert given(f"{arn}1", UPDATE).objection


def test_an_id_may_end_before_a_part_that_is_optional() -> None:
    part = source("id", ValueForm.PART)
    deletes = row(D, identity={"domain": part, "path": part, "other": part}, id_form="{domain}/{path}/{other}")
    planned = (change("old", DELETE, values={"id": "api/first"}),)
    assert match(deletes, changes=planned, domain="api", path="first").uses
    assert match(deletes, changes=planned, domain="api", path="second").objection
    assert match(deletes, changes=planned, domain="api").objection
    assert match(deletes, changes=planned, domain="api", path="first", other="x").objection


def test_what_joined_two_resources_is_let_go_of_again_by_the_one_that_is_deleted() -> None:
    joint, gateway = "aws_vpn_gateway_attachment", "aws_vpn_gateway"
    effect = nouns.effect(
        f"{joint}.seed",
        "*",
        None,
        resource_type=joint,
        action=EffectAction.DELETE,
        identity={"vpn_gateway_id": "vgw-1"},
    )
    frees = row(
        S, confidence=Confidence.ATTRIBUTES, resource_type=gateway, identity={"VpnGatewayId": source("id")}, removes={"VpcId": "vpc_id"}
    )  # fmt: skip

    def again(*changes: SessionChange, vpn: str = "vgw-1") -> CallMatch:
        spent = {(f"{joint}.seed", "delete", "ec2:DetachVpnGateway"): 1}
        asked = session_call(frees, changes=changes, used=spent, VpcId="vpc-1", VpnGatewayId=vpn)
        state: dict[str, Json] = {"id": "vgw-1", "vpc_id": "vpc-1", "vpn_gateway_id": "vgw-1"}
        return match_of(replace(called(asked, "ec2", "DetachVpnGateway", seed=state), effects=(effect,)))

    gone = change("seed", DELETE, joint)
    assert [use.address for use in again(gone, change("seed", DELETE, gateway)).uses] == [f"{gateway}.seed"]
    assert again(gone).objection, "the plan keeps the gateway"
    assert again(gone, change("seed", UPDATE, gateway, values={"tags": {"a": "b"}})).objection
    assert again(gone, change("seed", DELETE, gateway), vpn="vgw-2").objection


def test_what_the_plan_keeps_is_not_taken_away() -> None:
    frees = row(S, identity={"id": source("id")}, removes={"VpcId": "vpc_id"})

    def given(**values: Any) -> CallMatch:
        asked = session_call(frees, changes=(change("app", UPDATE, values=values),), id="vgw-1", VpcId="vpc-1")
        return by_rows(called(asked, "ec2", "DetachVpnGateway", app={"id": "vgw-1", "vpc_id": "vpc-1"}))

    assert given(vpc_id="vpc-2").uses
    assert given(vpc_id=None).uses
    assert given(tags={"a": "b"}).objection


def test_the_version_that_the_session_made_becomes_the_default() -> None:
    kind = "aws_ssm_document"
    sets = row(S, resource_type=kind, identity={"Name": source("name")})

    def given(version: str, made: int = 1) -> CallMatch:
        spent = {(f"{kind}.seed", "set", "ssm:UpdateDocument"): made}
        planned = change("seed", UPDATE, kind, values={"content": "{}"})
        asked = session_call(sets, changes=(planned,), used=spent, Name="seed", DocumentVersion=version)
        asked = called(asked, "ssm", "UpdateDocumentDefaultVersion", seed={"name": "seed", "latest_version": "3"})
        return by_rows(replace(asked, carries=True))

    assert given("4").uses
    assert given("1").objection, "an old version"
    assert given("5").objection
    assert given("4", made=0).objection, "nothing was made"


@pytest.mark.parametrize(
    ("operations", "action", "passes"),
    [
        ([{"op": "remove", "path": "/apiStages", "value": "api:seed"}], DELETE, True),
        ([{"op": "remove", "path": "/apiStages", "value": "api:other"}], DELETE, False),
        ([{"op": "remove", "path": "/throttle", "value": "api:seed"}], DELETE, False),
        ([{"op": "add", "path": "/apiStages", "value": "api:seed"}], DELETE, False),
        (
            [
                {"op": "remove", "path": "/apiStages", "value": "api:seed"},
                {"op": "add", "path": "/apiStages", "value": "other:seed"},
            ],
            DELETE,
            False,
        ),
        ([{"op": "remove", "path": "/apiStages", "value": "api:seed"}], UPDATE, False),
    ],
)
def test_a_patch_takes_out_what_is_in_the_deleted_resource(
    operations: list[dict[str, str]], action: PlannedAction, *, passes: bool
) -> None:
    kind = "aws_api_gateway_usage_plan"
    sets = row(
        S, resource_type=kind, identity={"usagePlanId": source("id")}, unexplained=frozenset({"patchOperations.op"})
    )
    planned = change("seed", action, kind, values={"description": "d"} if action is UPDATE else {})
    asked = session_call(sets, changes=(planned,), usagePlanId="p1", patchOperations=operations)
    stages: Json = [{"api_id": "api", "stage": "seed", "throttle": []}]
    asked = called(asked, "apigateway", "UpdateUsagePlan", seed={"id": "p1", "api_stages": stages})
    assert bool(by_rows(replace(asked, carries=True)).uses) is passes


@pytest.mark.parametrize(
    ("publish", "values", "action", "more", "passes"),
    [
        (True, {"timeout": 5}, UPDATE, {}, True),
        (True, {"tags.team": "two"}, UPDATE, {}, False),
        (False, {"timeout": 5}, UPDATE, {}, False),
        (True, {}, DELETE, {}, False),
        (True, {"timeout": 5}, UPDATE, {"CodeSha256": "x"}, False),
    ],
)
def test_a_version_is_published_where_the_code_says_so_and_the_plan_changes_what_is_in_it(
    values: dict[str, Any], action: PlannedAction, more: dict[str, Any], *, publish: bool, passes: bool
) -> None:
    kind = "aws_lambda_function"
    planned = change("app", action, kind, values=values)
    effect = nouns.effect(f"{kind}.app", "*", None, resource_type=kind, action=EffectAction.INVOKE)
    asked = replace(session_call(changes=(planned,), FunctionName="app", **more), effects=(effect,))
    state: dict[str, Json] = {"function_name": "app", "publish": publish}
    assert bool(match_of(called(asked, "lambda", "PublishVersion", app=state)).uses) is passes
    assert match_of(called(asked, "lambda", "Invoke", app=state)).objection


def test_an_organization_is_named_by_its_root() -> None:
    kind = "aws_organizations_organization"
    sets = row(
        S, confidence=Confidence.ATTRIBUTES, resource_type=kind,
        identity={"RootId": source("id")}, attributes={"PolicyType": source("enabled_policy_types")},
    )  # fmt: skip

    def given(root: str, policy: str, operation: str = "EnablePolicyType") -> CallMatch:
        planned = change("app", UPDATE, kind, values={"enabled_policy_types": ["TAG_POLICY"]})
        asked = session_call(sets, changes=(planned,), RootId=root, PolicyType=policy)
        roots: Json = [{"id": "r-1", "name": "Root"}]
        return by_rows(called(asked, "organizations", operation, app={"id": "o-1", "roots": roots}))

    assert given("r-1", "TAG_POLICY").uses
    assert given("r-2", "TAG_POLICY").objection
    assert given("r-1", "BACKUP_POLICY").objection
    assert given("r-1", "TAG_POLICY", "MovePolicyType").objection


def test_only_a_reviewed_operation_puts_in_force_what_the_plan_changes() -> None:
    kind = "aws_ssoadmin_permission_set"
    names = row(S, resource_type=kind, identity={"PermissionSetArn": source("arn")}, constants={"TargetType": "ALL"})

    def given(
        operation: str = "ProvisionPermissionSet", action: PlannedAction = UPDATE, **parameters: Any
    ) -> CallMatch:
        planned = change("seed", action, kind, values={"description": "d"})
        asked = session_call(names, changes=(planned,), call_class=CallClass.CREDENTIAL, **parameters)
        return by_rows(called(asked, "sso-admin", operation, seed={"arn": "a:ps"}))

    assert given(PermissionSetArn="a:ps", TargetType="ALL").uses
    assert given(PermissionSetArn="a:other", TargetType="ALL").objection
    assert given(PermissionSetArn="a:ps", TargetType="ALL", TargetId="210987654321").objection
    assert given("AttachSomething", PermissionSetArn="a:ps", TargetType="ALL").objection


def test_the_planned_places_are_searched_once_for_a_long_call() -> None:
    def make(size: int) -> Callable[[], bool]:
        blocks: Json = [{"name": f"n{number}", "value": f"v{number}"} for number in range(size)]
        places = WrittenPlaces(({"parameters": blocks},))
        return lambda: all(places.has(("Parameters", f"n{number}"), f"v{number}") for number in range(size))

    assert make(3)()
    assert_linear(make, 200)


@pytest.mark.parametrize(
    ("password", "values", "passes"),
    [
        ("placeholder", {"tags.team": "two"}, True),
        ("stolen", {"tags.team": "two"}, False),
        ("placeholder", {"connection_properties.PASSWORD": "next"}, False),
    ],
)
def test_a_recorded_secret_that_the_plan_keeps_is_written_again_and_no_other(
    password: str, values: dict[str, Json], *, passes: bool
) -> None:
    kind = "aws_glue_connection"
    known = row(
        S,
        resource_type=kind,
        identity={"Name": AttributeSource(attribute="name")},
        operation="UpdateConnection",
        attributes={"ConnectionInput.Description": AttributeSource(attribute="description")},
    )
    planned = change("seed", PlannedAction.UPDATE, kind, values=values)
    given: dict[str, Any] = {
        "Name": "seed",
        "ConnectionInput": {"Description": "first", "ConnectionProperties": {"PASSWORD": password}},
    }
    asked = called(
        session_call(known, changes=(planned,), **given), "glue", "UpdateConnection",
        seed={"name": "seed", "description": "first", "connection_properties": KAFKA.state.masker.mask({"PASSWORD": "placeholder"})},
    )  # fmt: skip
    assert bool(by_rows(replace(asked, schemas=read_schemas({kind}))).uses) is passes
