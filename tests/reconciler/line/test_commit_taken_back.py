"""A commit of ours is taken out of the files it changed, and what came later stays; a conflict takes nothing back."""

from collections.abc import Callable
from pathlib import Path

from reconciler.line.combined_mutation import files_without
from reconciler.publish.branch import Branch, open_branch

MAIN = Path("main.tf")
FIRST, LAST = "# first\n" * 5, "# last\n" * 5


async def _branch(repository: Path, git: Callable[..., str]) -> Branch:
    (repository / "main.tf").write_text(f"{FIRST}block\n{LAST}")
    git(repository, "commit", "--quiet", "-am", "code")
    return await open_branch(source=repository, worktree=repository.parents[2] / "worktree", name="sentinel/shop")


async def test_only_what_the_commit_changed_is_as_before(repository: Path, git: Callable[..., str]) -> None:
    branch = await _branch(repository, git)
    commit = await branch.commit({MAIN: f"{FIRST}{LAST}".encode()}, "removed")
    await branch.commit({MAIN: f"{FIRST}{LAST}# later ä\n".encode()}, "later")
    assert await files_without(branch, commit) == {MAIN: f"{FIRST}block\n{LAST}# later ä\n".encode()}


async def test_what_changed_since_at_the_same_place_is_kept(repository: Path, git: Callable[..., str]) -> None:
    branch = await _branch(repository, git)
    commit = await branch.commit({MAIN: f"{FIRST}{LAST}".encode()}, "removed")
    await branch.commit({MAIN: f"{FIRST}other\n{LAST}".encode()}, "later")
    assert await files_without(branch, commit) == {}
    assert await files_without(branch, "0" * 40) == {}


async def test_a_module_beside_the_stack_is_named_from_the_stack(repository: Path, git: Callable[..., str]) -> None:
    beside = repository.parent / "module"
    beside.mkdir()
    (beside / "main.tf").write_text("block\n")
    git(repository.parent, "add", ".")
    branch = await _branch(repository, git)
    path = Path("../module/main.tf")
    commit = await branch.commit({path: b"other\n"}, "changed")
    assert await files_without(branch, commit) == {path: b"block\n"}
