"""A state of our own lacks what it should, and leaves nothing behind."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Terraform
from reconciler.terraform.scratch_state import planning_against, state_without, without


def _resource(name: str, *keys: object, module: str = "", mode: str = "managed") -> dict[str, Any]:
    instances: list[dict[str, Any]] = [{} if key is None else {"index_key": key} for key in keys]
    found = {"mode": mode, "type": "aws_sqs_queue", "name": name, "instances": instances}
    return found | ({"module": module} if module else {})


STATE: dict[str, Any] = {
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
    found = without(STATE, ["aws_sqs_queue.a", 'aws_sqs_queue.b["x"]', "aws_sqs_queue.b[0]"])
    assert (found["version"], found["serial"]) == (4, 7)
    assert found["resources"] == [STATE["resources"][1], STATE["resources"][2], _resource("b", "y")]
    assert without(STATE, ["module.m.aws_sqs_queue.a"])["resources"] == [
        each for each in STATE["resources"] if "module" not in each
    ]


def _code(root: Path) -> list[Path]:
    return list(root.glob("*.tf"))


async def test_the_file_is_ours_alone_and_gone_afterwards(tmp_path: Path) -> None:
    terraform = Terraform(environment={}, workdir=tmp_path / "work", backend_config={"key": "k"}, workspace="w")
    state = tmp_path / "x.tfstate"
    state.write_text(json.dumps(STATE))
    scratch = await state_without(terraform, tmp_path, state, ["aws_sqs_queue.a"])
    assert scratch.stat().st_mode & 0o777 == 0o600
    assert json.loads(state.read_text()) == STATE
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
    state.write_text(json.dumps(STATE))
    scratch = await state_without(Terraform(environment={}, workdir=tmp_path), tmp_path, state, [])
    assert not left.exists()
    assert (await state_without(Terraform(environment={}, workdir=tmp_path), tmp_path, state, [])) != scratch
    assert scratch.exists(), "another one of this process may still be planned against"
