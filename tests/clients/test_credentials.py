"""AWS CLI, its profiles and Terraform get their keys from the gateway as from AWS: `assume-role --tags`, `role_arn`, `credential_process`, `assume_role`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.records.record import Stage
from gateway.core.settings.roles import RoleSettings
from gateway.terraform.provider_mirror import terraform_environment
from tests.clients import install
from tests.clients.test_clients import skip_unless_in_ci
from tests.kit.gate import ASG, Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

ARN = "arn:aws:iam::123456789012:role/"
ROLES = (
    RoleSettings(name="scaler", kind=ActorKind.AGENT, trusts=("agent", "human")),
    RoleSettings(name="deployer", trusts=("pipeline",)),
)
Aws = Callable[..., subprocess.CompletedProcess[str]]
PROFILES = """\
[profile base]
region = us-east-1
endpoint_url = {url}
aws_access_key_id = {key}
aws_secret_access_key = {secret}

[profile scaler]
region = us-east-1
endpoint_url = {url}
role_arn = {arn}scaler
source_profile = base
role_session_name = laptop

[profile fetched]
region = us-east-1
endpoint_url = {url}
credential_process = {sentinel} credentials --role scaler --intent cost --motivation budget --evidence TICKET-9
"""


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    upstream = MotoUpstream()
    directory = tmp_path_factory.mktemp("credentials")
    with Gate(directory, upstream=upstream, roles=ROLES, account="123456789012") as running:
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


@pytest.fixture(scope="module")
def aws_command() -> str:
    try:
        return str(install.installed(install.cli2()) / "aws")
    except install.NotInstalled as missing:
        skip_unless_in_ci(missing, os.environ)


@pytest.fixture
def aws(gate: Gate, aws_command: str, tmp_path: Path) -> Aws:
    """Run the AWS CLI with the profiles of a user."""
    key = gate.keys["agent"]
    here = Path(sys.executable).parent
    text = PROFILES.format(url=gate.url, key=key.id, secret=key.secret, arn=ARN, sentinel=here / "sentinel")
    (tmp_path / "config").write_text(text)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "SENTINEL_URL": gate.url,
        "SENTINEL_TOKEN": f"{key.id}.{key.secret}",
    }

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [aws_command, *arguments, "--output", "json"],
            env=environment | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    return run


def _shown(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _last(gate: Gate) -> Any:
    return gate.records(stage=Stage.DECIDED)[-1]


def test_the_cli_declares_the_motive_in_tags(gate: Gate, aws: Aws) -> None:
    assumed = _shown(
        aws(
            *(
                "--profile",
                "base",
                "sts",
                "assume-role",
                "--role-arn",
                f"{ARN}scaler",
                "--role-session-name",
                "by-hand",
            ),
            "--tags",
            "Key=sentinel:intent,Value=availability",
            "Key=sentinel:motivation,Value=incident",
            "Key=sentinel:evidence,Value=ALERT-1207",
        )
    )
    credentials = assumed["Credentials"]
    keys = {
        "AWS_ACCESS_KEY_ID": credentials["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": credentials["SecretAccessKey"],
        "AWS_SESSION_TOKEN": credentials["SessionToken"],
        "AWS_ENDPOINT_URL": gate.url,
        "AWS_REGION": "us-east-1",
    }
    done = aws(
        *("autoscaling", "set-desired-capacity", "--auto-scaling-group-name", ASG, "--desired-capacity", "5"), **keys
    )
    assert done.returncode == 0, done.stderr
    record = _last(gate)
    motive = record.body.motive
    assert (record.actor, motive.intent, motive.motivation, motive.evidence) == (
        "agent",
        "availability",
        "incident",
        ("ALERT-1207",),
    )


def test_a_profile_with_a_role(aws: Aws) -> None:
    identity = _shown(aws("--profile", "scaler", "sts", "get-caller-identity"))
    assert identity["Arn"] == "arn:aws:sts::123456789012:assumed-role/scaler/laptop"


def test_a_profile_that_fetches_its_keys(gate: Gate, aws: Aws) -> None:
    identity = _shown(aws("--profile", "fetched", "sts", "get-caller-identity"))
    assert identity["Arn"].endswith(":assumed-role/scaler/sentinel")
    done = aws(
        *("--profile", "fetched", "autoscaling", "set-desired-capacity", "--auto-scaling-group-name", ASG),
        *("--desired-capacity", "99"),
    )
    assert done.returncode != 0
    assert "Sentinel refused" in done.stderr
    assert _last(gate).body.motive.evidence == ("TICKET-9",)


def test_a_key_that_is_asked_for_is_not_made(aws: Aws) -> None:
    done = aws("--profile", "scaler", "iam", "create-access-key")
    assert done.returncode != 0
    assert "AccessDenied" in done.stderr


CODE = """\
terraform {{
  required_providers {{
    aws = {{
      source = "hashicorp/aws"
    }}
  }}
}}

provider "aws" {{
  region     = "us-east-1"
  access_key = "{key}"
  secret_key = "{secret}"
  assume_role {{
    role_arn     = "{arn}deployer"
    session_name = "terraform"
    tags = {{
      "sentinel:intent"     = "consistency"
      "sentinel:motivation" = "routine"
    }}
  }}
}}

data "aws_caller_identity" "me" {{}}

output "arn" {{
  value = data.aws_caller_identity.me.arn
}}
"""


@pytest.mark.terraform
def test_terraform_assumes_a_role(gate: Gate, tmp_path: Path, slim_terraform: Path) -> None:
    root, work = tmp_path / "root", tmp_path / "work"
    root.mkdir()
    work.mkdir()
    key = gate.keys["pipeline"]
    (root / "main.tf").write_text(CODE.format(key=key.id, secret=key.secret, arn=ARN))
    base = {name: os.environ[name] for name in ("PATH", "HOME", "GOGC") if name in os.environ}
    environment: Mapping[str, str] = terraform_environment(
        mirror=None,
        workdir=work,
        base={
            **base,
            "AWS_ENDPOINT_URL": gate.url,
            "AWS_EC2_METADATA_DISABLED": "true",
            "TF_CLI_CONFIG_FILE": str(slim_terraform),
        },
    )
    for arguments in (("init",), ("apply", "-auto-approve")):
        done = subprocess.run(
            ["terraform", *arguments, "-no-color", "-input=false"],
            cwd=root,
            env=dict(environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "assumed-role/deployer/terraform" in done.stdout
    issued: list[Any] = [record.body for record in gate.records(stage=Stage.KEY_ISSUED)]
    motive = next(each.motive for each in reversed(issued) if each.assumed is not None)
    assert (motive.intent, motive.motivation) == ("consistency", "routine")
