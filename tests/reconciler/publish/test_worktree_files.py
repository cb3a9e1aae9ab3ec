"""The worktree gets what a plan needs and git does not have."""

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
