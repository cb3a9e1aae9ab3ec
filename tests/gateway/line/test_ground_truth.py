"""What Sentinel decides by is recognised in each spelling, and what only sounds like it is not."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.export_format import ExportFormatName
from gateway.core.model.mutation import Call, CallClass
from gateway.core.settings import ReconcileSettings, Settings, UpstreamSettings
from gateway.core.settings.exports import ExportSettings
from gateway.core.settings.publish import EventSourceKind, EventSourceSettings
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.line.ground_truth import Ground, GroundKind, GroundTruth, places_of
from gateway.terraform.config.backend import StatePlace
from tests.kit.growth import assert_linear

TOPIC = "arn:aws:sns:us-east-1:123456789012:alerts"
ROLE = "arn:aws:iam::123456789012:role/path/sentinel"
STATE = StatePlace(
    stack="shop",
    bucket="states",
    key="shop.tfstate",
    lock_table="locks",
    kms_key="alias/states",
    keepers=("ci",),
)
SETTINGS = Settings(
    ledger="postgresql+psycopg://sentinel@ledger.cluster-abc123.eu-west-1.rds.amazonaws.com/sentinel",
    exports=(ExportSettings(format=ExportFormatName.CSV, to="s3://audit/sentinel/"),),
    signals=(SignalSourceSettings(name="sns", form=SignalForm.SNS, topics=(TOPIC,)),),
    reconcile=ReconcileSettings(
        gateway_identity=ROLE,
        events=(
            EventSourceSettings(kind=EventSourceKind.BUCKET, bucket="trails"),
            EventSourceSettings(
                kind=EventSourceKind.QUEUE, url="https://sqs.eu-west-1.amazonaws.com/123456789012/trail"
            ),
        ),
    ),
)


@dataclass
class Stacks:
    state_places: tuple[StatePlace, ...] = (STATE,)
    recorded: Mapping[str, list[Mapping[str, Any]]] = field(
        default_factory=lambda: {
            "aws_cloudwatch_metric_alarm": [
                {"alarm_name": "lag", "alarm_actions": [TOPIC]},
                {"alarm_name": "disk", "alarm_actions": ["arn:aws:sns:us-east-1:123456789012:chat"]},
            ],
            "aws_s3_access_point": [
                {
                    "bucket": "data",
                    "arn": "arn:aws:s3:us-east-1:123456789012:accesspoint/data",
                    "alias": "data-x-s3alias",
                },
                {
                    "bucket": "states",
                    "arn": "arn:aws:s3:us-east-1:123456789012:accesspoint/in",
                    "alias": "in-x-s3alias",
                },
            ],
        }
    )

    @property
    def generation(self) -> object:
        return self

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        return iter(self.recorded.get(resource_type, []))


GROUND = GroundTruth(places_of(SETTINGS), Stacks())


def caller(kind: ActorKind, actor: str = "someone", *, roles: tuple[str, ...] = (), plan: str = "") -> Caller:
    return Caller(actor=actor, kind=kind, key_id="SNTLA", roles=roles, plan=plan)


AGENT, SERVICE, HUMAN = (caller(kind) for kind in (ActorKind.AGENT, ActorKind.SERVICE, ActorKind.HUMAN))
CI = caller(ActorKind.PIPELINE, "ci")
OTHER = caller(ActorKind.PIPELINE, "other-ci")
RECONCILER = caller(ActorKind.SERVICE, "reconciler", roles=("reconciler",))


def objection(
    who: Caller,
    name: str,
    call_class: CallClass,
    parameters: dict[str, Any],
    *,
    direct: bool = True,
    plan_stack: str = "",
) -> str:
    service, _, operation = name.partition(":")
    call = Call(service=service, operation=operation, parameters=parameters, region="us-east-1")
    return GROUND.objection(who, call, call_class, direct=direct, plan_stack=plan_stack)


MUTATIONS: list[tuple[str, dict[str, Any]]] = [
    ("s3:PutBucketReplication", {"Bucket": "mine", "ReplicationConfiguration": {"Destination": "arn:aws:s3:::states"}}),
    ("s3:PutBucketLogging", {"Bucket": "mine", "BucketLoggingStatus": {"LoggingEnabled": {"TargetBucket": "audit"}}}),
    ("athena:StartQueryExecution", {"QueryString": "CREATE TABLE t LOCATION 's3://states/'"}),
    ("athena:StartQueryExecution", {"QueryString": "CREATE TABLE t LOCATION 's3://STATES/'"}),
    ("lambda:CreateFunction", {"Code": {"S3Bucket": "states", "S3Key": "shop.tfstate"}}),
    ("lambda:CreateFunction", {"Role": ROLE}),
    ("cloudformation:CreateStack", {"TemplateURL": "https://s3.eu-west-1.amazonaws.com/states/shop.tfstate"}),
    ("cloudformation:CreateStack", {"TemplateURL": "https://states.s3.eu-west-1.amazonaws.com/shop.tfstate"}),
    ("iam:PutRolePolicy", {"PolicyDocument": '{"Resource": "arn:aws:s3:::states/*"}'}),
    ("iam:PutRolePolicy", {"PolicyDocument": '{"Resource": "arn:aws:s3:::st\\u0061tes/*"}'}),
    ("iam:UpdateAssumeRolePolicy", {"RoleName": "sentinel", "PolicyDocument": "{}"}),
    ("iam:AddRoleToInstanceProfile", {"RoleName": "sentinel", "InstanceProfileName": "x"}),
    ("kms:ScheduleKeyDeletion", {"KeyId": "alias/states"}),
    ("rds:ModifyDBCluster", {"DBClusterIdentifier": "ledger", "MasterUserPassword": "x"}),
    ("rds-data:ExecuteStatement", {"resourceArn": "arn:aws:rds:eu-west-1:123456789012:cluster:ledger", "sql": "x"}),
    ("rds:ModifyDBInstance", {"DBInstanceIdentifier": "LEDGER", "MasterUserPassword": "x"}),
    ("rds:AddTagsToResource", {"ResourceName": "arn:aws:rds:eu-west-1:123456789012:cluster:Ledger"}),
    ("rds:RestoreDBClusterToPointInTime", {"SourceDBClusterIdentifier": "Ledger"}),
    ("rds:CopyDBClusterSnapshot", {"SourceDBClusterSnapshotIdentifier": "rds:ledger-2026-11-24-01-02"}),
    (
        "rds:ModifyDBClusterSnapshotAttribute",
        {"DBClusterSnapshotIdentifier": "arn:aws:rds:x:1:cluster-snapshot:rds:ledger-2026-11-24-01-02"},
    ),
    ("cloudcontrol:UpdateResource", {"TypeName": "AWS::RDS::DBCluster", "Identifier": "ledger", "PatchDocument": "[]"}),
    ("cloudcontrol:UpdateResource", {"TypeName": "AWS::IAM::Role", "Identifier": "sentinel", "PatchDocument": "[]"}),
    ("iam:PutRolePolicy", {"RoleName": "Sentinel", "PolicyDocument": "{}"}),
    ("iam:DeleteInstanceProfile", {"InstanceProfileName": "sentinel"}),
    ("ec2:AssociateIamInstanceProfile", {"IamInstanceProfile": {"Name": "sentinel"}, "InstanceId": "i-1"}),
    ("dynamodb:UpdateTable", {"TableName": "locks"}),
    ("dynamodb:ExportTableToPointInTime", {"TableArn": "arn:aws:dynamodb:us-east-1:1:table/locks", "S3Bucket": "mine"}),
    ("sqs:StartMessageMoveTask", {"SourceArn": "arn:aws:sqs:eu-west-1:123456789012:trail"}),
    ("sqs:SetQueueAttributes", {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/trail"}),
    ("sns:SetSubscriptionAttributes", {"SubscriptionArn": f"{TOPIC}:1"}),
    ("cloudwatch:SetAlarmState", {"AlarmName": "lag", "StateValue": "ALARM"}),
    ("cloudwatch:DeleteAlarms", {"AlarmNames": ["disk", "lag"]}),
    ("cloudwatch:TagResource", {"ResourceARN": "arn:aws:cloudwatch:us-east-1:123456789012:alarm:lag"}),
]


@pytest.mark.parametrize(("name", "parameters"), MUTATIONS)
def test_an_agent_changes_nothing_that_names_it(name: str, parameters: dict[str, Any]) -> None:
    for who in (AGENT, SERVICE, RECONCILER):
        assert objection(who, name, CallClass.MUTATION, parameters), who.actor


HARMLESS: list[tuple[str, dict[str, Any]]] = [
    ("s3:PutBucketPolicy", {"Bucket": "my-states", "Policy": "{}"}),
    ("s3:PutBucketPolicy", {"Bucket": "states.example.com", "Policy": "{}"}),
    ("ec2:CreateTags", {"Tags": [{"Key": "about", "Value": "which states are there"}]}),
    ("ssm:PutParameter", {"Name": "/app/states/one", "Value": "x"}),
    ("dynamodb:UpdateTable", {"TableName": "locks-of-doors"}),
    ("ecs:UpdateService", {"service": "ledger", "cluster": "locks"}),
    ("cloudwatch:SetAlarmState", {"AlarmName": "disk", "StateValue": "ALARM"}),
    ("iam:UpdateRole", {"RoleName": "sentinel-of-others"}),
    ("sns:Subscribe", {"TopicArn": f"{TOPIC}-of-others"}),
    ("lambda:UpdateFunctionConfiguration", {"FunctionName": "lag"}),
    ("sqs:SetQueueAttributes", {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/trail-2"}),
    ("rds:ModifyDBInstance", {"DBInstanceIdentifier": "ledger-2"}),
    ("rds:DeleteDBSnapshot", {"DBSnapshotIdentifier": "rds:ledgers-2026-11-24-01-02"}),
    ("iam:CreateInstanceProfile", {"InstanceProfileName": "new"}),
    ("iam:AttachRolePolicy", {"RoleName": "app", "PolicyArn": "arn:aws:iam::123456789012:policy/app"}),
]


@pytest.mark.parametrize("written", ["1-2", "arn:aws:kms:us-east-1:123456789012:key/1-2", "alias/states"])
@pytest.mark.parametrize("named", ["1-2", "arn:aws:kms:us-east-1:123456789012:key/1-2"])
def test_the_key_of_a_state_is_known_by_each_of_its_names(written: str, named: str) -> None:
    aliases: list[Mapping[str, Any]] = [{"name": "alias/states", "target_key_id": "1-2"}]
    keys: list[Mapping[str, Any]] = [{"key_id": "1-2"}, {"key_id": "3-4"}]
    stacks = Stacks((replace(STATE, kms_key=written),), {"aws_kms_alias": aliases, "aws_kms_key": keys})
    ground = GroundTruth((), stacks)

    def said(key: str, operation: str = "PutKeyPolicy", member: str = "KeyId") -> str:
        call = Call(service="kms", operation=operation, parameters={member: key}, region="us-east-1")
        return ground.objection(HUMAN, call, CallClass.MUTATION, direct=True)

    assert said(named)
    assert said("alias/states", "DeleteAlias", "AliasName")
    assert said("3-4") == said("alias/other", "DeleteAlias", "AliasName") == ""


def test_what_is_in_the_ledgers_database_is_read_by_no_service() -> None:
    log = {"DBInstanceIdentifier": "Ledger", "LogFileName": "error/postgresql.log"}
    assert objection(SERVICE, "rds:DownloadDBLogFilePortion", CallClass.READ, log)
    assert objection(SERVICE, "rds:DescribeDBInstances", CallClass.READ, {"DBInstanceIdentifier": "ledger"}) == ""


@pytest.mark.parametrize(("name", "parameters"), HARMLESS)
def test_what_only_sounds_like_it_is_as_ever(name: str, parameters: dict[str, Any]) -> None:
    assert objection(AGENT, name, CallClass.MUTATION, parameters) == ""


def test_pipelines_and_plans_are_judged_as_ever_and_change_nothing_of_sentinels_own() -> None:
    call = ("s3:PutBucketVersioning", CallClass.MUTATION, {"Bucket": "states"})
    assert objection(CI, *call) == ""
    assert objection(caller(ActorKind.HUMAN, plan="mut_1"), *call, plan_stack="shop") == ""
    assert objection(HUMAN, *call)
    for parameters in ({"RoleName": "sentinel"}, {"Role": ROLE}):
        assert objection(CI, "iam:PutRolePolicy", CallClass.MUTATION, parameters)
    assert objection(CI, "rds:DeleteDBCluster", CallClass.MUTATION, {"DBClusterIdentifier": "ledger"})
    alarm = ("cloudwatch:PutMetricAlarm", CallClass.MUTATION, {"AlarmName": "new", "AlarmActions": [TOPIC]})
    assert objection(HUMAN, *alarm) == ""
    assert objection(AGENT, *alarm)


def test_a_state_is_kept_by_those_of_its_stack() -> None:
    read = ("s3:GetObject", CallClass.READ, {"Bucket": "states", "Key": "shop.tfstate"})
    write = ("s3:PutObject", CallClass.DATA, {"Bucket": "states", "Key": "shop.tfstate"})
    for call in (read, write):
        assert objection(CI, *call) == objection(RECONCILER, *call) == ""
        for who in (AGENT, SERVICE, HUMAN, OTHER):
            assert objection(who, *call)
        assert objection(CI, *call, direct=False)
        in_session = caller(ActorKind.PIPELINE, "ci", plan="mut_1")
        assert objection(in_session, *call, plan_stack="shop") == ""
        assert objection(in_session, *call, plan_stack="other")


def test_with_several_stacks_a_key_names_its_own() -> None:
    places = [StatePlace(stack=name, bucket="states", key=f"{name}.tfstate") for name in ("shop", "bank")]

    def said(who: Caller, *stacks: StatePlace, plan_stack: str = "") -> str:
        ground = GroundTruth((), Stacks(stacks, {}))
        call = Call(service="s3", operation="GetObject", parameters={"Bucket": "states", "Key": "shop.tfstate"})
        return ground.objection(who, call, CallClass.READ, direct=True, plan_stack=plan_stack)

    named, other = (caller(ActorKind.PIPELINE, "x", roles=(f"stack/{name}", "approver")) for name in ("shop", "bank"))
    assert said(OTHER, places[0]) == said(HUMAN, places[0]) == "", "there is no other that somebody could mean"
    assert said(other, places[0]), "a key that names stacks keeps no other's state"
    assert said(named, *places) == said(RECONCILER, *places) == ""
    assert said(caller(ActorKind.PIPELINE, "x", plan="mut_1"), *places, plan_stack="shop") == ""
    for who in (OTHER, HUMAN, other, caller(ActorKind.PIPELINE, "x", roles=("stack/", "stack"))):
        assert "stack/NAME" in said(who, *places)
    for who in (caller(ActorKind.AGENT, roles=("stack/shop",)), caller(ActorKind.SERVICE, roles=("stack/shop",))):
        assert said(who, *places)
    kept = (replace(places[0], keepers=("x",)), places[1])
    assert said(named, *kept) == said(caller(ActorKind.PIPELINE, "x"), *kept) == ""
    assert said(other, *kept)
    assert said(caller(ActorKind.PIPELINE, "y", roles=("stack/shop",)), *kept)


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("DeleteObject", {}),
        ("PutObjectTagging", {"Tagging": {}}),
        ("CopyObject", {"CopySource": "mine/x"}),
        ("UploadPartCopy", {"CopySource": "mine/x"}),
        ("PutObject", {"ACL": "public-read"}),
        ("PutObject", {"GrantRead": "uri=http://acs.amazonaws.com/groups/global/AllUsers"}),
        ("PutObject", {"WebsiteRedirectLocation": "https://example.com"}),
        ("PutObject", {"ObjectLockMode": "COMPLIANCE"}),
    ],
)
def test_even_its_keeper_writes_it_as_terraform_does(operation: str, more: dict[str, Any]) -> None:
    parameters = {"Bucket": "states", "Key": "shop.tfstate", **more}
    assert objection(CI, f"s3:{operation}", CallClass.DATA, parameters)


def test_access_points_lead_where_a_state_says() -> None:
    def read(bucket: str) -> str:
        return objection(SERVICE, "s3:GetObject", CallClass.READ, {"Bucket": bucket, "Key": "shop.tfstate"})

    assert read("data-x-s3alias") == read("arn:aws:s3:us-east-1:123456789012:accesspoint/data") == ""
    assert "An access point is no way" in read("in-x-s3alias")
    assert "An access point is no way" in read("arn:aws:s3:us-east-1:123456789012:accesspoint/in")
    assert "No state records" in read("other-x-s3alias")
    assert "No state records" in read("mfzwi23gnjvgw.mrap")
    assert "No state records" in read("arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/x")


def test_locks_are_of_their_states() -> None:
    def lock(who: Caller, name: str, operation: str = "PutItem") -> str:
        item = "Item" if operation == "PutItem" else "Key"
        given = {"TableName": "locks", item: {"LockID": {"S": name}}}
        return objection(who, f"dynamodb:{operation}", CallClass.DATA, given)

    assert lock(CI, "states/shop.tfstate") == lock(CI, "states/shop.tfstate-md5") == ""
    assert lock(OTHER, "states/shop.tfstate")
    assert lock(OTHER, "states/of-a-stack-that-nobody-guards") == ""
    assert lock(SERVICE, "states/of-a-stack-that-nobody-guards")
    assert lock(CI, "states/shop.tfstate", "UpdateItem")
    assert (
        objection(SERVICE, "dynamodb:PutItem", CallClass.DATA, {"TableName": "mine", "Item": {"name": {"S": "locks"}}})
        == ""
    )


def test_what_an_export_and_a_trail_hold_is_nobodys() -> None:
    for bucket, key in (("audit", "sentinel/1.json"), ("trails", "AWSLogs/1/x.json.gz")):
        for who in (AGENT, SERVICE, HUMAN, CI, RECONCILER):
            assert objection(who, "s3:GetObject", CallClass.READ, {"Bucket": bucket, "Key": key})
            assert objection(who, "s3:PutObject", CallClass.DATA, {"Bucket": bucket, "Key": key})
    assert objection(SERVICE, "s3:GetObject", CallClass.READ, {"Bucket": "audit", "Key": "sentinels"}) == ""


def test_a_state_whose_key_is_not_known_closes_its_bucket() -> None:
    place = StatePlace(stack="shop", bucket="states", key="")
    ground = GroundTruth((), Stacks(state_places=(place,), recorded={}))
    call = Call(service="s3", operation="GetObject", parameters={"Bucket": "states", "Key": "anything"})
    assert ground.objection(AGENT, call, CallClass.READ, direct=True)
    assert ground.objection(CI, call, CallClass.READ, direct=True) == ""


def test_nothing_is_closed_where_there_is_nothing() -> None:
    ground = GroundTruth()
    assert not ground.any
    call = Call(service="s3", operation="DeleteBucket", parameters={"Bucket": "x"})
    assert ground.objection(AGENT, call, CallClass.MUTATION, direct=True) == ""


def test_the_cost_is_linear_in_the_call() -> None:
    def make(size: int) -> Callable[[], str]:
        documents = [json.dumps({"a": "states \\ " * 50, "b": "%25" * 50}) for _ in range(size)]
        call = Call(service="ssm", operation="PutParameter", parameters={"Documents": documents})
        return lambda: GROUND.objection(AGENT, call, CallClass.MUTATION, direct=True)

    assert make(1)() == ""
    assert_linear(make, 50)


def test_each_place_of_the_settings_is_known() -> None:
    assert {each.kind for each in places_of(SETTINGS)} == {
        GroundKind.BUCKET,
        GroundKind.QUEUE,
        GroundKind.TOPIC,
        GroundKind.IDENTITY,
        GroundKind.DATABASE,
        GroundKind.SNAPSHOT,
    }
    assert places_of(Settings()) == ()
    assert Ground(kind=GroundKind.DATABASE, name="ledger", what="the database of the ledger") in places_of(SETTINGS)


def test_the_roles_that_the_gateway_assumes_are_its_own() -> None:
    role = "arn:aws:iam::111111111111:role/changes"
    settings = Settings(upstream=UpstreamSettings(assume_role=role))
    assert Ground(kind=GroundKind.IDENTITY, name=role, what="Sentinel's own identity") in places_of(settings)
