"""The branch goes to a bare repository on a disk, behind the commits of others; none is overwritten or lost by a failure."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reconciler.errors import ForeignCommit, GitFailed
from reconciler.publish.branch import Branch, OwnCommits, open_branch
from reconciler.publish.push import Remote, foreign_commits, rebase_own_commits

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


@pytest.mark.slow
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


def _others_push(git: Git, bare: Path, tmp_path: Path, text: str | None = None) -> str:
    """Somebody pushes a commit to our branch, which changes a file of their own or `text` in ours; the commit."""
    clone = tmp_path / f"clone-{len(list(tmp_path.glob('clone-*')))}"
    git(tmp_path, "clone", "--quiet", "--branch", NAME, str(bare), str(clone))
    if text is None:
        (clone / f"{clone.name}.md").write_text("a note\n")
    else:
        (clone / "infra" / "shop" / "main.tf").write_text(text)
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "a review")
    git(clone, "push", "--quiet", "origin", f"HEAD:{NAME}")
    return git(clone, "rev-parse", "HEAD").strip()


@pytest.mark.slow
async def test_commits_of_others_at_the_remote_stay_and_ours_go_behind_them(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    await _commit(repository, tmp_path, 2)
    await remote.push()
    theirs = _others_push(git, bare, tmp_path)
    assert await remote.push() == theirs, "they have all of ours"
    local = await _commit(repository, tmp_path, 3)

    published = await remote.push()

    assert published == _tip(git, bare) != local
    assert git(bare, "rev-parse", f"{published}^").strip() == theirs
    assert "a = 3" in git(bare, "show", f"{published}:infra/shop/main.tf")
    assert await remote.push() == published, "nothing is put there twice"
    assert await remote.foreign(published) == (theirs,)
    later_theirs = _others_push(git, bare, tmp_path)
    later = await _commit(repository, tmp_path, 4)
    assert "a = 4" in git(bare, "show", f"{await remote.push()}:infra/shop/main.tf")
    for commit in (theirs, published, later_theirs):
        git(bare, "merge-base", "--is-ancestor", commit, NAME)
    assert git(repository, "rev-parse", f"refs/heads/{NAME}").strip() == later, (
        "nothing of theirs is on the branch that is planned"
    )


@pytest.mark.slow
async def test_what_both_changed_is_left_as_others_made_it(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    await _commit(repository, tmp_path, 2)
    await remote.push()
    theirs = _others_push(git, bare, tmp_path, "locals {\n  a = 99\n}\n")
    later = await _commit(repository, tmp_path, 3)
    with pytest.raises(GitFailed, match="change the same lines"):
        await remote.push()
    assert _tip(git, bare) == theirs
    assert git(repository, "rev-parse", f"refs/heads/{NAME}").strip() == later


async def test_a_merged_branch_that_was_deleted_is_not_made_again(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    branch = await _open(repository, tmp_path)
    message = "Now 2\n\nSentinel-Mutation: mut_00000000000000000000000002\n"
    await branch.commit({MAIN: b"locals {\n  a = 2\n}\n"}, message)
    await remote.push()
    git(repository, "commit", "--quiet", "--allow-empty", "-m", f"Squashed\n\n{message}")
    git(bare, "update-ref", "-d", f"refs/heads/{NAME}")
    assert await remote.push() == ""
    assert git(bare, "for-each-ref").strip() == ""


async def test_the_protected_branch_of_the_remote_is_fetched(
    repository: Path, bare: Path, tmp_path: Path, git: Git, remote: Remote
) -> None:
    git(repository, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    git(repository, "fetch", "--quiet", "origin")
    clone = tmp_path / "elsewhere"
    git(tmp_path, "clone", "--quiet", "--branch", "main", str(bare), str(clone))
    git(clone, "commit", "--quiet", "--allow-empty", "-m", "merged")
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    await remote.fetch_protected()  # HEAD is local
    following = replace(remote, protected="refs/remotes/origin/main")
    assert git(repository, "rev-parse", "origin/main") != git(clone, "rev-parse", "HEAD")
    await following.fetch_protected()
    assert git(repository, "rev-parse", "origin/main") == git(clone, "rev-parse", "HEAD")


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
        ("merge.ours.driver", "touch {}"),
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


ONE = "Sentinel-Mutation: mut_00000000000000000000000001"
TWO = "Sentinel-Mutation: mut_00000000000000000000000002"


def _commit_of_others(git: Git, repository: Path, name: str, text: str, message: str) -> str:
    (repository / name).write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", message)
    return git(repository, "rev-parse", "HEAD").strip()


@pytest.fixture
def own(tmp_path: Path) -> OwnCommits:
    return OwnCommits(path=tmp_path / "own.commits")


async def _rebased(repository: Path, tip: str, there: str, own: OwnCommits) -> str:
    return await rebase_own_commits(repository, tip=tip, there=there, protected="main", own=own)


@pytest.fixture
def ours(repository: Path, git: Git) -> tuple[str, str]:
    """Two commits of ours on a branch beside `main`."""
    git(repository, "branch", "--move", "--force", "main")
    git(repository, "checkout", "--quiet", "-b", "sentinel/shop")
    return (
        _commit_of_others(git, repository, "a.tf", "a = 1\n", f"One\n\n{ONE}"),
        _commit_of_others(git, repository, "b.tf", "b = 1\n", f"Two\n\n{TWO}"),
    )


async def test_only_what_is_missing_is_put_behind_and_listed_as_ours(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", ours[0])
    theirs = _commit_of_others(git, repository, "note.md", "hello\n", "A note")
    head = git(repository, "rev-parse", "HEAD")

    last = await _rebased(repository, ours[1], theirs, own)

    assert git(repository, "rev-parse", f"{last}^").strip() == theirs
    assert git(repository, "ls-tree", "--name-only", last).split() == ["a.tf", "b.tf", "main.tf", "note.md"]
    assert own.all() == {last}
    assert git(repository, "rev-parse", "HEAD") == head
    assert await _rebased(repository, ours[1], last, own) == last
    found = await foreign_commits(repository, last, protected="main", ours={*ours, *own.all()})
    assert found == (theirs,)


async def test_a_commit_that_others_amended_stands_for_ours(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", "main")
    amended = _commit_of_others(git, repository, "a.tf", "a = 1 # why\n", f"One\n\n{ONE}")
    last = await _rebased(repository, ours[1], amended, own)
    assert git(repository, "show", f"{last}:./a.tf") == "a = 1 # why\n"
    assert git(repository, "rev-list", "--count", f"{amended}..{last}").strip() == "1"


async def test_the_same_lines_are_a_conflict_and_nothing_is_made(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", "main")
    theirs = _commit_of_others(git, repository, "a.tf", "a = 2\n", "Mine")
    with pytest.raises(GitFailed, match="change the same lines"):
        await _rebased(repository, ours[1], theirs, own)
    assert own.all() == frozenset()


async def test_the_same_change_by_others_needs_no_commit(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", "main")
    theirs = _commit_of_others(git, repository, "a.tf", "a = 1\n", "Done by hand")
    last = await _rebased(repository, ours[0], theirs, own)
    assert last == theirs
