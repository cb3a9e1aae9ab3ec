"""Only a plan that changes nothing but the state is applied, and only to the state it was made for."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reconciler.errors import StateNotUpdated, TerraformFailed
from reconciler.terraform.cli import SavedPlan, Terraform
from reconciler.terraform.state_update import apply_to_state, beyond_state, imported_in, moved_in, refresh_state


def _change(*actions: str, **more: Any) -> dict[str, Any]:
    return {"address": "a_b.c", "change": {"actions": list(actions), **more}}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, ""),
        ({"resource_changes": [_change("no-op"), _change("read"), _change("no-op", importing={"id": "x"})]}, ""),
        ({"resource_changes": [_change("update")]}, "it would update a_b.c"),
        ({"resource_changes": [_change("delete", "create")]}, "it would delete and create a_b.c"),
        ({"resource_changes": [_change("forget")]}, "it would forget a_b.c"),
        ({"errored": True}, "the plan is not complete"),
        ({"deferred_changes": [{}]}, "it would do more than Sentinel can judge"),
    ],
)
def test_what_a_plan_does_beside_the_state(document: dict[str, Any], says: str) -> None:
    assert "; ".join(beyond_state(document)) == says
    assert moved_in(document) == ({"a_b.c"} if "a_b.c" in says else set())


def test_imports_that_wait_are_told_from_what_would_change() -> None:
    """A process that died between forgetting a resource and importing the one in its place leaves such a plan."""
    waits, moves = _change("no-op"), _change("update")
    waits["change"]["importing"] = moves["change"]["importing"] = {"id": "i"}
    document = {"resource_changes": [{**waits, "address": "a"}, {**moves, "address": "b"}, _change("no-op")]}
    assert imported_in(document) == {"a"}


async def test_what_drifted_elsewhere_is_not_hidden_by_a_refresh(tmp_path: Path) -> None:
    """Terraform refreshes what a target depends on too."""
    plan = tmp_path / "plan"

    class Drifted:
        applied = 0

        async def saved_plan(self, _: Path, **given: Any) -> SavedPlan:
            assert (given["targets"], given["refresh_only"]) == (["a.target"], True)
            plan.touch()
            return SavedPlan(file=plan, changes=True)

        async def plan_document(self, *_: Path) -> dict[str, Any]:
            return {"resource_drift": [{"address": "a.dependency"}]}

        async def apply(self, *_: Path, **__: Any) -> None:
            self.applied += 1

    terraform: Any = Drifted()
    with pytest.raises(StateNotUpdated, match=r"changed outside in a\.dependency"):
        await refresh_state(terraform, tmp_path, state=None, targets=["a.target"], keep={"a.dependency"})
    assert (terraform.applied, plan.exists()) == (0, False)
    await refresh_state(terraform, tmp_path, state=None, targets=["a.target"], keep={"a.other"})
    assert (terraform.applied, plan.exists()) == (1, False)


@pytest.fixture
def stack(tmp_path: Path) -> tuple[Terraform, Path]:
    """An applied stack without any provider but the built-in one, and an output that the state does not have yet."""
    root = tmp_path / "root"
    root.mkdir()
    main = root / "main.tf"
    main.write_text('resource "terraform_data" "a" {\n  input = 1\n}\n')
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for argv in (["init"], ["apply", "-auto-approve"]):
        subprocess.run(["terraform", *argv], cwd=root, env=environment, check=True, capture_output=True)
    main.write_text(main.read_text() + '\noutput "a" {\n  value = terraform_data.a.output\n}\n')
    return Terraform(environment=environment, workdir=tmp_path / "work", shared_data=root / ".terraform"), root


def _outputs(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "terraform.tfstate").read_text())["outputs"]
    return {name: output["value"] for name, output in found.items()}


@pytest.mark.terraform
async def test_outputs_reach_the_state_and_the_next_plan_is_empty(stack: tuple[Terraform, Path]) -> None:
    terraform, root = stack
    saved = await terraform.saved_plan(root)
    assert saved.changes
    await apply_to_state(terraform, root, saved, state=None)
    assert _outputs(root) == {"a": 1}
    assert not saved.file.exists()
    assert await terraform.plan(root) is None


@pytest.mark.terraform
async def test_a_plan_that_would_change_more_is_not_applied(stack: tuple[Terraform, Path]) -> None:
    terraform, root = stack
    (root / "main.tf").write_text((root / "main.tf").read_text().replace("input = 1", "input = 2"))
    before = (root / "terraform.tfstate").read_bytes()
    saved = await terraform.saved_plan(root)
    with pytest.raises(StateNotUpdated, match=r"it would update terraform_data\.a"):
        await apply_to_state(terraform, root, saved, state=None)
    assert (root / "terraform.tfstate").read_bytes() == before
    assert not saved.file.exists()
    await refresh_state(terraform, root, state=None)
    assert _outputs(root) == {"a": 1}


@pytest.mark.terraform
async def test_a_plan_older_than_the_state_is_refused_by_terraform(stack: tuple[Terraform, Path]) -> None:
    terraform, root = stack
    saved = await terraform.saved_plan(root)
    state = json.loads((root / "terraform.tfstate").read_text())
    (root / "terraform.tfstate").write_text(json.dumps({**state, "serial": state["serial"] + 1}))
    with pytest.raises(TerraformFailed, match="stale"):
        await apply_to_state(terraform, root, saved, state=None)
    assert _outputs(root) == {}
