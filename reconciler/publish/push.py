"""Pushes the stack's branch to a remote, so that it can be reviewed where pull requests are.

Only commits that were checked are pushed, and nobody's work is overwritten: the remote's branch is replaced only if what it points to
is ours, and only while it still points there.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import GitFailed
from reconciler.publish.git import checked_tip, git
from reconciler.publish.own_commits import OwnCommits

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
_RUNS = r"^(credential\..*|core\.(sshcommand|askpass|gitproxy)|remote\..*\.(vcs|receivepack|uploadpack))$"
"""Keys of a configuration that make a push run a program."""
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
        """Make the remote's branch point to ours; returns our branch's commit, empty if there is none.

        `recorded` are the commits that the ledger says are ours. Raises `errors.GitFailed` and `errors.ForeignCommit`; the local branch
        stays as it is.
        """
        tip = await checked_tip(
            source=self.source, worktree=self.worktree, name=self.branch, protected=self.protected, recorded=recorded
        )
        if tip:
            await self._refuse_programs()
            on_disk = await self._is_on_disk()
            there = await self._there(on_disk=on_disk)
            if there != tip:
                await self._send(tip, there, lease=await self._lease(tip, there, recorded), on_disk=on_disk)
        return tip

    @property
    def _ref(self) -> str:
        return f"refs/heads/{self.branch}"

    async def _is_on_disk(self) -> bool:
        url = (await git(self.source, "remote", "get-url", "--push", "--", self.name)).strip()
        return url.startswith(("/", "./", "../", "file://"))

    async def _there(self, *, on_disk: bool) -> str:
        listed = await self._git("ls-remote", "--", self.name, self._ref, on_disk=on_disk)
        return next((row.split()[0] for row in listed.splitlines() if row.endswith(f"\t{self._ref}")), "")

    async def _lease(self, tip: str, there: str, recorded: Collection[str]) -> bool:
        """Whether the remote's branch may be replaced. Raises `GitFailed` if it has commits of others that ours does not contain."""
        own = OwnCommits(path=self.worktree.with_name(f"{self.worktree.name}.commits")).all()
        if not there or there in own or there in recorded:
            return True
        if await self._contains(tip, there):
            return False
        message = (
            f"The branch {self.branch} of the remote {self.name} has commits that Sentinel did not make ({there[:12]}), so it was not "
            "pushed, and nothing there was changed. All commits are kept here. Merge that branch or delete it; then it is pushed."
        )
        raise GitFailed(message)

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

    async def _refuse_programs(self) -> None:
        """Raise `GitFailed` if the repository's own configuration would make a push run a program with our rights."""
        try:
            found = await git(self.source, "config", "--show-scope", "--includes", "--name-only", "--get-regexp", _RUNS)
        except GitFailed:
            return  # git ends with 1 if no key matches
        rows: Sequence[list[str]] = [row.split() for row in found.splitlines()]
        if local := [name for scope, name in rows if scope in {"local", "worktree"}]:
            message = (
                f"The configuration of the repository at {self.source} sets {', '.join(local)}, which would run a program when "
                f"{self.branch} is pushed, so it was not pushed. Set it in the configuration of the user that runs Sentinel instead."
            )
            raise GitFailed(message)

    async def _git(self, *argv: str, on_disk: bool) -> str:
        settings = (*_OPTIONS, "protocol.file.allow=always") if on_disk else _OPTIONS
        options = [part for setting in settings for part in ("-c", setting)]
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return await git(self.source, *options, *argv, environment=passed, seconds=_SECONDS)
