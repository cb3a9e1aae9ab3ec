"""Git runs without our secrets and not for ever, and says which write-backs its commits have."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.errors import GitFailed
from reconciler.publish.git import branch_tip, mutations_in
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
