"""Every AWS operation has exactly one class, and no operation that changes state or returns secrets is a READ."""

import json
from collections import Counter
from typing import Any

import pytest

from gateway.aws.models import call_classes
from gateway.aws.models.answer_review import Answer
from gateway.aws.models.call_classes import CallClassTable, class_of_call
from gateway.aws.models.routing_index import RoutingIndex, models
from gateway.core.model.mutation import Call, CallClass


def test_every_operation_is_in_exactly_one_class(routes: RoutingIndex) -> None:
    table = json.loads(call_classes.SHIPPED.read_bytes())["services"]
    counts = Counter(
        (service, operation) for service, groups in table.items() for names in groups.values() for operation in names
    )
    known = {(service.name, name) for service in routes.services.values() for name in service.operations}
    assert counts.keys() == known
    assert set(counts.values()) == {1}
    totals = Counter(call_classes.shipped().of(*pair).value for pair in known)
    print(f"classes: {dict(totals.most_common())}")
    assert set(totals) == {call_class.value for call_class in CallClass}


READ, MUTATION, CREDENTIAL = CallClass.READ, CallClass.MUTATION, CallClass.CREDENTIAL
SECRET, EXECUTE, CRYPTO, DATA = CallClass.SECRET, CallClass.EXECUTE, CallClass.CRYPTO, CallClass.DATA

EXPECTED = {
    "sts:GetCallerIdentity": READ,
    "sts:AssumeRole": CREDENTIAL,
    "sts:AssumeRoot": CREDENTIAL,
    "sts:GetSessionToken": CREDENTIAL,
    "sts:GetFederationToken": CREDENTIAL,
    "iam:CreateAccessKey": CREDENTIAL,
    "ecr:GetAuthorizationToken": CREDENTIAL,
    "eks-auth:AssumeRoleForPodIdentity": CREDENTIAL,
    "sso:GetRoleCredentials": CREDENTIAL,
    "s3:CreateSession": CREDENTIAL,
    "gamelift:GetInstanceAccess": CREDENTIAL,
    "redshift:GetClusterCredentials": CREDENTIAL,
    "secretsmanager:GetSecretValue": SECRET,
    "ssm:GetParameter": SECRET,
    "ec2:GetPasswordData": SECRET,
    "acm:ExportCertificate": SECRET,
    "kms:Decrypt": CRYPTO,
    "kms:GenerateDataKey": CRYPTO,
    "kms:ScheduleKeyDeletion": MUTATION,
    "lambda:Invoke": EXECUTE,
    "ssm:SendCommand": EXECUTE,
    "ssm:StartSession": CREDENTIAL,
    "ecs:ExecuteCommand": CREDENTIAL,
    "sagemaker:StartSession": CREDENTIAL,
    "iotsecuretunneling:OpenTunnel": CREDENTIAL,
    "bedrock-runtime:InvokeModel": EXECUTE,
    "dynamodb:ExecuteStatement": EXECUTE,
    "rds-data:ExecuteStatement": EXECUTE,
    "sqs:ReceiveMessage": DATA,
    "stepfunctions:GetActivityTask": MUTATION,
    "cognito-identity:GetId": MUTATION,
    "ivs:StartViewerSessionRevocation": MUTATION,
    "networkflowmonitor:StartQueryWorkloadInsightsTopContributors": MUTATION,
    "iot:ConfirmTopicRuleDestination": MUTATION,
    "appfabric:BatchGetUserAccessTasks": MUTATION,
    "dynamodb:Query": READ,
    "dynamodb:TransactGetItems": READ,
    "dynamodb:TransactWriteItems": DATA,
    "s3:HeadObject": READ,
    "s3:ListObjectsV2": READ,
    "s3:SelectObjectContent": READ,
    "s3:PutObject": DATA,
    "s3:PutObjectAcl": MUTATION,
    "s3:PutObjectRetention": MUTATION,
    "s3:RestoreObject": MUTATION,
    "sqs:PurgeQueue": MUTATION,
    "sqs:StartMessageMoveTask": MUTATION,
    "ses:SendEmail": MUTATION,
    "logs:CreateLogStream": MUTATION,
    "cloudwatch:PutMetricData": DATA,
    "kinesis:PutRecord": DATA,
    "events:PutEvents": DATA,
    "logs:FilterLogEvents": READ,
    "logs:StartQuery": READ,
    "iam:SimulatePrincipalPolicy": READ,
    "cloudformation:ValidateTemplate": READ,
    "cloudformation:CreateStack": EXECUTE,
    "autoscaling:DescribeAutoScalingGroups": READ,
    "autoscaling:SetDesiredCapacity": MUTATION,
}


