"""One pull request for a stack, however often the process dies, GitHub fails, people push, close or merge."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.core.model.ids import digest_id
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.core.settings import SuggestSettings
from gateway.core.times import SystemClock
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.errors import GitFailed, GitHubBusy
from reconciler.publish.branch import open_branch
from reconciler.publish.github import GitHubApi, Token
from reconciler.publish.publisher import Publisher
from reconciler.publish.pull_request_text import keys_in
from reconciler.publish.push import Remote
from reconciler.publish.stack_pull_request import StackPullRequest
from reconciler.publish.write_backs import WriteBacks
from reconciler.suggest.from_settings import open_namer
from reconciler.suggest.question import NameIntent
from tests.kit.bodies import sample_record, written_back
from tests.kit.github import REPOSITORY, TOKEN, GitHubDouble
from tests.kit.messages_api import MessagesApi, messages_api

pytestmark = pytest.mark.enable_socket
Git = Callable[..., str]
Apply = Callable[..., Awaitable[str]]
BRANCH = "sentinel/shop"
_STEPS = 9
"""More requests than the first proposal takes."""


@dataclass(kw_only=True)
class Shop:
    """A stack whose branch is proposed at the double."""

    hub: GitHubDouble
    ledger: SqlLedger
    applied: Apply
    stack: Path
    bare: Path
    tmp_path: Path
    git: Git
    backlog: Backlog
    written: int = 0

    async def write_back(self, value: int) -> str:
        """Apply a mutation and commit it, as the line does; its id."""
        self.written += 1  # a claim stands on the attribute of each
        mutation = await self.applied((f"aws_sqs_queue.q{self.written}", "delay_seconds", 0, value))
        branch = await self._branch()
        commit = await branch.commit(
            {Path("main.tf"): f"locals {{\n  a = {value}\n}}\n".encode()},
            f"Now {value}\n\nSentinel-Mutation: {mutation}\n",
        )
        edits = [{"address": "aws_sqs_queue.a", "attribute": "delay_seconds", "value": value, "path": "main.tf"}]
        body: dict[str, Any] = {
            "commit": commit,
            "edits": edits,
            "proofs": [{"name": "plan_clean", "held": True}],
            "files": ["main.tf"],
        }
        await self.ledger.record_reconciliation(mutation, at=SystemClock().now(), body=written_back(body))
        await self.backlog.read(self.ledger)
        return mutation

    async def codify(self, value: int) -> str:
        """Record a change from outside that is proposed for the code, and commit it, as the service does; its id."""
        self.written += 1
        drift, address = digest_id("fgn", str(self.written)), f"aws_sqs_queue.q{self.written}"
        await self._record(Stage.DRIFTED, drift, {
            "address": address, "attribute": "delay_seconds", "resource_type": "aws_sqs_queue", "live": value, "declared": 0, "sensitive": False,
            "origin": {"actor": "ada", "event": "sqs:SetQueueAttributes", "at": "2026-11-22T12:00:00+00:00", "event_id": "e", "service": False},
        })  # fmt: skip
        branch = await self._branch()
        code = {Path("main.tf"): f"locals {{\n  a = {value}\n}}\n".encode()}
        commit = await branch.commit(code, f"Now {value}\n\nSentinel-Mutation: {drift}\n")
        settled = {"outcome": "codified", "reason": "", "address": address, "attribute": "delay_seconds", "commit": commit, "files": ["main.tf"]}  # fmt: skip
        await self._record(Stage.DRIFT_SETTLED, drift, settled)
        self.backlog.commits.add(commit)
        return drift

    async def _record(self, stage: Stage, drift: str, body: dict[str, Any]) -> None:
        record = sample_record(stage=stage, at=SystemClock().now(), mutation_id=drift, stack="shop", body=body)
        await self.ledger.record_event(record, resources=[(body["address"], body["attribute"])])

    async def _branch(self) -> Any:
        return await open_branch(
            source=self.stack,
            worktree=self.tmp_path / "worktree",
            name=BRANCH,
            recorded=frozenset(self.backlog.commits),
        )

    def pushing(self, namer: NameIntent | None = None) -> Publisher:
        """As a new process makes it."""
        remote = Remote(name="origin", source=self.stack, worktree=self.tmp_path / "worktree", branch=BRANCH)
        proposing = StackPullRequest(
            stack="shop",
            remote=remote,
            api=GitHubApi(url=self.hub.url, token=Token(file=self.tmp_path / "token"), seconds=300),
            repository=REPOSITORY,
            base="main",
            stories=WriteBacks(queries=self.ledger, backlog=self.backlog),
            events=self.ledger,
            clock=SystemClock(),
            namer=namer,
        )
        return Publisher(stack="shop", remote=remote, backlog=self.backlog, proposing=proposing)

    async def records(self) -> list[Record]:
        """PROPOSED, oldest first."""
        return list(await self.ledger.records(RecordQuery(stage=Stage.PROPOSED, newest_first=False)))

    def head(self, branch: str = BRANCH) -> str:
        """The commit of a branch at the remote; empty if there is none."""
        return self.git(self.bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}").strip()

    def merge(self) -> None:
        """Squash what is proposed into the protected branch, as people do elsewhere."""
        text = self.git(self.stack, "log", "--format=%B", f"HEAD..{BRANCH}")
        self.git(self.stack, "merge", "--quiet", "--squash", BRANCH)
        self.git(self.stack, "commit", "--quiet", "-m", f"Squashed\n\n{text}")


@pytest.fixture
async def shop(repository: Path, tmp_path: Path, git: Git, ledger: SqlLedger, applied: Apply) -> AsyncIterator[Shop]:
    (tmp_path / "token").write_text(TOKEN)
    bare = tmp_path / "origin.git"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    git(repository, "remote", "add", "origin", str(bare))
    top = repository.parent.parent
    (top / "CODEOWNERS").write_text(
        "* @bob @sentinel-bot\n/infra/ @bob @sentinel-bot @acme/platform @stranger ops@acme.example\n"
    )
    git(top, "add", "-A")
    git(top, "commit", "--quiet", "-m", "owners")
    async with GitHubDouble().serving() as hub:
        shop = Shop(
            hub=hub,
            ledger=ledger,
            applied=applied,
            stack=repository,
            bare=bare,
            tmp_path=tmp_path,
            git=git,
            backlog=Backlog(stack="shop"),
        )
        hub.head_of = shop.head
        yield shop


@pytest.mark.slow
async def test_a_burst_is_one_proposal_with_its_stories_and_reviewers(shop: Shop) -> None:
    ids = {await shop.write_back(value) for value in (2, 3, 4)}
    pushing = shop.pushing()
    assert await pushing.push_once()

    [pull] = shop.hub.open
    assert pull["head"]["sha"] == shop.head()
    assert pull["title"] == "shop: write back 3 changes that were applied"
    assert keys_in(shop.hub.texts(1)) == ids
    assert len(shop.hub.texts(1)) == 1
    assert "`agent-scaler`" in shop.hub.texts(1)[0]
    assert shop.hub.reviewers[1] == {"bob", "platform"}
    assert "`ops@acme.example`" in pull["body"]
    [record] = await shop.records()
    assert record.body.members["state"] == "open"
    told = record.body.members["mutations"]
    assert isinstance(told, list)
    assert set(told) == ids
    assert await shop.ledger.verify() > 0


@pytest.mark.slow
async def test_a_models_words_for_a_burst_from_outside_are_said_once_and_change_nothing_else(shop: Shop) -> None:
    answer = {"intent": "cost", "summary": "Queues wait longer."}

    def namer(api: MessagesApi) -> NameIntent | None:
        settings = SuggestSettings(key=SecretStr("sk-test"), endpoint=api.url)
        return open_namer(settings, shop.tmp_path / "suggest", SystemClock())

    async with messages_api(answer, 529, answer) as api:
        await shop.write_back(2)
        await shop.codify(3)
        assert await shop.pushing(namer(api)).push_once()
        assert api.asked == [], "one change from outside is no burst"
        await shop.codify(4)
        for _ in range(2):
            assert await shop.pushing(namer(api)).push_once()
        words = [text for text in shop.hub.texts(1) if "Queues wait longer." in text]
        assert (len(words), len(api.asked)) == (1, 1)
        assert "a language model's words" in words[0]
        await shop.codify(5)
        failing = shop.pushing(namer(api))
        assert await failing.push_once()
        assert failing.proposing is not None
        await failing.proposing.propose(shop.head())
        assert len(api.asked) == 2, "a burst without an answer is asked about once"
    assert not any("Queues wait longer." in text for text in (shop.hub.open[0]["body"], shop.hub.open[0]["title"]))
    assert not any("Queues wait longer." in str(record.body) for record in await shop.ledger.records(RecordQuery()))


@pytest.mark.slow
async def test_later_changes_bring_it_up_to_date_in_place(shop: Shop) -> None:
    first = await shop.write_back(2)
    pushing = shop.pushing()
    await pushing.push_once()
    shop.hub.pulls[0]["body"] = f"Read me first.\r\n\r\n{shop.hub.pulls[0]['body']}"
    shop.hub.reviewers.clear()
    second = await shop.write_back(3)
    assert await pushing.push_once()

    [pull] = shop.hub.open
    assert pull["head"]["sha"] == shop.head()
    assert pull["body"].startswith("Read me first.")
    assert [keys_in([text]) for text in shop.hub.texts(1)] == [{first}, {second}]
    assert shop.hub.reviewers == {}, "a reviewer who was taken off stays off"
    assert [record.body.members["state"] for record in await shop.records()] == ["open", "open"]


@pytest.mark.slow
async def test_nothing_new_sends_nothing_but_questions(shop: Shop) -> None:
    await shop.write_back(2)
    await shop.pushing().push_once()
    asked = len(shop.hub.asked)
    assert await shop.pushing().push_once()
    assert {request.partition(" ")[0] for request in shop.hub.asked[asked:]} == {"GET"}
    assert len(await shop.records()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", "unanswered", "broken"])
@pytest.mark.parametrize("step", range(_STEPS))
async def test_a_process_that_dies_at_any_step_loses_and_repeats_nothing(shop: Shop, step: int, fault: str) -> None:
    """What a request without an answer did is not known, as after a kill between any two steps; a new process goes on."""
    ids = {await shop.write_back(value) for value in (2, 3)}
    # A GET is asked again by the HTTP client itself, so two in a row fail.
    shop.hub.faults = {step: fault, step + 1: fault} if fault != "broken" else {step: fault}
    done = await shop.pushing().push_once()
    shop.hub.faults = {}
    if not done:
        [failed] = await shop.records()
        assert failed.body.members["state"] == "failed"
        assert await shop.pushing().push_once()
    [pull] = shop.hub.pulls
    assert pull["state"] == "open"
    assert len(shop.hub.texts(1)) == 1
    assert keys_in(shop.hub.texts(1)) == ids
    assert shop.hub.reviewers[1] == {"bob", "platform"}
    assert [record.body.members["state"] for record in await shop.records()][-1] == "open"


async def test_a_rate_limit_is_waited_for_and_is_no_failure(shop: Shop) -> None:
    await shop.write_back(2)
    shop.hub.faults = {0: "busy"}
    pushing = shop.pushing()
    assert not await pushing.push_once()
    assert pushing.retry.count == 1
    assert await shop.records() == []
    pushing.retry.again_at = 0
    assert await pushing.push_once()
    assert len(shop.hub.open) == 1
    assert GitHubBusy.wanting("GET /", 7).wait_seconds == 7


@pytest.mark.slow
async def test_it_is_closed_when_it_was_merged_by_other_ways(shop: Shop) -> None:
    await shop.write_back(2)
    await shop.pushing().push_once()
    shop.merge()
    assert await shop.pushing().push_once()
    assert shop.hub.open == []
    assert "nothing left to merge" in shop.hub.texts(1)[-1]
    assert [record.body.members["state"] for record in await shop.records()] == ["open", "closed"]
    asked = len(shop.hub.asked)
    await shop.pushing().push_once()
    assert {request.partition(" ")[0] for request in shop.hub.asked[asked:]} == {"GET"}


@pytest.mark.slow
async def test_it_is_closed_when_its_changes_cancel_each_other_out(shop: Shop) -> None:
    await shop.write_back(2)
    await shop.pushing().push_once()
    await shop.write_back(1)
    assert await shop.pushing().push_once()
    assert shop.hub.open == []


@pytest.mark.slow
async def test_one_that_people_closed_is_opened_again_only_with_something_new(shop: Shop) -> None:
    await shop.write_back(2)
    await shop.pushing().push_once()
    shop.hub.pulls[0]["state"] = "closed"
    assert await shop.pushing().push_once()
    assert shop.hub.open == []
    assert [record.body.members["state"] for record in await shop.records()] == ["open", "declined"]
    await shop.write_back(3)
    assert await shop.pushing().push_once()
    assert [pull["number"] for pull in shop.hub.open] == [2]


async def test_never_more_than_one_of_ours_is_open_and_that_of_a_person_stays(shop: Shop) -> None:
    await shop.write_back(2)
    shop.hub.add(BRANCH, author="sentinel-bot", base="old")
    shop.hub.add(BRANCH, author="sentinel-bot")
    shop.hub.add(BRANCH, author="ada", base="release")
    await shop.pushing().push_once()
    assert [(pull["number"], pull["base"]["ref"]) for pull in shop.hub.open] == [(2, "main"), (3, "release")]
    assert "#2 takes its place." in shop.hub.texts(1)[-1]


@pytest.mark.slow
async def test_a_pull_request_of_a_person_is_used_and_not_closed(shop: Shop) -> None:
    await shop.write_back(2)
    shop.hub.add(BRANCH, author="ada", body="Mine.")
    await shop.pushing().push_once()
    [pull] = shop.hub.pulls
    assert pull["body"].startswith("Mine.\n\n<!-- sentinel:begin")
    shop.merge()
    await shop.pushing().push_once()
    assert pull["state"] == "open"


@pytest.mark.slow
async def test_commits_of_people_are_kept_and_named(shop: Shop) -> None:
    await shop.write_back(2)
    await shop.pushing().push_once()
    clone = shop.tmp_path / "clone"
    shop.git(shop.tmp_path, "clone", "--quiet", "--branch", BRANCH, str(shop.bare), str(clone))
    (clone / "NOTE.md").write_text("hello\n")
    shop.git(clone, "add", "-A")
    shop.git(clone, "commit", "--quiet", "-m", "A note")
    shop.git(clone, "push", "--quiet", "origin", f"HEAD:{BRANCH}")
    theirs = shop.head()
    await shop.write_back(3)
    assert await shop.pushing().push_once()
    assert shop.git(shop.bare, "rev-parse", f"{BRANCH}^").strip() == theirs
    assert theirs[:12] in shop.hub.open[0]["body"]


async def test_a_proposal_that_cannot_be_pushed_is_recorded_once(shop: Shop) -> None:
    await shop.write_back(2)
    pushing = shop.pushing()
    broken = replace(pushing.remote, name="nowhere")
    for _ in range(2):
        pushing = replace(shop.pushing(), remote=broken)
        assert not await pushing.push_once()
    [record] = await shop.records()
    assert (record.body.members["state"], record.body.members.get("number")) == ("failed", None)
    with pytest.raises(GitFailed):
        await broken.push()


@pytest.mark.slow
async def test_without_reviewers_wanted_nobody_is_asked(shop: Shop) -> None:
    await shop.write_back(2)
    pushing = shop.pushing()
    assert pushing.proposing is not None
    pushing.proposing = replace(pushing.proposing, ask_reviewers=False)
    await pushing.push_once()
    assert shop.hub.reviewers == {}
