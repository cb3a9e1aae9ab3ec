"""What the state records is known by address, secrets are not, and a state that cannot be read is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import CodeInvalid
from reconciler.terraform.cli import Terraform
from reconciler.terraform.recorded import read_recorded, recorded_values

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
