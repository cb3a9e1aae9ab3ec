"""An agent reads what Sentinel's own lists call attributes that people put secrets into: parameters of stacks, targets of rules, stage variables.

What must hold: agents are refused every read that returns such a member, and a new one until it is reviewed.
"""

import pytest
from botocore.exceptions import ClientError

from gateway.aws.models.call_classes import shipped
from gateway.core.model.mutation import CallClass
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

READS = [
    "events:ListTargetsByRule", "codepipeline:GetPipeline", "cloudformation:DescribeStacks", "dms:DescribeEndpoints", "glue:GetTrigger",
    "apigateway:GetStage", "apigatewayv2:GetStage", "kinesisanalyticsv2:DescribeApplication", "emr:DescribeCluster", "emr:DescribeStep",
    "datapipeline:GetPipelineDefinition", "ssm:GetAutomationExecution", "ssm:GetCommandInvocation", "ssm:ListCommandInvocations",
    "scheduler:GetSchedule", "stepfunctions:DescribeExecution",
    # Neighbours.
    "apigateway:GetStages", "cloudformation:DescribeStackEvents", "cloudformation:DescribeStackSet", "cloudformation:ListExports",
    "codepipeline:ListActionExecutions", "datapipeline:DescribeObjects", "emr:ListSteps", "emr:ListBootstrapActions", "glue:BatchGetTriggers",
    "glue:GetWorkflowRunProperties", "rds:DescribeOptionGroups", "redshift-data:DescribeStatement", "ssm:DescribeAutomationStepExecutions",
    "stepfunctions:GetExecutionHistory", "swf:GetWorkflowExecutionHistory",
]  # fmt: skip
EVERYDAY = [
    "cloudformation:ListStacks", "cloudformation:DescribeStackResources", "events:ListRules", "events:DescribeRule", "ssm:DescribeParameters",
    "ssm:DescribeDocument", "stepfunctions:ListExecutions", "emr:ListClusters", "glue:GetTables", "rds:DescribeDBInstances",
    "apigateway:GetRestApis", "autoscaling:DescribeAutoScalingGroups", "codepipeline:GetPipelineState",
]  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_agents_do_not_read_it(name: str) -> None:
    assert shipped().of(*name.split(":")) is CallClass.SECRET


@pytest.mark.parametrize("name", EVERYDAY)
def test_agents_still_read_what_they_work_with(name: str) -> None:
    assert shipped().of(*name.split(":")) is CallClass.READ


def test_an_agent_is_refused_and_nothing_is_sent(gate: Gate) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="secret"):
        gate.client("cloudformation").describe_stacks(StackName="app")
    assert not gate.upstream.asked
