"""What the state records is known by address, without secrets; a plan against a copy leaves it alone; its lock shows an apply."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import CodeInvalid
from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Terraform
from reconciler.terraform.state import (
    planning_against,
    read_recorded,
    recorded_values,
    state_document_without,
    state_without,
    terraform_is_applying,
)

STATE: dict[str, Any] = {
    "version": 4,
    "resources": [
        {"mode": "managed", "type": "aws_db_instance", "name": "a", "provider": "", "module": "module.m", "instances": [
            {"index_key": 0, "sensitive_attributes": [[{"type": "get_attr", "value": "marked"}]],
             "attributes": {"id": "db-1", "password": "hunter-two", "marked": "hunter-two", "size": 3}}]},
        {"mode": "managed", "type": "aws_lambda_function", "name": "b", "provider": "", "instances": [
            {"attributes": {"arn": "arn:b", "environment": [{"variables": {"A": "hunter-two"}}]}}]},
        {"mode": "data", "type": "aws_region", "name": "now", "provider": "", "instances": [
            {"attributes": {"name": "eu-west-1", "url": "https://a:hunter-two@b"}}]},
    ],
}  # fmt: skip
VALUES = {
    "module.m.aws_db_instance.a[0]": {"id": "db-1", "size": 3},
    "aws_lambda_function.b": {"arn": "arn:b"},
    "data.aws_region.now": {"name": "eu-west-1"},
}


def test_values_without_secrets() -> None:
    assert recorded_values(json.dumps(STATE).encode(), "s") == VALUES
    assert recorded_values(b"\n", "s") == {}
    with pytest.raises(CodeInvalid):
        recorded_values(b"{", "s")


def _terraform(tmp_path: Path, body: str) -> Terraform:
    program = tmp_path / "terraform"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return Terraform(environment={"PATH": "/usr/bin:/bin"}, workdir=tmp_path / "work", executable=str(program))


async def test_a_file_is_read_without_terraform(tmp_path: Path) -> None:
    terraform = _terraform(tmp_path, "exit 1")
    state = tmp_path / "terraform.tfstate"
    assert await read_recorded(terraform, tmp_path, state) == {}
    state.write_text(json.dumps(STATE))
    assert await read_recorded(terraform, tmp_path, state) == VALUES
    state.write_text("{")
    assert await read_recorded(terraform, tmp_path, state) == {}


async def test_a_backend_is_asked_through_terraform(tmp_path: Path) -> None:
    (tmp_path / "state").write_text(json.dumps(STATE))
    pull = f'[ "$1" = init ] || {{ [ "$1 $2" = "state pull" ] && cat {tmp_path / "state"}; }}'
    assert await read_recorded(_terraform(tmp_path, pull), tmp_path, None) == VALUES
    assert await read_recorded(_terraform(tmp_path, "echo no lock >&2; exit 1"), tmp_path, None) == {}


def _resource(name: str, *keys: object, module: str = "", mode: str = "managed") -> dict[str, Any]:
    instances: list[dict[str, Any]] = [{} if key is None else {"index_key": key} for key in keys]
    found = {"mode": mode, "type": "aws_sqs_queue", "name": name, "instances": instances}
    return found | ({"module": module} if module else {})


STATE_OF_SCRATCH_STATE: dict[str, Any] = {
    "version": 4,
    "serial": 7,
    "resources": [
        _resource("a", None),
        _resource("a", None, module="module.m"),
        _resource("a", None, mode="data"),
        _resource("b", "x", "y", 0),
    ],
}


def test_only_the_instances_at_the_addresses_are_left_out() -> None:
    found = state_document_without(
        STATE_OF_SCRATCH_STATE, ["aws_sqs_queue.a", 'aws_sqs_queue.b["x"]', "aws_sqs_queue.b[0]"]
    )
    assert (found["version"], found["serial"]) == (4, 7)
    assert found["resources"] == [
        STATE_OF_SCRATCH_STATE["resources"][1],
        STATE_OF_SCRATCH_STATE["resources"][2],
        _resource("b", "y"),
    ]
    assert state_document_without(STATE_OF_SCRATCH_STATE, ["module.m.aws_sqs_queue.a"])["resources"] == [
        each for each in STATE_OF_SCRATCH_STATE["resources"] if "module" not in each
    ]


def _code(root: Path) -> list[Path]:
    return list(root.glob("*.tf"))


async def test_the_file_is_ours_alone_and_gone_afterwards(tmp_path: Path) -> None:
    terraform = Terraform(environment={}, workdir=tmp_path / "work", backend_config={"key": "k"}, workspace="w")
    state = tmp_path / "x.tfstate"
    state.write_text(json.dumps(STATE_OF_SCRATCH_STATE))
    scratch = await state_without(terraform, tmp_path, state, ["aws_sqs_queue.a"])
    assert scratch.stat().st_mode & 0o777 == 0o600
    assert json.loads(state.read_text()) == STATE_OF_SCRATCH_STATE
    with planning_against(terraform, tmp_path, scratch, is_file=True) as inside:
        assert inside is terraform
    assert not scratch.exists()
    scratch = await state_without(terraform, tmp_path, state, [])
    with planning_against(terraform, tmp_path, scratch, is_file=False) as inside:
        (override,) = _code(tmp_path)
        assert str(scratch) in override.read_text()
        assert (inside.workdir, inside.workspace, inside.backend_config) == (tmp_path / "work" / "scratch", "", {})
    assert _code(tmp_path) == []
    assert list((tmp_path / "work").iterdir()) == []


async def test_what_is_no_state_is_said(tmp_path: Path) -> None:
    state = tmp_path / "x.tfstate"
    state.write_text("{}")
    terraform = Terraform(environment={}, workdir=tmp_path / "work")
    with pytest.raises(TerraformFailed, match="not one that Sentinel can read"):
        await state_without(terraform, tmp_path, state, ["aws_sqs_queue.a"])
    assert list((tmp_path / "work").iterdir()) == []


async def test_what_a_killed_process_left_behind_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "scratch-state-1-abc"
    left.write_text("secret")
    state = tmp_path / "x.tfstate"
    state.write_text(json.dumps(STATE_OF_SCRATCH_STATE))
    scratch = await state_without(Terraform(environment={}, workdir=tmp_path), tmp_path, state, [])
    assert not left.exists()
    assert (await state_without(Terraform(environment={}, workdir=tmp_path), tmp_path, state, [])) != scratch
    assert scratch.exists(), "another one of this process may still be planned against"


def test_a_lock_that_a_killed_terraform_left_is_not_waited_for_forever(tmp_path: Path) -> None:
    lock = tmp_path / ".terraform.tfstate.lock.info"
    lock.write_text("{}")
    assert terraform_is_applying(tmp_path / "terraform.tfstate")
    os.utime(lock, (0, 0))
    assert not terraform_is_applying(tmp_path / "terraform.tfstate")
    assert not terraform_is_applying(None)


@pytest.mark.terraform
def test_the_lock_of_a_terraform_that_is_killed_in_an_apply_ends_with_it(tmp_path: Path) -> None:
    """The real program, with a resource that needs no provider. While it runs, its lock counts, however old."""
    wait = f"touch {tmp_path / 'began'}; exec sleep 3600"
    (tmp_path / "main.tf").write_text(
        f'resource "terraform_data" "a" {{\n  provisioner "local-exec" {{\n    command = "{wait}"\n  }}\n}}\n'
    )
    state, lock = tmp_path / "terraform.tfstate", tmp_path / ".terraform.tfstate.lock.info"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(["terraform", "init"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert not terraform_is_applying(state)
    applying = subprocess.Popen(
        ["terraform", "apply", "-auto-approve"],
        cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        until = time.monotonic() + 300
        while not (tmp_path / "began").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        os.utime(lock, (0, 0))
        assert terraform_is_applying(state)
        os.utime(lock)
        applying.kill()
        applying.wait()
        assert lock.exists()
        assert not terraform_is_applying(state)
        lock.write_text('{"Who": "root@another-machine"}')
        assert terraform_is_applying(state)
    finally:
        os.killpg(applying.pid, signal.SIGKILL)
