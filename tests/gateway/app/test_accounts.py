"""One gateway in front of several accounts of a simulated AWS, and a session of its own for each change."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sts.models import sts_backends
from pydantic import ValidationError

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings import Settings, StackSettings, UpstreamSettings
from gateway.core.settings.roles import RoleSettings
from tests.kit.gate import ASG, Gate
from tests.kit.moto import MotoUpstream

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

OWN, OTHER, THIRD = DEFAULT_ACCOUNT_ID, "222222222222", "333333333333"
ROLES = tuple(
    RoleSettings(name=f"deploy-{account[0]}", arn=f"arn:aws:iam::{account}:role/deploy", trusts=("*",))
    for account in (OTHER, THIRD)
)


def _stack(directory: Path, account: str) -> StackSettings:
    path = directory / f"stack-{account}"
    path.mkdir()
    (path / "main.tf").write_text('resource "aws_sqs_queue" "jobs" {\n  name = "jobs"\n}\n')
    return StackSettings(
        name=f"jobs-{account[0]}",
        path=path,
        account=account,
        assume_role=f"arn:aws:iam::{account}:role/sentinel",
        external_id="x-1",
    )


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    directory = tmp_path_factory.mktemp("accounts")
    stacks = tuple(_stack(directory, account) for account in (OTHER, THIRD))
    upstream = MotoUpstream()
    with Gate(
        directory,
        upstream=upstream,
        roles=ROLES,
        account=OWN,
        more_stacks=stacks,
        assume_role=f"arn:aws:iam::{OWN}:role/changes",
        session_per_mutation=True,
    ) as running:
        scaling = upstream.client("autoscaling")
        scaling.create_launch_configuration(LaunchConfigurationName="kafka", ImageId="ami-1", InstanceType="m6i.large")
        scaling.create_auto_scaling_group(
            AutoScalingGroupName=ASG,
            LaunchConfigurationName="kafka",
            MinSize=2,
            MaxSize=16,
            DesiredCapacity=4,
            AvailabilityZones=["us-east-1a"],
        )
        yield running


def _client(gate: Gate, service: str, credentials: dict[str, Any]) -> Any:
    return boto3.client(
        service,
        endpoint_url=gate.url,
        region_name="us-east-1",
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
        config=Config(retries={"total_max_attempts": 1}),
    )


def _in(gate: Gate, account: str) -> dict[str, Any]:
    tags = [{"Key": "sentinel:intent", "Value": "cost"}, {"Key": "sentinel:motivation", "Value": "budget"}]
    sts = gate.client("sts", "human", motive=None)
    found = sts.assume_role(RoleArn=f"arn:aws:iam::{account}:role/deploy", RoleSessionName="across", Tags=tags)
    credentials: dict[str, Any] = found["Credentials"]
    return credentials


def _sessions(account: str) -> list[Any]:
    return list(sts_backends[account]["global"].assumed_roles)


def test_a_role_leads_into_its_account(gate: Gate) -> None:
    """The same call with three keys reaches three accounts, each in a session that is for that call."""
    names = {}
    for account in (OTHER, THIRD):
        credentials = _in(gate, account)
        assert _client(gate, "sts", credentials).get_caller_identity()["Account"] == account
        sqs = _client(gate, "sqs", credentials)
        names[account] = sqs.create_queue(QueueName=f"made-{account[0]}")["QueueUrl"]
        record: Any = gate.records(stage=Stage.DECIDED)[-1]
        assert record.body.call.account == account
        scope = next(each for each in record.body.decision.findings if each.rule == "session.scope")
        assert scope.reason.startswith("The session was for sqs:CreateQueue on any resource")
        listed = sqs.list_queues().get("QueueUrls", [])
        assert [url.rpartition("/")[2] for url in listed] == [f"made-{account[0]}"]
        session = next(each for each in _sessions(account) if each.session_name == record.mutation_id)
        policy = json.loads(session.policy)
        assert policy["Statement"][0]["Action"] == "sqs:CreateQueue"
    own = gate.client("sqs", "human", motive=None).list_queues().get("QueueUrls", [])
    assert not [url for url in own if "made-" in url]


def test_a_change_of_the_own_account_has_a_session_for_its_resource(gate: Gate) -> None:
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=5)
    record: Any = gate.records(stage=Stage.DECIDED)[-1]
    session = next(each for each in _sessions(OWN) if each.session_name == record.mutation_id)
    statement = json.loads(session.policy)["Statement"]
    assert [each["Action"] for each in statement] == ["autoscaling:SetDesiredCapacity"]
    assert statement[0]["Resource"].endswith(f":autoScalingGroupName/{ASG}"), statement
    assert session.role_arn.endswith(":role/changes")


def test_a_session_that_aws_refuses_sends_nothing(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.sts.exceptions import STSValidationError  # noqa: PLC0415
    from moto.sts.models import STSBackend  # noqa: PLC0415

    def refuse(*_: Any, **__: Any) -> None:
        message = "PackedPolicyTooLarge: not today"
        raise STSValidationError(message)

    before = gate.upstream.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"][0]  # type: ignore[attr-defined]  # moto's
    monkeypatch.setattr(STSBackend, "assume_role", refuse)
    with pytest.raises(ClientError) as caught:
        gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=7)
    assert caught.value.response["Error"]["Code"] == "AccessDenied"
    assert "AWS gave no session" in caught.value.response["Error"]["Message"]
    after = gate.upstream.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"][0]  # type: ignore[attr-defined]  # moto's
    assert after["DesiredCapacity"] == before["DesiredCapacity"]
    record: Any = gate.records(stage=Stage.DECIDED)[-1]
    assert record.body.decision.verdict == "deny"
    denial = next(each for each in record.body.decision.findings if each.rule == "never.unsendable")
    assert "so nothing was sent" in denial.reason
    assert not [each for each in gate.records(stage=Stage.SETTLED) if each.mutation_id == record.mutation_id]


ROLE = f"arn:aws:iam::{OTHER}:role/sentinel"
MISTAKES: dict[str, dict[str, Any]] = {
    "a session without a role": {"upstream": UpstreamSettings(session_per_mutation=True)},
    "the role of another account": {"account": OWN, "upstream": UpstreamSettings(assume_role=ROLE)},
    "no own account": {"stacks": ({"account": OTHER, "assume_role": ROLE},)},
    "the own account": {"account": OTHER, "stacks": ({"account": OTHER, "assume_role": ROLE},)},
    "no account": {"account": OWN, "stacks": ({"assume_role": ROLE},)},
    "another account than the role's": {"account": OWN, "stacks": ({"account": THIRD, "assume_role": ROLE},)},
    "an external id for nothing": {"account": OWN, "stacks": ({"external_id": "x"},)},
    "two roles of an account": {
        "account": OWN,
        "stacks": (
            {"account": OTHER, "assume_role": ROLE},
            {"name": "b", "account": OTHER, "assume_role": f"{ROLE}-2"},
        ),
    },
}


@pytest.mark.parametrize("case", MISTAKES)
def test_settings_that_could_reach_another_account_are_refused(case: str, tmp_path: Path) -> None:
    given = MISTAKES[case]
    stacks = tuple(StackSettings(**{"name": "a", "path": tmp_path, **stack}) for stack in given.get("stacks", ()))
    with pytest.raises(ValidationError):
        Settings(**{**given, "stacks": stacks})


def test_a_role_of_an_account_needs_a_way_there() -> None:
    with pytest.raises(ValidationError, match="no credentials"):
        Settings(account=OWN, roles=(RoleSettings(name="r", kind=ActorKind.AGENT, account=OTHER),))
