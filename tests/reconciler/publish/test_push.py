"""The branch goes to a bare repository on a disk; commits of others are never overwritten, and nothing is lost by a failure."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.errors import ForeignCommit, GitFailed
from reconciler.publish.git import Branch, open_branch
from reconciler.publish.push import Remote

Git = Callable[..., str]
MAIN = Path("main.tf")
NAME = "sentinel/shop"


@pytest.fixture
def bare(repository: Path, tmp_path: Path, git: Git) -> Path:
    """An empty bare repository, the remote `origin` of the stack's repository."""
    path = tmp_path / "origin.git"
    git(tmp_path, "init", "--quiet", "--bare", str(path))
    git(repository, "remote", "add", "origin", str(path))
    return path


@pytest.fixture
def remote(repository: Path, bare: Path, tmp_path: Path) -> Remote:
    assert bare.is_dir()
    return Remote(name="origin", source=repository, worktree=tmp_path / "worktree", branch=NAME)


async def _open(repository: Path, tmp_path: Path) -> Branch:
    return await open_branch(source=repository, worktree=tmp_path / "worktree", name=NAME)


async def _commit(repository: Path, tmp_path: Path, value: int) -> str:
    branch = await _open(repository, tmp_path)
    return await branch.commit({MAIN: f"locals {{\n  a = {value}\n}}\n".encode()}, f"Now {value}\n")


def _tip(git: Git, bare: Path) -> str:
    return git(bare, "rev-parse", f"refs/heads/{NAME}").strip()


async def test_the_branch_is_pushed_and_extended_and_nothing_else(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    assert await remote.push() == ""
    for value in (2, 3):
        commit = await _commit(repository, tmp_path, value)
        assert await remote.push() == commit
        assert await remote.push() == commit
        assert _tip(git, bare) == commit
    assert git(bare, "for-each-ref", "--format=%(refname)").split() == [f"refs/heads/{NAME}"]


async def test_our_own_branch_is_replaced_after_it_was_made_again(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    """As after a squashed merge, when a human deletes the local branch."""
    await _commit(repository, tmp_path, 2)
    await remote.push()
    git(repository, "update-ref", "-d", f"refs/heads/{NAME}")
    commit = await _commit(repository, tmp_path, 3)
    await remote.push()
    assert _tip(git, bare) == commit


async def test_commits_of_others_at_the_remote_stay(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    commit = await _commit(repository, tmp_path, 2)
    await remote.push()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", NAME, str(bare), str(clone))
    git(clone, "commit", "--quiet", "--allow-empty", "-m", "a review")
    git(clone, "push", "--quiet", "origin", f"HEAD:{NAME}")
    theirs = _tip(git, bare)
    later = await _commit(repository, tmp_path, 3)

    with pytest.raises(GitFailed, match="commits that Sentinel did not make"):
        await remote.push()

    assert _tip(git, bare) == theirs
    assert git(repository, "rev-parse", f"refs/heads/{NAME}").strip() == later
    git(bare, "update-ref", f"refs/heads/{NAME}", commit)
    assert await remote.push() == later
    assert _tip(git, bare) == later


async def test_a_foreign_commit_on_our_branch_is_not_pushed(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    commit = await _commit(repository, tmp_path, 2)
    await remote.push()
    evil = git(repository, "commit-tree", f"{commit}^{{tree}}", "-p", commit, "-m", "theirs").strip()
    git(repository, "update-ref", f"refs/heads/{NAME}", evil)
    with pytest.raises(ForeignCommit):
        await remote.push()
    assert _tip(git, bare) == commit


@pytest.mark.parametrize(
    "setting",
    [
        ("core.sshCommand", "touch {}"),
        ("credential.helper", "!touch {}"),
        ("credential.https://x.helper", "!touch {}"),
        ("remote.origin.receivepack", "touch {}; git-receive-pack"),
        ("remote.origin.uploadpack", "touch {}; git-upload-pack"),
        ("remote.origin.vcs", "x"),
    ],
)
async def test_the_repositorys_configuration_runs_no_program(
    repository: Path, tmp_path: Path, git: Git, remote: Remote, setting: tuple[str, str]
) -> None:
    await _commit(repository, tmp_path, 2)
    git(repository, "config", setting[0], setting[1].format(tmp_path / "ran"))
    with pytest.raises(GitFailed, match="would run a program"):
        await remote.push()
    assert not (tmp_path / "ran").exists()
    assert not git(tmp_path / "origin.git", "for-each-ref")


@pytest.mark.parametrize("url", ["ext::sh -c touch% {}", "{}/gone.git"])
async def test_a_remote_that_is_not_there_or_is_a_program_is_an_error(
    repository: Path, tmp_path: Path, git: Git, remote: Remote, url: str
) -> None:
    commit = await _commit(repository, tmp_path, 2)
    git(repository, "remote", "set-url", "origin", url.format(tmp_path / "ran"))
    git(repository, "config", "protocol.allow", "always")
    with pytest.raises(GitFailed):
        await remote.push()
    assert not (tmp_path / "ran").exists()
    assert git(repository, "rev-parse", f"refs/heads/{NAME}").strip() == commit


async def test_no_hook_runs_on_either_side(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    commit = await _commit(repository, tmp_path, 2)
    top = Path(git(repository, "rev-parse", "--show-toplevel").strip())
    for hook in (top / ".git/hooks/pre-push", bare / "hooks/post-receive", bare / "hooks/pre-receive"):
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    await remote.push()
    assert _tip(git, bare) == commit
    assert not (tmp_path / "ran").exists()
