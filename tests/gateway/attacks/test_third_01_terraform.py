"""Third audit, 1, with Terraform itself: its backend `s3` works through the gateway for the stack's own pipeline, and for nobody else."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.records.record import Stage
from gateway.core.settings import StackSettings
from tests.gateway.attacks.test_third_01_ground_truth import BUCKET, World
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
KEY = "plain/terraform.tfstate"
CODE = f"""
terraform {{
  backend "s3" {{
    bucket                      = "{BUCKET}"
    key                         = "{KEY}"
    region                      = "us-east-1"
    use_lockfile                = true
    dynamodb_table              = "acme-locks"
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
  }}
}}
variable "size" {{
  type = string
}}
resource "terraform_data" "one" {{
  input = var.size
}}
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    directory = tmp_path_factory.mktemp("guarded")
    code = directory / "plain"
    code.mkdir()
    (code / "main.tf").write_text(CODE)
    stack = StackSettings(name="plain", path=code, state_keepers=("pipeline",))
    with Gate(directory, upstream=World(), more_stacks=(stack,)) as gate:
        yield gate


def terraform(gate: Gate, actor: str, directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Terraform in a checkout of its own, with the key of an actor."""
    directory.mkdir(exist_ok=True)
    shutil.copy(gate.directory / "plain" / "main.tf", directory)
    key = gate.keys[actor]
    given = {
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_ENDPOINT_URL_S3": gate.url,
        "AWS_ENDPOINT_URL_DYNAMODB": gate.url,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
        "CHECKPOINT_DISABLE": "1",
        "TF_IN_AUTOMATION": "1",
    }
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | given
    return subprocess.run(
        ["terraform", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def stored(gate: Gate) -> dict[str, Any]:
    upstream = gate.upstream
    assert isinstance(upstream, World)
    content: dict[str, Any] = json.loads(upstream.client("s3").get_object(Bucket=BUCKET, Key=KEY)["Body"].read())
    return content


def test_terraform_keeps_its_state_through_the_gateway(guarded: Gate, tmp_path: Path) -> None:
    def run(*arguments: str) -> None:
        done = terraform(guarded, "pipeline", tmp_path / "pipeline", *arguments)
        assert done.returncode == 0, done.stderr

    run("init", "-input=false", "-no-color")
    serials = []
    for size in ("small", "large"):
        run("apply", "-auto-approve", "-input=false", "-no-color", f"-var=size={size}")
        serials.append(stored(guarded)["serial"])
    assert serials[0] < serials[1]
    written = [str(each.body) for each in guarded.records(stage=Stage.PASSED)]
    assert any(f"s3://{BUCKET}/{KEY} serial={serials[1]}" in each for each in written)

    stale = tmp_path / "stale.tfstate"
    stale.write_text(json.dumps(stored(guarded) | {"serial": 1, "resources": []}))
    pushed = terraform(guarded, "pipeline", tmp_path / "pipeline", "state", "push", "-force", str(stale))
    assert pushed.returncode != 0
    assert "somebody else wrote meanwhile" in " ".join(pushed.stderr.replace("│", " ").split())
    assert stored(guarded)["serial"] == serials[1]


@pytest.mark.parametrize("actor", ["agent", "service", "human"])
def test_terraform_of_others_gets_no_state(guarded: Gate, tmp_path: Path, actor: str) -> None:
    directory = tmp_path / actor
    terraform(guarded, actor, directory, "init", "-input=false", "-no-color")
    pulled = terraform(guarded, actor, directory, "state", "pull")
    assert pulled.returncode != 0
    assert "StatusCode: 403" in pulled.stderr
    assert "terraform_data" not in pulled.stdout
