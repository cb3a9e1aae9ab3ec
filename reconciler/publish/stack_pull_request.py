"""Keeps one open pull request for a stack as its branch and the ledger say it should be.

Nothing about it is remembered: each round compares the branch with GitHub and does what is missing. So a process that is killed between any
two steps, or a request without an answer, loses nothing and repeats nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from gateway.core.model.ids import digest_id
from gateway.core.ports import Clock, EventLedger
from gateway.core.records.record import Record
from gateway.core.records.write_backs import ProposedBody
from reconciler.publish.codeowners import Owners, owners_of, read_rules
from reconciler.publish.github import Forge, GitHubApi, PullRequest
from reconciler.publish.pull_request_text import (
    WriteBack,
    asked_in,
    comments_of,
    description_of,
    intent_comment,
    intent_marker,
    keys_in,
    outside_changes_among,
    title_of,
    with_section,
)
from reconciler.publish.push import Remote
from reconciler.publish.unmerged import changed_files, codeowners_text, unmerged_write_backs
from reconciler.publish.write_backs import WriteBacks
from reconciler.suggest.question import NameIntent

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPullRequest:
    """The pull request of one stack."""

    stack: str
    remote: Remote
    api: GitHubApi
    repository: str
    """`owner/name` at GitHub."""
    base: str
    """The branch at GitHub that it is to be merged into."""
    stories: WriteBacks
    events: EventLedger
    clock: Clock
    ask_reviewers: bool = True
    namer: NameIntent | None = None
    """Finds words for a burst of changes from outside; None: nothing is said about them but what is recorded."""
    named: set[str] = field(default_factory=set)
    """Bursts that this process asked about, so that one without an answer costs its tokens once."""

    async def propose(self, published: str) -> None:
        """Make GitHub's pull request fit the branch that was pushed as `published`; with nothing new in it, close what is open.

        Raises `errors.GitHubFailed`, `errors.GitFailed`, `gateway.core.errors.LedgerUnavailable`; what was done until then stays.
        """
        keys = await self._pending(published)
        forge = Forge(api=self.api, repository=self.repository)
        login = await forge.login()
        known = await forge.of_branch(self.remote.branch)
        current, extra = _chosen([each for each in known if each.is_open], login, self.base)
        for each in extra:
            await self._close(forge, each, login, f"#{current.number} takes its place." if current else _NOTHING)
        if not keys:
            if current is not None and _is_ours(current, login):
                await self._close(forge, current, login, _NOTHING)
            return
        written = [await self.stories.of(key) for key in keys]
        if current is None:
            current = await self._open(forge, known, written, published)
        if current is not None:
            await self._bring_up_to_date(forge, current, login, written, published)

    async def failed(self, published: str, reason: str) -> None:
        """Record once why the branch could not be proposed as it is. Raises `gateway.core.errors.LedgerUnavailable`."""
        await self._record("failed", digest=(published, reason), commit=published, reason=reason)

    async def _pending(self, published: str) -> tuple[str, ...]:
        """What there is to propose; nothing if the changes cancel each other out."""
        if not published or not await changed_files(self.remote.source, published, self.remote.protected):
            return ()
        return await unmerged_write_backs(self.remote.source, published, self.remote.protected)

    async def _open(
        self, forge: Forge, known: Sequence[PullRequest], written: Sequence[WriteBack], published: str
    ) -> PullRequest | None:
        """A new pull request; None while a person has closed the last one and nothing was added since."""
        if known and not known[0].merged and known[0].head == published:
            await self._record(
                "declined",
                known[0],
                commit=published,
                reason="It was closed without a merge. The next change is proposed again.",
            )
            return None
        section = description_of(self.stack, written, rebased_upon=(), asked=(), emails=())
        opened = await forge.open(
            branch=self.remote.branch, base=self.base, title=title_of(self.stack, written), body=section
        )
        if opened is not None:
            log.info("pull_request_opened", stack=self.stack, url=opened.url, changes=len(written))
        return opened

    async def _bring_up_to_date(
        self, forge: Forge, current: PullRequest, login: str, written: Sequence[WriteBack], published: str
    ) -> None:
        comments = await forge.comments(current.number, login)
        told = keys_in(comments)
        for comment in comments_of([each for each in written if each.key not in told]):
            await forge.comment(current.number, comment)
        await self._name_intent(forge, current, comments, written)
        owners, asked = await self._ask(forge, current, login, published)
        foreign = await self.remote.foreign(published, self.stories.commits)
        section = description_of(self.stack, written, rebased_upon=foreign, asked=asked, emails=owners.emails)
        wanted = {
            "title": title_of(self.stack, written),
            "body": with_section(current.body, section),
            "base": self.base,
        }
        now = {"title": current.title, "body": current.body, "base": current.base}
        # GitHub stores line ends as it likes.
        if changed := {name: text for name, text in wanted.items() if text.split() != now[name].split()}:
            await forge.change(current.number, **changed)
        await self._record(
            "open",
            current,
            commit=published,
            mutations=tuple(each.key for each in written),
            reviewers=tuple(sorted(asked)),
        )

    async def _name_intent(
        self, forge: Forge, current: PullRequest, comments: Sequence[str], written: Sequence[WriteBack]
    ) -> None:
        """Add a model's words for a burst of changes from outside, once for each burst. They only stand there: nothing reads them."""
        burst, marker = outside_changes_among(written), intent_marker(written)
        if self.namer is None or not burst or marker in self.named:
            return
        if any(comment.startswith(marker) for comment in comments):
            return
        self.named.add(marker)
        if (words := await self.namer(burst)) is not None:
            await forge.comment(current.number, intent_comment(marker, len(burst), words))

    async def _ask(
        self, forge: Forge, current: PullRequest, login: str, published: str
    ) -> tuple[Owners, frozenset[str]]:
        """Ask the owners of the changed files who were not asked yet; who owns them, and everyone who was asked.

        Someone who was asked once is not asked again, whatever became of it.
        """
        asked = asked_in(current.body)
        if not self.ask_reviewers:
            return Owners(), asked
        source, protected = self.remote.source, self.remote.protected
        rules = read_rules(await codeowners_text(source, protected))
        owners = owners_of(rules, await changed_files(source, published, protected))
        own = {login.lower(), current.author.lower()}
        users = tuple(name for name in owners.users if name not in asked and name.lower() not in own)
        teams = tuple(name for name in owners.teams if name not in asked)
        refused = await forge.ask(current.number, Owners(users=users, teams=teams))
        if refused:
            log.warning("reviewers_refused", stack=self.stack, url=current.url, reviewers=list(refused))
        return owners, asked.union(users, teams)

    async def _close(self, forge: Forge, current: PullRequest, login: str, why: str) -> None:
        marker = f"<!-- sentinel:closed {current.head} -->"
        if not any(comment.startswith(marker) for comment in await forge.comments(current.number, login)):
            await forge.comment(current.number, f"{marker}\n{why}")
        await forge.change(current.number, state="closed")
        log.info("pull_request_closed", stack=self.stack, url=current.url, reason=why)
        await self._record("closed", current, commit=current.head, reason=why)

    async def _record(
        self, state: str, current: PullRequest | None = None, digest: tuple[str, ...] = (), **members: Any
    ) -> None:
        """Append PROPOSED, once for each state of each commit."""
        number = current.number if current else 0
        body = ProposedBody(
            state=state,
            repository=self.repository,
            branch=self.remote.branch,
            base=self.base,
            number=number or None,
            url=current.url if current else "",
            **members,
        )
        parts = (self.repository, self.remote.branch, str(number), state, *(digest or (str(members.get("commit")),)))
        record = Record(
            at=self.clock.now(),
            mutation_id=digest_id("prp", *parts),
            stack=self.stack,
            body=body,
        )
        await self.events.record_event(record)


_NOTHING = (
    "The protected branch has all of it, or the changes cancel each other out, so there is nothing left to merge."
)


def _chosen(found: Sequence[PullRequest], login: str, base: str) -> tuple[PullRequest | None, tuple[PullRequest, ...]]:
    """The open pull request to keep, ours before others' and the right base before another, and our others."""
    ranked = sorted(found, key=lambda each: (not _is_ours(each, login), each.base != base, each.number))
    extra = tuple(each for each in ranked[1:] if _is_ours(each, login))
    return (ranked[0] if ranked else None), extra


def _is_ours(found: PullRequest, login: str) -> bool:
    return found.author.lower() == login.lower() if login else found.author.endswith("[bot]")
