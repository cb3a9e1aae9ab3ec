"""Git runs without our secrets and not for ever, and says which write-backs its commits have."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.errors import GitFailed
from reconciler.publish.git import (
    all_merged,
    branch_tip,
    changed_files,
    codeowners_text,
    mutations_in,
    unmerged_write_backs,
)
from reconciler.publish.git import git as run_git

Git = Callable[..., str]


async def test_git_gets_no_secret_of_ours(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "SENTINEL_MASTER_KEY", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "swordfish")
    assert "swordfish" not in await run_git(repository, "-c", "alias.show-environment=!env", "show-environment")


async def test_trailers_of_others_are_read_as_they_are(repository: Path, git: Git) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "x\n\nSentinel-Mutation: a|b\n c\nSentinel-Corrects: x|y")
    assert {"a|b", "c"} <= await mutations_in(repository)


async def test_the_unchecked_tip_is_that_of_exactly_this_branch(repository: Path, git: Git) -> None:
    head = git(repository, "rev-parse", "HEAD").strip()
    git(repository, "update-ref", "refs/heads/sentinel/shop/more", head)
    assert await branch_tip(repository, "sentinel/shop") == ""
    assert await branch_tip(repository, "sentinel/shop/more") == head


async def test_a_git_that_hangs_is_ended(repository: Path) -> None:
    with pytest.raises(GitFailed, match="took longer than"):
        await run_git(repository, "-c", "alias.wait=!sleep 3600", "wait", seconds=0.2)


@pytest.mark.parametrize("end", ["", "; sleep 3600"], ids=["git has ended", "git still runs"])
def test_what_outlives_a_git_keeps_nothing_open(repository: Path, end: str) -> None:
    """A program that left the process group is not killed with it, and still has the pipes of git."""
    left = repository / "left"

    async def given_up() -> None:
        leave = f"alias.leave=!setsid sleep 3600 & echo $! $PPID > {left}{end}"
        running = asyncio.ensure_future(run_git(repository, "-c", leave, "leave"))
        for _ in range(50):
            await asyncio.sleep(0)  # asyncio has the pipes after some rounds, and ends no start that is given up before
        while not (left.exists() and left.read_text()) or (not end and _runs(left.read_text().split()[1])):  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    try:
        asyncio.run(given_up())
        gc.collect()  # Python warns of a pipe that is open still, and this test fails
    finally:
        os.kill(int(left.read_text().split()[0]), signal.SIGKILL)


def _runs(process: str) -> bool:
    return Path("/proc", process).exists()


IDS = [f"mut_0000000000000000000000000{number}" for number in range(3)]


@pytest.fixture
def branch(repository: Path, git: Git) -> Path:
    """Three write-backs beside `protected`; the last corrects a record."""
    git(repository, "branch", "protected")
    for number, mutation in enumerate(IDS):
        (repository / f"{number}.tf").write_text(f"x = {number}\n")
        git(repository, "add", "-A")
        corrects = "\nSentinel-Corrects: 12" if number == 2 else ""
        git(repository, "commit", "--quiet", "-m", f"Now\n\nSentinel-Mutation: {mutation}{corrects}")
    return repository


async def test_write_backs_are_pending_until_the_protected_branch_names_them(branch: Path, git: Git) -> None:
    assert await unmerged_write_backs(branch, "HEAD", "protected") == (IDS[0], IDS[1], f"{IDS[2]}@12")
    git(branch, "checkout", "--quiet", "protected")
    git(branch, "commit", "--quiet", "--allow-empty", "-m", f"Squashed\n\nSentinel-Mutation: {IDS[1]}")
    tip = git(branch, "rev-parse", "@{-1}").strip()
    assert await unmerged_write_backs(branch, tip, "protected") == (IDS[0], f"{IDS[2]}@12")
    assert not await all_merged(branch, tip, "protected")
    git(branch, "merge", "--quiet", tip)
    assert await unmerged_write_backs(branch, tip, "protected") == ()


@pytest.mark.parametrize("trailer", ["--><img>", "mut_1", "@team/all", f"{IDS[0]}x", "mut_" + "A" * 26])
async def test_a_trailer_that_names_no_id_is_none(repository: Path, git: Git, trailer: str) -> None:
    """It would stand in the marker of a comment, which could then not be found again and would be written each time."""
    git(repository, "branch", "protected")
    for name in (trailer, IDS[1]):
        git(repository, "commit", "--quiet", "--allow-empty", "-m", f"Now\n\nSentinel-Mutation: {name}")
    assert await unmerged_write_backs(repository, "HEAD", "protected") == (IDS[1],)


async def test_a_branch_without_write_backs_is_not_merged(repository: Path) -> None:
    assert not await all_merged(repository, "HEAD", "HEAD")


async def test_files_are_those_of_the_branch_alone(branch: Path, git: Git) -> None:
    tip = git(branch, "rev-parse", "HEAD").strip()
    git(branch, "checkout", "--quiet", "protected")
    (branch / "other.tf").write_text("o = 1\n")
    git(branch, "add", "-A")
    git(branch, "commit", "--quiet", "-m", "theirs")
    assert await changed_files(branch, tip, "protected") == tuple(f"infra/shop/{number}.tf" for number in range(3))


async def test_the_first_codeowners_file_that_github_finds_counts(repository: Path, git: Git) -> None:
    assert await codeowners_text(repository, "HEAD") == ""
    top = repository.parent.parent
    for place in ("docs/CODEOWNERS", "CODEOWNERS", ".github/CODEOWNERS"):
        (top / place).parent.mkdir(exist_ok=True)
        (top / place).write_text(f"* @{place.partition('/')[0].strip('.').lower()}\n")
        assert "@" not in await codeowners_text(repository, "HEAD") or place != "docs/CODEOWNERS", "not committed yet"
        git(top, "add", "-A")
        git(top, "commit", "--quiet", "-m", place)
        assert await codeowners_text(repository, "HEAD") == (top / place).read_text()
