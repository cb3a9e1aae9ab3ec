"""Terraform sees the same verdicts as the SDKs. It has no call that sends a message, and pages through lists by itself."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.gate import Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.terraform]

CODE = Path(__file__).parent / "terraform"
FIFTY = 50 << 20
ROLES = ("AGENT", "SESSION", "APP", "PIPELINE")


@dataclass(frozen=True)
class Terraform:
    """A working directory with the code."""

    directory: Path
    environment: Mapping[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run terraform."""
        return subprocess.run(
            ["terraform", *arguments],
            cwd=self.directory,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def apply(self, *targets: str, **variables: object) -> str:
        """Apply what these targets need: nothing if that succeeds, and otherwise what Terraform says, in one line."""
        named = [f"-target={target}" for target in targets]
        given = [f"-var={name}={value}" for name, value in variables.items()]
        done = self.run("apply", "-auto-approve", "-no-color", "-input=false", *named, *given)
        # Terraform breaks its messages into lines.
        return " ".join(done.stderr.replace("│", " ").split()) if done.returncode else ""

    def output(self, name: str) -> Any:
        """The value of an output."""
        return json.loads(self.run("output", "-json", name).stdout)


@pytest.fixture
def terraform(environment: Mapping[str, str], tmp_path: Path) -> Terraform:
    """The code, initialised."""
    directory = tmp_path / "root"
    shutil.copytree(CODE, directory)
    (tmp_path / "50MB").write_bytes(b"x" * FIFTY)
    keys = {
        role.lower(): {"id": environment[f"{role}_KEY_ID"], "secret": environment[f"{role}_SECRET"]} for role in ROLES
    }
    base = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "GOGC": os.environ["GOGC"],
        "AWS_ENDPOINT_URL": environment["AWS_ENDPOINT_URL"],
        "AWS_EC2_METADATA_DISABLED": "true",
        "TF_VAR_keys": json.dumps(keys),
        "TF_VAR_file": str(tmp_path / "50MB"),
    }
    (tmp_path / "work").mkdir()
    made = Terraform(directory, terraform_environment(mirror=None, workdir=tmp_path / "work", base=base))
    done = made.run("init", "-no-color", "-input=false")
    assert done.returncode == 0, done.stderr
    return made


def _retention(upstream: MotoUpstream) -> int:
    (group,) = upstream.client("logs").describe_log_groups(logGroupNamePrefix="/kafka/consumer/ingest")["logGroups"]
    return int(group["retentionInDays"])


@pytest.mark.long
def test_terraform_sees_the_same_verdicts(terraform: Terraform, upstream: MotoUpstream, gate: Gate) -> None:
    # In one command whatever passes: each starts a provider for each of the keys.
    passing = [
        "data.aws_sqs_queue.read",
        "output.queue",
        "aws_s3_object.upload",
        "aws_dynamodb_table_item.item",
        "data.aws_s3_objects.pages",
        "output.pages",
        "aws_s3_bucket.waiter",
        "aws_cloudwatch_log_group.agent",
    ]
    assert terraform.apply(*passing, retention=30) == ""
    # It writes what it reads into its state and into other resources, so it sees AWS's own URL.
    assert terraform.output("queue") == f"{upstream.url}/123456789012/kafka-shard-0"
    assert _retention(upstream) == 30
    stored = upstream.client("s3").head_object(Bucket="uploads", Key="terraform")
    assert stored["ContentLength"] == FIFTY
    assert terraform.output("pages") == 5
    said = terraform.apply("aws_cloudwatch_log_group.agent", "aws_autoscaling_notification.held", retention=3653)
    assert (said.count("Sentinel refused"), said.count("Sentinel holds")) == (1, 1), said
    assert terraform.apply("aws_cloudwatch_log_group.session") == ""
    assert _retention(upstream) == 60
    decided: list[Any] = [record.body.members for record in gate.records() if record.stage == "decided"]
    verdicts = [body["decision"]["verdict"] for body in decided if body["call"]["service"] in ("logs", "autoscaling")]
    assert verdicts[-4] == verdicts[-1] == "allow"
    assert sorted(verdicts[-3:-1]) == ["deny", "hold"], "of one command, in any order"
