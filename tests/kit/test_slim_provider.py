"""Terraform plans with the slim provider what it plans with the real one."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.moto import MotoUpstream
from tests.kit.slim_provider import slim_config
from tests.kit.slim_relay import only

CODE = Path(__file__).parents[1] / "cases" / "plans" / "ordinary"


def field(number: int, content: bytes) -> bytes:
    """A field of a message that has a length below 128."""
    return bytes([number << 3 | 2, len(content)]) + content


def test_schemas_of_other_types_are_left_out_and_nothing_else() -> None:
    wanted, other = (field(1, name) + field(2, b"schema") for name in (b"aws_sqs_queue", b"aws_sns_topic"))
    rest = field(1, b"the provider's own") + field(6, b"what it can") + field(7, field(1, b"a function"))
    schemas = field(2, wanted) + field(2, other) + rest + field(3, other) + field(3, wanted) + field(8, other)
    assert only({"aws_sqs_queue"}, schemas) == field(2, wanted) + rest + field(3, wanted)


@pytest.mark.slow
@pytest.mark.terraform
def test_control_c_is_left_to_terraform(tmp_path: Path) -> None:
    slim_config(tmp_path)
    program = next(path for path in (tmp_path / "mirror").rglob("*") if path.is_file())
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("1|5|unix|")
        # If it were sent, that would end some threads sooner than others, and the test would see it at times only.
        (ignored,) = re.findall(r"SigIgn:\s(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        process.terminate()
    assert process.returncode == 0
    assert int(ignored, 16) & 1 << signal.SIGINT - 1


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.terraform
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_plan_is_the_same(tmp_path: Path, slim_terraform: Path) -> None:
    upstream = MotoUpstream()
    runner = await upstream.start()
    base = {name: os.environ[name] for name in ("PATH", "HOME", "GOGC") if name in os.environ}
    base |= {"AWS_ENDPOINT_URL": upstream.url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    real = planned(tmp_path / "real", base)
    assert planned(tmp_path / "slim", base | {"TF_CLI_CONFIG_FILE": str(slim_terraform)}) == real
    assert len(real["resource_changes"]) > 10
    await runner.cleanup()


def planned(root: Path, base: dict[str, str]) -> dict[str, Any]:
    """The plan of a copy of the code, as its JSON."""
    shutil.copytree(CODE, root)
    environment = terraform_environment(mirror=None, workdir=root.with_suffix(".work"), base=base)
    for argv in (["init"], ["plan", "-out=saved"], ["show", "-json", "saved"]):
        command = ["terraform", *argv, "-no-color"]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    plan: dict[str, Any] = json.loads(done.stdout)
    del plan["timestamp"]
    # Terraform names them in no order.
    plan["relevant_attributes"].sort(key=json.dumps)
    return plan
