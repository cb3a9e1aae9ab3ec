"""Our commits go behind those of others without a checkout; one that is there already, or amended there, is not repeated."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.errors import GitFailed
from reconciler.publish.own_commits import OwnCommits
from reconciler.publish.rebase import foreign_commits, rebased

Git = Callable[..., str]
ONE = "Sentinel-Mutation: mut_00000000000000000000000001"
TWO = "Sentinel-Mutation: mut_00000000000000000000000002"


def _commit(git: Git, repository: Path, name: str, text: str, message: str) -> str:
    (repository / name).write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", message)
    return git(repository, "rev-parse", "HEAD").strip()


@pytest.fixture
def own(tmp_path: Path) -> OwnCommits:
    return OwnCommits(path=tmp_path / "own.commits")


async def _rebased(repository: Path, tip: str, there: str, own: OwnCommits) -> str:
    return await rebased(repository, tip=tip, there=there, protected="main", own=own)


@pytest.fixture
def ours(repository: Path, git: Git) -> tuple[str, str]:
    """Two commits of ours on a branch beside `main`."""
    git(repository, "branch", "--move", "--force", "main")
    git(repository, "checkout", "--quiet", "-b", "sentinel/shop")
    return (
        _commit(git, repository, "a.tf", "a = 1\n", f"One\n\n{ONE}"),
        _commit(git, repository, "b.tf", "b = 1\n", f"Two\n\n{TWO}"),
    )


async def test_only_what_is_missing_is_put_behind_and_listed_as_ours(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", ours[0])
    theirs = _commit(git, repository, "note.md", "hello\n", "A note")
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
    amended = _commit(git, repository, "a.tf", "a = 1 # why\n", f"One\n\n{ONE}")
    last = await _rebased(repository, ours[1], amended, own)
    assert git(repository, "show", f"{last}:./a.tf") == "a = 1 # why\n"
    assert git(repository, "rev-list", "--count", f"{amended}..{last}").strip() == "1"


async def test_the_same_lines_are_a_conflict_and_nothing_is_made(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", "main")
    theirs = _commit(git, repository, "a.tf", "a = 2\n", "Mine")
    with pytest.raises(GitFailed, match="change the same lines"):
        await _rebased(repository, ours[1], theirs, own)
    assert own.all() == frozenset()


async def test_the_same_change_by_others_needs_no_commit(
    repository: Path, git: Git, ours: tuple[str, str], own: OwnCommits
) -> None:
    git(repository, "checkout", "--quiet", "--detach", "main")
    theirs = _commit(git, repository, "a.tf", "a = 1\n", "Done by hand")
    last = await _rebased(repository, ours[0], theirs, own)
    assert last == theirs
