"""The stack of `sentinel up`: copied example or the user's own."""

import subprocess
from pathlib import Path

import pytest

from gateway.cli.local.assets import example
from gateway.cli.local.checkout import prepare_stack
from gateway.cli.local.workspace import CannotStart, Workspace


def workspace_for(root: Path, own: Path | None = None) -> Workspace:
    root.mkdir(exist_ok=True)
    return Workspace(root=root, port=1, simulated_port=2, own_stack=own)


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=directory, check=True, capture_output=True, text=True
    ).stdout


async def test_the_example_becomes_a_repository_with_one_commit(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "a home")
    await prepare_stack(workspace, example())
    assert git(workspace.stack, "log", "--format=%an %s").splitlines() == ["Sentinel The stack as it was declared"]
    assert git(workspace.stack, "branch", "--show-current") == "main\n"
    assert git(workspace.stack, "status", "--porcelain") == ""
    assert (workspace.stack / "kafka.sentinel.hcl").is_file()


async def test_an_existing_copy_is_not_changed(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    await prepare_stack(workspace, example())
    (workspace.stack / "terraform.tfvars").write_text("consumers = 6\n")
    await prepare_stack(workspace, example())
    assert (workspace.stack / "terraform.tfvars").read_text() == "consumers = 6\n"


async def test_an_incomplete_copy_is_replaced(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    partial = workspace.root / "stack.partial"
    partial.mkdir()
    (partial / "stale.tf").write_text("resource")
    await prepare_stack(workspace, example())
    assert not partial.exists()
    assert not (workspace.stack / "stale.tf").exists()


async def test_a_copy_that_lost_its_repository_is_an_error_also_inside_another(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "outer")
    workspace = workspace_for(tmp_path / "home")
    workspace.stack.mkdir()
    (workspace.stack / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository .* Start over with --fresh"):
        await prepare_stack(workspace, example())


async def test_an_empty_stack_directory_is_an_error(tmp_path: Path) -> None:
    workspace = workspace_for(tmp_path / "home")
    workspace.stack.mkdir()
    with pytest.raises(CannotStart, match=r"no Terraform code .* Start over with --fresh"):
        await prepare_stack(workspace, example())


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A stack of the user's own, in a folder of a repository."""
    directory = tmp_path / "infra" / "prod"
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text("# nothing yet\n")
    git(tmp_path / "infra", "init", "--quiet")
    git(tmp_path / "infra", "add", "--all")
    git(tmp_path / "infra", "commit", "--quiet", "-m", "mine")
    return directory


async def test_the_users_own_stack_is_only_read(own: Path, tmp_path: Path) -> None:
    before = git(own, "log", "--format=%H")
    workspace = workspace_for(tmp_path / "home", own)
    await prepare_stack(workspace, example())
    assert workspace.stack == own
    assert (git(own, "log", "--format=%H"), git(own, "status", "--porcelain")) == (before, "")
    assert not (workspace.root / "stack").exists()


async def test_git_is_not_misled_by_the_environment(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    await prepare_stack(workspace_for(tmp_path / "home", own), example())


async def test_the_users_own_stack_must_be_terraform_code_in_git(own: Path, tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="no Terraform code"):
        await prepare_stack(workspace_for(tmp_path / "home", own.parent), example())
    loose = tmp_path / "loose"
    loose.mkdir()
    (loose / "main.tf").touch()
    with pytest.raises(CannotStart, match=r"not in a git repository with a commit, .* with --stack, committed to git"):
        await prepare_stack(workspace_for(tmp_path / "home", loose), example())
    git(loose, "init", "--quiet")
    with pytest.raises(CannotStart, match="with a commit"):
        await prepare_stack(workspace_for(tmp_path / "home", loose), example())


async def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotStart, match="git is not on PATH"):
        await prepare_stack(workspace_for(tmp_path / "home"), example())
