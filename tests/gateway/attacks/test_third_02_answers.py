"""Row 2 of the third audit: agents read secrets whose members have no secret's name, by siblings of refused reads, and in answers to changes.

What must hold: what an operation answers with was reviewed by operation. An agent is refused each read that hands out a secret, each sibling of
one, and each that nobody has reviewed; a session or a URL that opens one is handed out to nobody; and the answer to a change of an agent's
reaches it without the secrets in it.
"""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.aws.models.call_classes import shipped
from gateway.core.model.mutation import CallClass
from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Gate, str], Any]
ACCOUNT = "123456789012"


def _call(service: str, operation: str, **parameters: Any) -> Attack:
    # Without a motive: whatever a caller states, a secret is not read.
    return lambda gate, actor: getattr(gate.client(service, actor, motive=None), operation)(**parameters)


SECRETS: dict[str, Attack] = {
    # As listed.
    "the secret of a Cognito provider": _call("cognito-idp", "get_identity_provider_by_identifier", UserPoolId="us-east-1_a", IdpIdentifier="okta"),
    "the unlock code of a Snowball": _call("snowball", "get_job_unlock_code", JobId="JID123e4567-e89b-12d3-a456-426655440000"),
    "the manifest of a Snowball": _call("snowball", "get_job_manifest", JobId="JID123e4567-e89b-12d3-a456-426655440000"),
    "the token of a webhook": _call("amplify", "get_webhook", webhookId="w"),
    "the input of a durable execution": _call("lambda", "get_durable_execution", DurableExecutionArn=f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:f:1/durable-execution/a/b"),
    "the outputs of a product": _call("servicecatalog", "get_provisioned_product_outputs", ProvisionedProductId="pp-1"),
    # Siblings and others of the class.
    "webhooks": _call("amplify", "list_webhooks", appId="d1"),
    "the logs of a Snowball": _call("snowball", "describe_job", JobId="JID123e4567-e89b-12d3-a456-426655440000"),
    "the record of a product": _call("servicecatalog", "describe_record", Id="rec-1"),
    "the outputs of an environment": _call("proton", "list_environment_outputs", environmentName="e"),
    "the history of a durable execution": _call("lambda", "get_durable_execution_history", DurableExecutionArn=f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:f:1/durable-execution/a/b"),
    "the code of a layer by a signed URL": _call("lambda", "get_layer_version", LayerName="l", VersionNumber=1),
    "a layer of an image by a signed URL": _call("ecr", "get_download_url_for_layer", repositoryName="repo", layerDigest="sha256:" + "0" * 64),
    "logs that anyone with the URL may read": _call("elasticbeanstalk", "retrieve_environment_info", InfoType="tail", EnvironmentName="env-1"),
    "an application's configuration": _call("appconfig", "get_hosted_configuration_version", ApplicationId="abcdefg", ConfigurationProfileId="abcdefg", VersionNumber=1),
    "the values of an add-on": _call("eks", "describe_addon", clusterName="c", addonName="a"),
    "the header that a load balancer expects": _call("elbv2", "describe_rules", ListenerArn="arn"),
    "samples of sensitive data": _call("macie2", "get_sensitive_data_occurrences", findingId="f"),
    "somebody's meeting PIN": _call("chime", "get_user", AccountId="a", UserId="u"),
    "a pipeline with its passwords": _call("osis", "get_pipeline", PipelineName="pipe"),
}  # fmt: skip

SESSIONS: dict[str, Attack] = {
    # As listed.
    "an identity token of QuickSight": _call("quicksight", "get_identity_context", AwsAccountId=ACCOUNT, UserIdentifier={"UserName": "root"}),
    "a dashboard of a registered user": _call("quicksight", "generate_embed_url_for_registered_user", AwsAccountId=ACCOUNT, UserArn=f"arn:aws:quicksight:us-east-1:{ACCOUNT}:user/default/root", ExperienceConfiguration={}),
    "a dashboard of anybody": _call("quicksight", "generate_embed_url_for_anonymous_user", AwsAccountId=ACCOUNT, Namespace="default", AuthorizedResourceArns=["arn"], ExperienceConfiguration={}),
    "a dashboard of an identity": _call("quicksight", "generate_embed_url_for_registered_user_with_identity", AwsAccountId=ACCOUNT, ExperienceConfiguration={}),
    "an upload URL with its data key": _call("customer-profiles", "get_upload_job_path", DomainName="d", JobId="j"),
    "a signed sign-in URL": _call("m2", "get_signed_bluinsights_url"),
    "a live dashboard": _call("emr-serverless", "get_resource_dashboard", applicationId="a", resourceId="r", resourceType="SESSION"),
    # Siblings.
    "a live dashboard of Athena": _call("athena", "get_resource_dashboard", ResourceARN=f"arn:aws:athena:us-east-1:{ACCOUNT}:workgroup/w/session/s"),
    "a presigned notebook": _call("athena", "create_presigned_notebook_url", SessionId="s"),
    "the dashboard of a Flink application": _call("kinesisanalyticsv2", "create_application_presigned_url", ApplicationName="a", UrlType="FLINK_DASHBOARD_URL"),
    "an upload URL for logs": _call("groundstation", "get_agent_task_response_url", agentId="00000000-0000-4000-8000-000000000000", taskId="00000000-0000-4000-8000-000000000000"),
    "a virtual computer": _call("lightsail", "create_gui_session_access_details", resourceName="r"),
}  # fmt: skip


@pytest.mark.parametrize("attack", SECRETS.values(), ids=SECRETS.keys())
def test_an_agent_reads_no_secret(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError, match="agents may not read those"):
        attack(gate, "agent")
    assert gate.upstream.asked == []
    assert gate.records()[-1].stage is Stage.TURNED_AWAY


@pytest.mark.parametrize("actor", ["agent", "human", "service"])
@pytest.mark.parametrize("attack", SESSIONS.values(), ids=SESSIONS.keys())
def test_nobody_gets_a_session_past_the_gateway(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError, match="credentials or a URL that opens a session"):
        attack(gate, actor)
    assert gate.upstream.asked == []


CLIENT = json.dumps(
    {"UserPoolClient": {"UserPoolId": "us-east-1_a", "ClientId": "c", "ClientSecret": "swordfish-third-02"}}
)
FUNCTION = json.dumps({"FunctionName": "kafka-rebalancer", "Timeout": 3, "Environment": {"Variables": {"PASSWORD": "swordfish-third-02"}}})  # fmt: skip


def _answering(gate: Gate) -> Gate:
    gate.upstream.results = {
        "CreateUserPoolClient": CLIENT,
        "PUT /2015-03-31/functions/kafka-rebalancer/configuration": FUNCTION,
    }
    return gate


def test_an_agents_change_is_answered_without_what_aws_or_others_keep_secret(observing: Gate) -> None:
    gate = _answering(observing)
    made = gate.client("cognito-idp").create_user_pool_client(UserPoolId="us-east-1_a", ClientName="c")
    assert made["UserPoolClient"] == {"UserPoolId": "us-east-1_a", "ClientId": "c"}
    assert made["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-withheld"] == "ClientSecret"
    changed = gate.client("lambda").update_function_configuration(FunctionName="kafka-rebalancer", Timeout=3)
    assert (changed["Timeout"], changed["Environment"]) == (3, {})


def test_a_person_gets_the_whole_answer(observing: Gate) -> None:
    gate = _answering(observing)
    made = gate.client("cognito-idp", "human").create_user_pool_client(UserPoolId="us-east-1_a", ClientName="c")
    assert made["UserPoolClient"]["ClientSecret"] == "swordfish-third-02"


def test_the_api_tells_an_agent_no_more(observing: Gate) -> None:
    gate = _answering(observing)
    body = {
        "service": "cognito-idp", "operation": "CreateUserPoolClient", "parameters": {"UserPoolId": "us-east-1_a", "ClientName": "c"},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }  # fmt: skip
    answer = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer())
    assert answer.status_code == 200
    assert answer.json()["response"]["UserPoolClient"] == {"UserPoolId": "us-east-1_a", "ClientId": "c"}
    assert answer.json()["withheld"] == ["ClientSecret"]
    assert "swordfish-third-02" not in answer.text


ALSO = [
    "config:GetResourceEvaluationSummary", "datazone:GetNotebook", "devops-agent:ListWebhooks", "dms:DescribeCertificates", "eks:DescribeUpdate",
    "gamelift:ListContainerGroupDefinitions", "iot-jobs-data:DescribeJobExecution", "kafkaconnect:DescribeConnectorOperation",
    "lex-models:GetBotChannelAssociations", "mediaconvert:SearchJobs", "medialive:ListChannels", "sagemaker:DescribeOptimizationJob",
    "securityagent:ListActorMessages", "securityhub:GetFindingsV2", "sesv2:GetExportJob", "snowball:GetSoftwareUpdates", "ssm:GetPatchBaseline", "transcribe:GetVocabularyFilter",
    "waf:GetSampledRequests", "wafv2:GetSampledRequests", "wafv2:GetWebACL", "wisdom:GetContent", "workdocs:SearchResources",
]  # fmt: skip


@pytest.mark.parametrize("name", ALSO)
def test_others_of_the_class_are_refused_too(name: str) -> None:
    assert shipped().of(*name.split(":")) is CallClass.SECRET


EVERYDAY = [
    "autoscaling:DescribeAutoScalingGroups", "cloudformation:ListStacks", "cloudwatch:DescribeAlarms", "dynamodb:DescribeTable", "ec2:DescribeInstances",
    "ec2:DescribeSecurityGroups", "ec2:DescribeVpcs", "ecs:DescribeClusters", "ecs:DescribeServices", "eks:DescribeCluster", "elbv2:DescribeListeners",
    "elbv2:DescribeLoadBalancers", "elbv2:DescribeTargetHealth", "events:ListRules", "iam:GetRole", "iam:ListRoles", "kms:DescribeKey", "lambda:GetPolicy",
    "logs:DescribeLogGroups", "logs:GetLogEvents", "rds:DescribeDBInstances", "route53:ListResourceRecordSets", "s3:GetObject", "s3:ListObjectsV2",
    "sns:ListTopics", "sqs:GetQueueAttributes", "ssm:DescribeParameters", "sts:GetCallerIdentity",
]  # fmt: skip


@pytest.mark.parametrize("name", EVERYDAY)
def test_agents_still_read_what_they_work_with(name: str) -> None:
    assert shipped().of(*name.split(":")) is CallClass.READ
