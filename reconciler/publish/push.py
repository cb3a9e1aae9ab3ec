"""Pushes the stack's branch to a remote, behind the commits that others pushed to it."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import GitFailed
from reconciler.publish.branch import OwnCommits, checked_tip
from reconciler.publish.git import all_merged, git, protected_head, refuse_programs, trailer_keys

_OPTIONS = (
    "protocol.ext.allow=never",  # a URL of this protocol is a program
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
)
_PASSED = (
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "https_proxy",
    "no_proxy",
)
"""Variables that a push gets besides those of every git command: how to reach and authenticate at the remote."""
_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Where one stack's branch is pushed to."""

    name: str
    """The name of a remote in the repository that holds the stack."""
    source: Path
    """The stack's directory in the user's checkout."""
    worktree: Path
    """Our worktree, beside which the list of our commits lies."""
    branch: str
    protected: str = "HEAD"

    async def push(self, recorded: Collection[str] = ()) -> str:
        """Make the remote's branch hold our commits; returns the commit that it points to then, empty if we have no branch.

        That is our branch's own commit, or one behind the commits that others pushed there. `recorded` are the commits that the ledger
        says are ours. Raises `errors.GitFailed` and `errors.ForeignCommit`; the local branch stays as it is.
        """
        tip = await checked_tip(
            source=self.source, worktree=self.worktree, name=self.branch, protected=self.protected, recorded=recorded
        )
        if not tip:
            return ""
        await refuse_programs(self.source, remote=True)
        on_disk = await self._is_on_disk()
        there = await self._there(on_disk=on_disk)
        if there == tip:
            return tip
        if not there:
            # After a merge, the remote's branch may have been deleted: it is not made again before there is something new.
            if await all_merged(self.source, tip, self.protected):
                return ""
            await self._send(tip, there, lease=True, on_disk=on_disk)
            return tip
        await self._fetch(f"+{self._ref}:{self._seen}", on_disk=on_disk)
        if await self._foreign(there, recorded):
            return await self._push_behind(tip, there, on_disk=on_disk)
        await self._send(tip, there, lease=not await self._contains(tip, there), on_disk=on_disk)
        return tip

    async def fetch_protected(self) -> None:
        """Bring the protected branch up to date if it is one of this remote, so that merges are seen. Raises `errors.GitFailed`."""
        prefix = f"refs/remotes/{self.name}/"
        if self.protected.startswith(prefix):
            await refuse_programs(self.source, remote=True)
            branch = self.protected.removeprefix(prefix)
            await self._fetch(f"+refs/heads/{branch}:{self.protected}", on_disk=await self._is_on_disk())

    async def foreign(self, published: str, recorded: Collection[str] = ()) -> tuple[str, ...]:
        """The commits of others in what was pushed, latest first. Raises `errors.GitFailed`."""
        return await self._foreign(published, recorded) if published else ()

    async def _push_behind(self, tip: str, there: str, *, on_disk: bool) -> str:
        protected = await protected_head(self.source, self.protected)
        last = await rebase_own_commits(self.source, tip=tip, there=there, protected=protected, own=self._own)
        if last != there:
            await self._send(last, there, lease=False, on_disk=on_disk)
        return last

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    @property
    def _seen(self) -> str:
        """Where the remote's branch is kept here, apart from all branches."""
        return f"refs/sentinel/{self.name}/{self.branch}"

    @property
    def _own(self) -> OwnCommits:
        return OwnCommits.beside(self.worktree)

    async def _is_on_disk(self) -> bool:
        url = (await git(self.source, "remote", "get-url", "--push", "--", self.name)).strip()
        return url.startswith(("/", "./", "../", "file://"))

    async def _there(self, *, on_disk: bool) -> str:
        listed = await self._git("ls-remote", "--", self.name, self._ref, on_disk=on_disk)
        return next((row.split()[0] for row in listed.splitlines() if row.endswith(f"\t{self._ref}")), "")

    async def _fetch(self, refspec: str, *, on_disk: bool) -> None:
        options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"]
        await self._git("fetch", *options, "--upload-pack=git-upload-pack", "--", self.name, refspec, on_disk=on_disk)

    async def _foreign(self, there: str, recorded: Collection[str]) -> tuple[str, ...]:
        protected = await protected_head(self.source, self.protected)
        return await foreign_commits(
            self.source, there, protected=protected, ours=frozenset({*recorded, *self._own.all()})
        )

    async def _contains(self, tip: str, there: str) -> bool:
        try:
            await git(self.source, "merge-base", "--is-ancestor", there, tip)
        except GitFailed:
            return False
        return True

    async def _send(self, tip: str, there: str, *, lease: bool, on_disk: bool) -> None:
        leased = [f"--force-with-lease={self._ref}:{there}"] if lease else []
        # On this machine, the hooks of the other repository would run with our rights.
        receive = "git -c core.hooksPath=/dev/null receive-pack" if on_disk else "git-receive-pack"
        options = ["--quiet", "--no-verify", f"--receive-pack={receive}", *leased]
        await self._git("push", *options, "--", self.name, f"{tip}:{self._ref}", on_disk=on_disk)

    async def _git(self, *argv: str, on_disk: bool) -> str:
        settings = (*_OPTIONS, "protocol.file.allow=always") if on_disk else _OPTIONS
        options = [part for setting in settings for part in ("-c", setting)]
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return await git(self.source, *options, *argv, environment=passed, seconds=_SECONDS)


async def foreign_commits(source: Path, there: str, *, protected: str, ours: Collection[str]) -> tuple[str, ...]:
    """The commits of `there`, latest first, that are neither ours nor in the protected branch. Raises `errors.GitFailed`."""
    listed = await git(source, "rev-list", there, "--not", protected, "--")
    return tuple(commit for commit in listed.split() if commit not in ours)


async def rebase_own_commits(source: Path, *, tip: str, there: str, protected: str, own: OwnCommits) -> str:
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
