"""Once values are merged, the state follows the protected code, and what else the plan shows is not applied."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reconciler.line.merged_state import update_merged_state
from reconciler.terraform.cli import Terraform

_TWO = 'resource "terraform_data" "a" {\n  input = 1\n}\n\nresource "terraform_data" "b" {\n  input = 1\n}\n'
_OUTPUT = '\noutput "a" {\n  value = terraform_data.a.output\n}\n'


@pytest.fixture
def stack(tmp_path: Path) -> tuple[Terraform, Path]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "main.tf").write_text(_TWO)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for argv in (["init"], ["apply", "-auto-approve"]):
        subprocess.run(["terraform", *argv], cwd=root, env=environment, check=True, capture_output=True)
    return Terraform(environment=environment, workdir=tmp_path / "work", shared_data=root / ".terraform"), root


def _state(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "terraform.tfstate").read_text())
    return found


@pytest.mark.terraform
async def test_outputs_follow_and_a_second_time_changes_nothing(stack: tuple[Terraform, Path]) -> None:
    terraform, root = stack
    (root / "main.tf").write_text(_TWO + _OUTPUT)
    assert await update_merged_state(terraform, root, state=None, addresses=["terraform_data.a"]) == ""
    assert _state(root)["outputs"]["a"]["value"] == 1
    assert await terraform.plan(root) is None
    serial = _state(root)["serial"]
    assert await update_merged_state(terraform, root, state=None, addresses=["terraform_data.a"]) == ""
    assert _state(root)["serial"] == serial


@pytest.mark.terraform
async def test_code_that_waits_for_its_apply_still_waits(stack: tuple[Terraform, Path]) -> None:
    terraform, root = stack
    (root / "main.tf").write_text(
        _TWO.replace("input = 1", "input = 2", 2).replace("input = 2", "input = 1", 1) + _OUTPUT
    )
    assert await update_merged_state(terraform, root, state=None, addresses=["terraform_data.a"]) == ""
    assert _state(root)["outputs"]["a"]["value"] == 1
    values = {each["name"]: each["instances"][0]["attributes"]["input"]["value"] for each in _state(root)["resources"]}
    assert values == {"a": 1, "b": 1}
    assert await terraform.plan(root) is not None


@pytest.mark.terraform
@pytest.mark.parametrize("addresses", [[], ["terraform_data.b"]])
async def test_what_the_plan_would_change_is_never_refreshed(
    stack: tuple[Terraform, Path], addresses: list[str]
) -> None:
    """Without a target terraform would refresh everything, and a change from outside would show no more."""
    terraform, root = stack
    code = _TWO.replace("input = 1", "input = 2", 2).replace("input = 2", "input = 1", 1) + _OUTPUT
    (root / "main.tf").write_text(code)
    before = (root / "terraform.tfstate").read_bytes()
    assert "without it" in await update_merged_state(terraform, root, state=None, addresses=addresses)
    assert (root / "terraform.tfstate").read_bytes() == before
    assert not list((terraform.workdir).glob("plan-*"))


async def test_without_terraform_it_says_so(tmp_path: Path) -> None:
    terraform = Terraform(environment={}, workdir=tmp_path, executable="no-terraform-here")
    assert "was not found" in await update_merged_state(terraform, tmp_path, state=None, addresses=[])
