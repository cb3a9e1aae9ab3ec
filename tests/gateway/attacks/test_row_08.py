"""Row 8: another account's or region's resource passes as ours, because a name is all that was compared.

`us-east-1:999999999999:function:kafka-rebalancer` was judged as our function and sent. In every form that AWS accepts, an account or a
region that is not the call's own makes it another resource: it is never judged by our contracts, and an agent's call is never sent.
"""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Attack = Callable[[Gate, str], Any]
FOREIGN = "999999999999"
OURS = "123456789012"


def _function(name: str) -> Attack:
    return lambda gate, actor: gate.client("lambda", actor).update_function_configuration(
        FunctionName=name, MemorySize=512
    )


def _queue(url: str) -> Attack:
    return lambda gate, actor: gate.client("sqs", actor).set_queue_attributes(
        QueueUrl=url, Attributes={"VisibilityTimeout": "31"}
    )


def _elsewhere(gate: Gate, service: str, actor: str) -> Any:
    client = gate.client(service, actor)
    client._request_signer._region_name = "eu-west-1"
    return client


ATTACKS: dict[str, Attack] = {
    "a partial ARN of another account": _function(f"us-east-1:{FOREIGN}:function:kafka-rebalancer"),
    "a partial ARN without a region": _function(f"{FOREIGN}:function:kafka-rebalancer"),
    "a partial ARN of another region": _function(f"eu-west-1:{OURS}:function:kafka-rebalancer"),
    "a partial ARN without the word function": _function(f"eu-west-1:{OURS}:kafka-rebalancer"),
    "only a region and a name": _function("eu-west-1:kafka-rebalancer"),
    "only an account and a name": _function(f"{FOREIGN}:kafka-rebalancer"),
    "an ARN of another account": _function(f"arn:aws:lambda:us-east-1:{FOREIGN}:function:kafka-rebalancer"),
    "an ARN of another region": _function(f"arn:aws:lambda:eu-west-1:{OURS}:function:kafka-rebalancer"),
    "an ARN of another partition": _function(f"arn:aws-cn:lambda:us-east-1:{OURS}:function:kafka-rebalancer"),
    "an ARN without an account": _function("arn:aws:lambda:us-east-1::function:kafka-rebalancer"),
    "an ARN of another service": _function(f"arn:aws:sqs:us-east-1:{OURS}:function:kafka-rebalancer"),
    "a queue of another account": _queue(f"https://sqs.us-east-1.amazonaws.com/{FOREIGN}/kafka-shard-0"),
    "a queue of another region": _queue(f"https://sqs.eu-west-1.amazonaws.com/{OURS}/kafka-shard-0"),
    "a queue by a legacy host": _queue(f"https://eu-west-1.queue.amazonaws.com/{OURS}/kafka-shard-0"),
    "a queue by a dual-stack host": _queue(f"https://sqs.eu-west-1.api.aws/{OURS}/kafka-shard-0"),
    "a queue by an endpoint of a VPC": _queue(
        f"https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/{OURS}/kafka-shard-0"
    ),
    "a table of another account": lambda gate, actor: gate.client("dynamodb", actor).update_table(
        TableName=f"arn:aws:dynamodb:us-east-1:{FOREIGN}:table/kafka-offsets", DeletionProtectionEnabled=False
    ),
    "a cluster of another account": lambda gate, actor: gate.client("ecs", actor).update_service(
        cluster=f"arn:aws:ecs:us-east-1:{FOREIGN}:cluster/c", service="s", desiredCount=0
    ),
    "a service of another region": lambda gate, actor: gate.client("ecs", actor).update_service(
        service=f"arn:aws:ecs:eu-west-1:{OURS}:service/c/s", desiredCount=0
    ),
    "a key's alias of another account": lambda gate, actor: gate.client("kms", actor).disable_key(
        KeyId=f"arn:aws:kms:us-east-1:{FOREIGN}:alias/k"
    ),
    "a secret of another account": lambda gate, actor: gate.client("secretsmanager", actor).rotate_secret(
        SecretId=f"arn:aws:secretsmanager:us-east-1:{FOREIGN}:secret:s-AbCdEf"
    ),
    "a parameter of another account": lambda gate, actor: gate.client("ssm", actor).put_parameter(
        Name=f"arn:aws:ssm:us-east-1:{FOREIGN}:parameter/p", Value="x", Overwrite=True
    ),
    "an alarm of another account": lambda gate, actor: gate.client("cloudwatch", actor).tag_resource(
        ResourceARN=f"arn:aws:cloudwatch:us-east-1:{FOREIGN}:alarm:HighConsumerLagAlarm", Tags=[{"Key": "a", "Value": "b"}]
    ),
    "a log group of another region": lambda gate, actor: gate.client("logs", actor).tag_resource(
        resourceArn=f"arn:aws:logs:eu-west-1:{OURS}:log-group:/kafka/consumer/commit", tags={"a": "b"}
    ),
}  # fmt: skip


def _judged(gate: Gate) -> list[dict[str, Any]]:
    """The effects of the last record."""
    effects: Any = gate.records()[-1].body.members["effects"]
    return list(effects)


@pytest.mark.parametrize("actor", ["agent", "pipeline"])
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_what_is_in_another_account_or_region_is_never_ours(gate: Gate, attack: Attack, actor: str) -> None:
    with pytest.raises(ClientError):
        attack(gate, actor)
    assert gate.upstream.asked == []
    assert _judged(gate) == [], "the call was taken for one on a resource of ours"


REGIONAL: dict[str, Attack] = {
    "a group": lambda gate, actor: _elsewhere(gate, "autoscaling", actor).set_desired_capacity(
        AutoScalingGroupName=ASG, DesiredCapacity=5
    ),
    "an alarm": lambda gate, actor: _elsewhere(gate, "cloudwatch", actor).disable_alarm_actions(
        AlarmNames=["HighConsumerLagAlarm"]
    ),
    "a log group": lambda gate, actor: _elsewhere(gate, "logs", actor).put_retention_policy(
        logGroupName="/kafka/consumer/commit", retentionInDays=7
    ),
    "a queue that only the code declares": lambda gate, actor: _elsewhere(gate, "sqs", actor).create_queue(
        QueueName="kafka-consumer-audit"
    ),
    "a database": lambda gate, actor: _elsewhere(gate, "rds", actor).stop_db_instance(
        DBInstanceIdentifier="kafka-reports"
    ),
}


@pytest.mark.parametrize("attack", REGIONAL.values(), ids=REGIONAL.keys())
def test_the_same_name_in_another_region_is_judged_as_a_stranger(gate: Gate, attack: Attack) -> None:
    with pytest.raises(ClientError):
        attack(gate, "agent")
    assert gate.upstream.asked == []
    effects = _judged(gate)
    assert effects
    assert not [effect for effect in effects if effect["in_code"]], "it was judged as the declared resource"


OWN_FORMS = ("kafka-rebalancer", f"{OURS}:function:kafka-rebalancer", f"us-east-1:{OURS}:function:kafka-rebalancer",
             "function:kafka-rebalancer", f"arn:aws:lambda:us-east-1:{OURS}:function:kafka-rebalancer")  # fmt: skip


@pytest.mark.parametrize("name", OWN_FORMS)
def test_every_form_of_our_own_name_is_ours(gate: Gate, name: str) -> None:
    with pytest.raises(ClientError):
        _function(name)(gate, "agent")
    (effect,) = _judged(gate)
    assert effect["address"] == "aws_lambda_function.rebalancer"
