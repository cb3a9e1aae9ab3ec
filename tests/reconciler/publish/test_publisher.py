"""A push follows each new commit; one that fails is tried again and neither stops nor ends with the service."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from reconciler.changes.backlog import Backlog
from reconciler.errors import GitFailed
from reconciler.publish.publisher import Publisher
from reconciler.publish.push import Remote
from reconciler.retry import Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeRemote(Remote):
    """A remote that notes with which commits it was pushed to, and fails while `down` holds a reason."""

    pushes: list[frozenset[str]] = field(default_factory=list)
    down: list[str] = field(default_factory=list)
    stuck: bool = False

    async def push(self, recorded: Collection[str] = ()) -> str:
        self.pushes.append(frozenset(recorded))
        if self.stuck:
            await asyncio.Event().wait()
        if self.down == ["odd"]:
            raise KeyError("what GitHub said")
        if self.down:
            raise GitFailed(self.down[0])
        return "c0ffee"


@pytest.fixture
def remote(tmp_path: Path) -> FakeRemote:
    return FakeRemote(name="origin", source=tmp_path, worktree=tmp_path, branch="sentinel/shop")


def _pushing(remote: FakeRemote) -> Publisher:
    return Publisher(stack="shop", remote=remote, backlog=Backlog(stack="shop"))


async def test_it_pushes_once_at_the_start_and_once_for_new_commits(remote: FakeRemote) -> None:
    pushing = _pushing(remote)
    assert [await pushing.push_once() for _ in range(3)] == [True, False, False]
    pushing.backlog.commits |= {"a", "b"}
    pushing.window_seconds = 300
    assert not await pushing.push_once(), "more may follow"
    pushing.window_seconds = 0
    assert [await pushing.push_once() for _ in range(3)] == [True, False, False]
    assert remote.pushes == [frozenset(), frozenset({"a", "b"})]


@pytest.mark.parametrize("failure", ["unreachable", "odd"])
async def test_a_failure_waits_and_is_made_good(remote: FakeRemote, failure: str) -> None:
    pushing = _pushing(remote)
    remote.down.append(failure)
    assert [await pushing.push_once() for _ in range(3)] == [False, False, False]
    assert (len(remote.pushes), pushing.retry.count) == (1, 1)
    remote.down.clear()
    pushing.retry.again_at = 0
    assert await pushing.push_once()
    assert (len(remote.pushes), pushing.retry) == (2, Retry())


async def test_it_looks_again_without_a_change_only_if_that_is_wanted(remote: FakeRemote) -> None:
    pushing = _pushing(remote)
    pushing.look_seconds = 300
    assert [await pushing.push_once() for _ in range(2)] == [True, False]
    pushing.looked_at -= 301
    assert [await pushing.push_once() for _ in range(2)] == [True, False]


async def test_a_remote_that_never_answers_does_not_hold_up_the_end(remote: FakeRemote) -> None:
    stuck = _pushing(replace(remote, stuck=True))
    stop = asyncio.Event()
    running = asyncio.ensure_future(stuck.run(0.01, stop))
    while not remote.pushes:  # noqa: ASYNC110  nothing signals a push
        await asyncio.sleep(0.01)
    stop.set()
    await asyncio.wait_for(running, 300)


async def test_an_error_that_nobody_foresaw_does_not_end_it(
    remote: FakeRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing, stop = _pushing(remote), asyncio.Event()
    push = FakeRemote.push

    async def breaks_first(self: FakeRemote, recorded: Collection[str] = ()) -> str:
        monkeypatch.setattr(FakeRemote, "push", push)
        pushing.retry.again_at = 0
        raise AttributeError("an odd answer")

    monkeypatch.setattr(FakeRemote, "push", breaks_first)
    monkeypatch.setattr(Retry, "due", True)
    running = asyncio.ensure_future(pushing.run(0.01, stop))
    while not remote.pushes and not running.done():  # noqa: ASYNC110  nothing signals a push
        await asyncio.sleep(0.01)
    stop.set()
    await asyncio.wait_for(running, 300)
    assert remote.pushes
