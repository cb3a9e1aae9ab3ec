"""One gateway in front of one simulated AWS for all clients, with the resources that they use."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key
from tests.kit.gate import ASG, Gate
from tests.kit.moto import MotoUpstream

INCIDENT = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("A-1",))
LAUNCH = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("A-2",), text="of the session")

ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)


def _make_resources(upstream: MotoUpstream) -> None:
    s3 = upstream.client("s3")
    for bucket in ("uploads", "pages"):
        s3.create_bucket(Bucket=bucket)
    for number in range(5):
        s3.put_object(Bucket="pages", Key=str(number), Body=b"x")
    upstream.client("sqs").create_queue(QueueName="kafka-shard-0")
    upstream.client("logs").create_log_group(logGroupName="/kafka/consumer/ingest")
    upstream.client("logs").put_retention_policy(logGroupName="/kafka/consumer/ingest", retentionInDays=7)
    upstream.client("dynamodb").create_table(
        TableName="kafka-offsets",
        KeySchema=[{"AttributeName": "partition", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "partition", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    scaling = upstream.client("autoscaling")
    scaling.create_launch_configuration(LaunchConfigurationName="kafka", ImageId="ami-1", InstanceType="m6i.large")
    group: dict[str, Any] = {"AutoScalingGroupName": ASG, "LaunchConfigurationName": "kafka"}
    scaling.create_auto_scaling_group(
        **group, MinSize=2, MaxSize=16, DesiredCapacity=4, AvailabilityZones=["us-east-1a"]
    )


@pytest.fixture(scope="session")
def upstream() -> MotoUpstream:
    """The simulated AWS."""
    return MotoUpstream()


@pytest.fixture(scope="session")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: MotoUpstream) -> Iterator[Gate]:
    """The gateway."""
    with Gate(tmp_path_factory.mktemp("clients"), upstream=upstream) as running:
        _make_resources(upstream)
        yield running


@pytest.fixture
def environment(gate: Gate) -> Iterator[Mapping[str, str]]:
    """What a client is told: where the gateway is, and its keys. An agent, a session of the same agent, an application, and a
    pipeline.
    """
    day = timedelta(days=1)
    ring = gate.ring
    agent = gate.run(ring.issue(actor="agent", kind=ActorKind.AGENT, motive=INCIDENT, lasts=day))
    session = gate.run(ring.issue(actor="agent", kind=ActorKind.AGENT, motive=LAUNCH, lasts=day, session_of=agent.id))
    pipeline = gate.run(ring.issue(actor="pipeline", kind=ActorKind.PIPELINE, motive=ROUTINE, lasts=day))
    keys: dict[str, Key] = {"AGENT": agent, "SESSION": session, "APP": gate.keys["service"], "PIPELINE": pipeline}
    yield {
        "AWS_ENDPOINT_URL": gate.url,
        "AWS_EC2_METADATA_DISABLED": "true",
        **{f"{name}_KEY_ID": key.id for name, key in keys.items()},
        **{f"{name}_SECRET": key.secret for name, key in keys.items()},
    }
    gate.release_all()
