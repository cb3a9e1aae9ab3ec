"""Puts our commits behind those that others pushed to the stack's branch, without checking out, planning or losing any of theirs."""

from collections.abc import Collection
from pathlib import Path

from reconciler.errors import GitFailed
from reconciler.publish.git import git, trailer_keys
from reconciler.publish.own_commits import OwnCommits


async def foreign_commits(source: Path, there: str, *, protected: str, ours: Collection[str]) -> tuple[str, ...]:
    """The commits of `there`, latest first, that are neither ours nor in the protected branch. Raises `errors.GitFailed`."""
    listed = await git(source, "rev-list", there, "--not", protected, "--")
    return tuple(commit for commit in listed.split() if commit not in ours)


async def rebased(source: Path, *, tip: str, there: str, protected: str, own: OwnCommits) -> str:
    """The last of our commits behind `there`; `there` itself if it has all of them. No branch and no file changes.

    A commit stands for ours if it has the same trailer, as after somebody amended it. Each new commit is listed as our own first.
    Raises `errors.GitFailed` if both changed the same lines.
    """
    present = set(await trailer_keys(source, there, "--not", protected))
    listed = await git(source, "rev-list", "--reverse", "--no-merges", tip, "--not", protected, there, "--")
    last = there
    for commit in listed.split():
        if present.isdisjoint(await trailer_keys(source, f"{commit}^!")):
            last = await _replay(source, commit, last, own)
    return last


async def _replay(source: Path, commit: str, last: str, own: OwnCommits) -> str:
    """The change of `commit` on top of `last`; `last` if it has the change already."""
    parent = (await git(source, "rev-parse", f"{commit}^")).strip()
    tree = (await git(source, "rev-parse", f"{last}^{{tree}}")).strip()
    # With this parent, the merge base is the commit's own parent, so that exactly its change is merged.
    stand_in = (await git(source, "commit-tree", tree, "-p", parent, stdin="stand-in\n")).strip()
    try:
        merged = (
            (await git(source, "merge-tree", "--write-tree", "--messages", stand_in, commit)).split("\n")[0].strip()
        )
    except GitFailed as error:
        message = (
            f"Others pushed commits to the branch ({last[:12]}) that change the same lines as ours ({commit[:12]}), so it was not pushed, "
            "and nothing there was changed. All commits are kept here. Merge that branch or delete it; then it is pushed."
        )
        raise GitFailed(message) from error
    if merged == tree:
        return last
    text = await git(source, "log", "-1", "--format=%B", commit, "--")
    made = (await git(source, "commit-tree", merged, "-p", last, stdin=text)).strip()
    own.add(made)
    return made
