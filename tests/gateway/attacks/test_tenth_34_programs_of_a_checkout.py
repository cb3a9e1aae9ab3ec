"""Tenth audit, 34: the configuration of a stack's checkout names a program, and the reconciler runs it when it checks out, commits or merges.

The attack: `.gitattributes` gives the code a filter or a merge driver, and the checkout's own configuration says which program that is. Only a push
refused such a configuration; the worktree was made and committed to before. What must hold: nothing is checked out with it.
"""

import subprocess
from pathlib import Path

import pytest

from reconciler.errors import GitFailed
from reconciler.publish.branch import open_branch, open_protected


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose code has a filter, a merge driver and a trailer's command, none of which is configured."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "main.tf").write_text("locals {\n  a = 1\n}\n")
    (root / ".gitattributes").write_text("*.tf filter=x merge=x diff=x\n")
    _git(root, "init", "--quiet", "--initial-branch=main")
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message=code")
    return root


def _git(directory: Path, *argv: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgSign=false")
    subprocess.run(("git", *named, *argv), cwd=directory, check=True, capture_output=True)


@pytest.mark.parametrize("key", ["filter.x.clean", "filter.x.smudge", "filter.x.process", "merge.x.driver"])
async def test_nothing_is_checked_out_where_that_runs_a_program(repository: Path, tmp_path: Path, key: str) -> None:
    ran = tmp_path / "ran"
    _git(repository, "config", key, f"sh -c 'touch {ran}; cat'")
    with pytest.raises(GitFailed, match="would run a program"):
        await open_branch(source=repository, worktree=tmp_path / "own", name="sentinel/x", protected="refs/heads/main")
    with pytest.raises(GitFailed, match="would run a program"):
        await open_protected(source=repository, worktree=tmp_path / "own", protected="refs/heads/main")
    assert not ran.exists()


async def test_what_runs_at_a_remote_only_keeps_nobody_from_committing(repository: Path, tmp_path: Path) -> None:
    _git(repository, "config", "credential.helper", "store")
    _git(repository, "config", "diff.x.textconv", f"touch {tmp_path / 'ran'}")
    made = await open_branch(
        source=repository, worktree=tmp_path / "own", name="sentinel/x", protected="refs/heads/main"
    )
    commit = await made.commit({Path("main.tf"): b"locals {\n  a = 2\n}\n"}, "change\n")
    assert "+  a = 2" in await made.diff(commit)
    assert not (tmp_path / "ran").exists()
