"""A revert goes through a real gateway as an ordinary mutation of the reconciler's own actor, with real Terraform: claims stop it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.drift_book import DriftAction, ForeignDrift
from gateway.core.records.record import Record, Stage
from gateway.terraform.provider_mirror import terraform_environment
from reconciler.drift.healing import Healer
from reconciler.terraform.cli import Terraform
from tests.kit.gate import Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.enable_socket, pytest.mark.terraform, pytest.mark.slow]
TOPIC = "aws_sns_topic.orders"
CODE = """
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

provider "aws" {
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
}

resource "aws_sns_topic" "orders" {
  name         = "orders"
  display_name = "Orders"
}
"""


@pytest.fixture
def moto_gate(tmp_path: Path, slim_environment: None) -> Iterator[Gate]:
    """A gateway in front of moto, whose stack has one topic, applied past it."""
    gate = Gate(tmp_path / "gate", upstream=MotoUpstream())
    shutil.rmtree(gate.stack)
    gate.stack.mkdir()
    (gate.stack / "main.tf").write_text(CODE)
    with gate:
        assert isinstance(gate.upstream, MotoUpstream)
        for argv in (["init"], ["apply", "-auto-approve"]):
            _run(gate, _environment(gate, gate.upstream.url, "test", "test"), *argv)
        yield gate


def _environment(gate: Gate, endpoint: str, key_id: str, secret: str) -> dict[str, str]:
    base = {name: os.environ[name] for name in ("PATH", "HOME", "GOGC") if name in os.environ}
    base |= {"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": endpoint}
    base |= {"TF_CLI_CONFIG_FILE": os.environ["TF_CLI_CONFIG_FILE"]}
    return terraform_environment(mirror=None, workdir=gate.directory, base=base)


def _run(gate: Gate, environment: dict[str, str], *argv: str) -> None:
    done = subprocess.run(["terraform", *argv, "-no-color"], cwd=gate.stack, env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def _healer(gate: Gate, tmp_path: Path) -> Healer:
    key = gate.keys["service"]
    terraform = Terraform(environment=_environment(gate, gate.url, key.id, key.secret), workdir=tmp_path, shared_data=gate.stack / ".terraform")  # fmt: skip

    async def root() -> Path:
        return gate.stack

    state = gate.stack / "terraform.tfstate"
    return Healer(terraform=terraform, state=state, open_root=root, directory=tmp_path / "healing")


def _drift(drift_id: str) -> ForeignDrift:
    return ForeignDrift(id=drift_id, at=datetime.now(UTC), stack="kafka", address=TOPIC, attribute="display_name", resource_type="aws_sns_topic", live="Hacked", declared="Orders", action=DriftAction.REVERT, decision=1)  # fmt: skip


def _topic(client: Any) -> str:
    # Moto's state is that of this process, so other tests may have left topics of theirs.
    every = [str(topic["TopicArn"]) for topic in client.list_topics()["Topics"]]
    return next(topic for topic in every if topic.endswith(":orders"))


def _name(gate: Gate) -> str:
    assert isinstance(gate.upstream, MotoUpstream)
    sns = gate.upstream.client("sns")
    return str(sns.get_topic_attributes(TopicArn=_topic(sns))["Attributes"]["DisplayName"])


def _rename(client: Any, name: str) -> None:
    client.set_topic_attributes(TopicArn=_topic(client), AttributeName="DisplayName", AttributeValue=name)


def _decisions(gate: Gate, actor: str) -> list[Record]:
    return [
        record
        for record in gate.records(stage=Stage.DECIDED, actor=actor)
        if record.body.members["call"]["operation"] == "SetTopicAttributes"
    ]


async def test_it_is_an_ordinary_mutation_and_claims_stop_it(moto_gate: Gate, tmp_path: Path) -> None:
    gate = moto_gate
    assert isinstance(gate.upstream, MotoUpstream)
    _rename(gate.upstream.client("sns"), "Hacked")
    body = await _healer(gate, tmp_path).heal(_drift("fgn_1"))
    assert body.members["outcome"] == "reverted", body
    assert _name(gate) == "Orders"
    [decided] = _decisions(gate, "service")
    [settled] = gate.records(stage=Stage.SETTLED, mutation_id=decided.mutation_id)
    assert settled.body.members["outcome"] == "applied"

    _rename(gate.client("sns", "human", motive=("availability", "incident; evidence=A-1")), "Incident")
    body = await _healer(gate, tmp_path).heal(_drift("fgn_2"))
    assert body.members["outcome"] == "failed"
    assert "terraform apply failed" in str(body.members["reason"])
    assert _name(gate) == "Incident", "the holder of the claim keeps the value"
    assert _decisions(gate, "service")[-1].body.members["decision"]["verdict"] == "deny"