@pytest.mark.parametrize(("operation", "expected"), EXPECTED.items(), ids=EXPECTED.keys())
def test_well_known_operations(operation: str, expected: CallClass) -> None:
    assert call_classes.shipped().of(*operation.split(":")) is expected


@pytest.mark.parametrize("pair", [("autoscaling", "DescribeTomorrow"), ("tomorrow", "GetThing"), ("", "")])
def test_what_the_table_does_not_know_is_a_mutation(pair: tuple[str, str]) -> None:
    assert call_classes.shipped().of(*pair) is CallClass.MUTATION


WRITING_VERBS = (
    "Create",
    "Delete",
    "Put",
    "Update",
    "Modify",
    "Terminate",
    "Attach",
    "Detach",
    "Add",
    "Remove",
    "Set",
    "Reboot",
)


def test_no_operation_with_a_writing_verb_is_a_read(routes: RoutingIndex, table: CallClassTable) -> None:
    wrong = [
        f"{service.name}:{name}"
        for service in routes.services.values()
        for name in service.operations
        if name.startswith(WRITING_VERBS) and not name.startswith("Settings")
        if table.of(service.name, name) is CallClass.READ
    ]
    assert wrong == []


_OF_A_SESSION = {"tokenvalue", "streamurl"}


@pytest.mark.slow
def test_each_answer_that_opens_a_session_is_a_credential(table: CallClassTable) -> None:
    found = {
        f"{service}:{operation}": table.of(service, operation)
        for service, model in models()
        for operation, definition in model["operations"].items()
        if {name.partition(".")[2].lower() for name in Answer(service, operation, model["shapes"], definition).members}
        >= _OF_A_SESSION
    }
    assert "ssm:ResumeSession" in found
    assert {name for name, call_class in found.items() if call_class is not CREDENTIAL} == set()


SELECT, DELETE, STRANGE = ({"Statement": text} for text in ("SELECT * FROM T", "DELETE FROM T WHERE k = 1", "UNLOAD x"))


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("ExecuteStatement", SELECT, CallClass.READ),
        ("ExecuteStatement", DELETE, CallClass.DATA),
        ("ExecuteStatement", STRANGE, CallClass.EXECUTE),
        ("BatchExecuteStatement", {"Statements": [SELECT, SELECT]}, CallClass.READ),
        ("BatchExecuteStatement", {"Statements": [SELECT, DELETE]}, CallClass.DATA),
        ("BatchExecuteStatement", {"Statements": [SELECT, STRANGE]}, CallClass.EXECUTE),
        ("ExecuteTransaction", {"TransactStatements": [DELETE]}, CallClass.DATA),
        ("ExecuteTransaction", {}, CallClass.EXECUTE),
    ],
)
def test_the_strictest_statement_decides(operation: str, parameters: dict[str, Any], expected: CallClass) -> None:
    call = Call(service="dynamodb", operation=operation, parameters=parameters)
    assert class_of_call(call, CallClass.EXECUTE) is expected


def test_other_statements_are_what_their_operation_is() -> None:
    call = Call(service="rds-data", operation="ExecuteStatement", parameters=SELECT)
    assert class_of_call(call, CallClass.EXECUTE) is CallClass.EXECUTE


def test_no_other_class_is_softened() -> None:
    call = Call(service="dynamodb", operation="ExecuteStatement", parameters=SELECT)
    assert class_of_call(call, CallClass.CREDENTIAL) is CallClass.CREDENTIAL
