"""The worktree gets what a plan needs and git does not have."""

from collections.abc import Callable
from pathlib import Path

from reconciler.publish.git import open_branch
from reconciler.publish.worktree_files import add_untracked_files


async def test_untracked_inputs_are_copied_fresh_and_state_is_not(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitignore").write_text("*.tfvars\n*.zip\n.terraform/\n*.tfstate\n")
    for name in (
        "local.tfvars",
        "build/function.zip",
        ".terraform/providers/x",
        "terraform.tfstate",
        ".terraform.lock.hcl",
    ):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    (repository / "link.tfvars").symlink_to("/etc/hostname")
    branch = await open_branch(source=repository, worktree=tmp_path / "worktree", name="sentinel/shop")
    (branch.root / "stale.tfvars").write_text("gone in the checkout")

    await add_untracked_files(branch)

    found = {str(path.relative_to(branch.root)) for path in branch.root.rglob("*") if path.is_file()}
    assert found == {"main.tf", ".gitignore", "local.tfvars", "build/function.zip", ".terraform.lock.hcl"}


async def test_untracked_inputs_of_a_module_beside_the_stack_are_copied(
    repository: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    (repository / "env").mkdir()
    (repository / "env/main.tf").write_text('module "m" {\n  source = "../m"\n}\n')
    (repository / "m").mkdir()
    (repository / "m/main.tf").write_text('module "far" {\n  source = "../../far"\n}\n')
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "modules")
    (repository / "m/code.zip").write_text("zip")
    (repository / "other.zip").write_text("zip")
    branch = await open_branch(source=repository / "env", worktree=tmp_path / "worktree", name="sentinel/shop")

    await add_untracked_files(branch)

    assert branch.top == repository.parents[1]
    assert (branch.root / "../m/code.zip").is_file()
    assert not (branch.root / "../other.zip").exists()
