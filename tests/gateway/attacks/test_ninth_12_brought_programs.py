"""Who commits to a stack's repository brings the program of a provider along, and the reconciler runs it when it plans the code.

Terraform looks for providers in `terraform.d/plugins` beside the code before it asks the registry, and finds those that were installed in
`.terraform`. So a repository with one of these ran any program, although the code names only providers that the settings allow. What must hold:
no program of a repository is run, and no file of the checkout is written outside of Sentinel's own worktree.
"""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from reconciler.errors import CodeRefused
from reconciler.publish.branch import add_untracked_files, open_branch
from reconciler.terraform.cli import Terraform, is_committed
from reconciler.terraform.code_guard import CodeGuard

AWS = "registry.terraform.io/hashicorp/aws"
CODE = 'terraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n    }\n  }\n}\n'


def _git(directory: Path, *argv: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgSign=false")
    subprocess.run(("git", *named, *argv), cwd=directory, check=True, capture_output=True)


def _repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "main.tf").write_text(CODE)
    _git(root, "init", "--quiet", "--initial-branch=main")
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message=code")
    return root


def _terraform(tmp_path: Path, root: Path) -> Terraform:
    """A Terraform that notes with which plug-ins it was started."""
    program = tmp_path / "terraform"
    program.write_text(f'#!/bin/sh\necho "$TF_DATA_DIR" >> {tmp_path}/started\n')
    program.chmod(0o755)
    return Terraform(
        environment={"PATH": os.environ["PATH"]},
        workdir=tmp_path / "work",
        executable=str(program),
        shared_data=root / ".terraform",
        guard=CodeGuard(providers=frozenset({AWS})),
    )


@pytest.mark.parametrize("linked", [False, True])
def test_a_repository_that_brings_providers_is_not_planned(tmp_path: Path, *, linked: bool) -> None:
    root = _repository(tmp_path)
    brought = root / ("else" if linked else "terraform.d") / "plugins" / AWS
    brought.mkdir(parents=True)
    if linked:
        (root / "terraform.d").symlink_to("else")
    with pytest.raises(CodeRefused, match="may bring programs of providers"):
        asyncio.run(_terraform(tmp_path, root).plan(root))
    assert not (tmp_path / "started").exists()
    CodeGuard(providers=frozenset({AWS}), blocks=frozenset({"terraform.d"})).check(root)


@pytest.mark.parametrize("linked", [False, True])
def test_plug_ins_that_the_repository_has_are_not_used(tmp_path: Path, *, linked: bool) -> None:
    root = _repository(tmp_path)
    data = root / ".terraform"
    held = root / "else" if linked else data
    (held / "providers" / AWS).mkdir(parents=True)
    (held / "providers" / AWS / "terraform-provider-aws").write_text("#!/bin/sh\n")
    if linked:
        data.symlink_to("else")
    terraform = _terraform(tmp_path, root)
    used = [terraform.plugin_data]
    _git(root, "add", "--all", "--force")
    _git(root, "commit", "--quiet", "--message=plug-ins")
    assert is_committed(data)
    used.append(terraform.plugin_data)
    assert used == [data, None], "what `terraform init` put there is used until somebody commits it"
    asyncio.run(terraform.plan(root))
    assert (tmp_path / "started").read_text().split() == [str(tmp_path / "work/data")] * 2


def test_no_untracked_file_is_copied_to_where_a_link_of_the_commit_leads(tmp_path: Path) -> None:
    root, outside = _repository(tmp_path), tmp_path / "outside"
    outside.mkdir()
    (root / "conf").symlink_to(outside)
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message=link")
    _git(root, "checkout", "--quiet", "-b", "work")
    _git(root, "rm", "--quiet", "conf")
    _git(root, "commit", "--quiet", "--message=no link")
    for directory in ("conf", "plain"):
        (root / directory).mkdir()
        (root / directory / "keys.tfvars").write_text("x = 1\n")

    async def copied() -> Path:
        branch = await open_branch(source=root, worktree=tmp_path / "tree", name="sentinel/x", protected="main")
        await add_untracked_files(branch)
        return branch.root

    worktree = asyncio.run(copied())
    assert list(outside.iterdir()) == []
    assert (worktree / "plain/keys.tfvars").is_file()
