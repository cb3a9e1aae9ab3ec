"""Live values are read at most so often, one at a time, within a deadline, and kept; and an answer always says whether they were read."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.context.health import ReadStatus
from gateway.context.live_values import LiveReadThrough, LiveTarget
from gateway.core.errors import UpstreamUnavailable
from gateway.core.model.json import Json
from tests.kit.doubles import NOW

TARGET = LiveTarget(address="aws_sqs_queue.a", resource_type="aws_sqs_queue", recorded={"url": "u"})


@dataclass
class _Moving:
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@dataclass
class _Source:
    """Answers with the number of the read."""

    reads: int = 0
    problem: str = ""
    fails: Exception | None = None
    release: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False

    def supports(self, target: LiveTarget) -> str:
        return self.problem

    async def read(self, target: LiveTarget) -> Mapping[str, Json]:
        self.reads += 1
        self.asked.set()
        await self.release.wait()
        if self.fails:
            raise self.fails
        return {} if self.gone else {"delay_seconds": self.reads}


def _ready() -> _Source:
    source = _Source()
    source.release.set()
    return source


def _values(source: _Source | None, clock: _Moving | None = None, **more: float) -> LiveReadThrough:
    return LiveReadThrough(source=source, clock=clock or _Moving(), **more)  # type: ignore[arg-type]  # numbers


async def test_nothing_is_read_unless_it_is_asked_for() -> None:
    source = _ready()
    values = _values(source)
    answer = await values.of(TARGET, "agent", None)
    assert (answer.status, answer.read_at, source.reads) == (ReadStatus.NOT_READ, None, 0)
    await values.of(TARGET, "agent", 0)
    assert (await values.of(TARGET, "other", None)).values == {"delay_seconds": 1}


async def test_what_is_young_enough_is_not_read_again() -> None:
    source, clock = _ready(), _Moving()
    values = _values(source, clock)
    await values.of(TARGET, "agent", 0)
    clock.at += timedelta(seconds=30)
    assert (await values.of(TARGET, "agent", 60)).values == {"delay_seconds": 1}
    assert (await values.of(TARGET, "agent", 29)).values == {"delay_seconds": 2}


async def test_those_who_ask_at_the_same_time_share_one_read_also_if_one_hangs_up() -> None:
    source = _Source()
    values = _values(source)
    first = asyncio.ensure_future(values.of(TARGET, "a", 0))
    second = asyncio.ensure_future(values.of(TARGET, "b", 0))
    await source.asked.wait()
    first.cancel()
    source.release.set()
    assert (await second).values == {"delay_seconds": 1}
    assert source.reads == 1


async def test_each_caller_has_so_many_reads_a_minute_and_gets_what_is_known() -> None:
    source, clock = _ready(), _Moving()
    values = _values(source, clock, reads_per_minute=2)
    for _ in range(2):
        assert (await values.of(TARGET, "agent", 0)).status is ReadStatus.OK
        clock.at += timedelta(seconds=1)
    refused = await values.of(TARGET, "agent", 0)
    assert (refused.status, refused.values, source.reads) == (ReadStatus.NOT_READ, {"delay_seconds": 2}, 2)
    assert "2 live reads within a minute" in refused.error
    assert (await values.of(TARGET, "other", 0)).status is ReadStatus.OK
    clock.at += timedelta(minutes=1)
    assert (await values.of(TARGET, "agent", 0)).status is ReadStatus.OK


async def test_an_error_and_an_answer_that_is_not_understood_are_failures_with_a_sentence() -> None:
    source, clock = _ready(), _Moving()
    values = _values(source, clock)
    await values.of(TARGET, "agent", 0)
    clock.at += timedelta(seconds=1)
    source.fails = UpstreamUnavailable("AWS did not answer.")
    failed = await values.of(TARGET, "agent", 0)
    assert (failed.status, failed.error) == (ReadStatus.FAILED, "AWS did not answer.")
    assert failed.values == {"delay_seconds": 1}
    source.fails = KeyError("secret-value")
    failed = await values.of(TARGET, "agent", 0)
    assert failed.status is ReadStatus.FAILED
    assert "secret-value" not in failed.error


async def test_a_read_ends_at_the_deadline() -> None:
    failed = await _values(_Source(), deadline_seconds=0.01).of(TARGET, "agent", 0)
    assert (failed.status, failed.error) == (ReadStatus.FAILED, "AWS did not answer within 0.01 s.")


async def test_a_resource_that_is_gone_is_said_to_be() -> None:
    source = _ready()
    source.gone = True
    answer = await _values(source).of(TARGET, "agent", 0)
    assert (answer.status, answer.values) == (ReadStatus.OK, {})
    assert "may be gone" in answer.error


async def test_what_cannot_be_read_says_why() -> None:
    source = _ready()
    source.problem = "Not this type."
    assert (await _values(source).of(TARGET, "agent", 0)).error == "Not this type."
    off = await _values(None).of(TARGET, "agent", 0)
    assert (off.status, source.reads) == (ReadStatus.UNSUPPORTED, 0)


async def test_only_so_many_are_kept() -> None:
    source = _ready()
    values = _values(source, reads_per_minute=10_000)
    for number in range(2_050):
        target = LiveTarget(address=f"aws_sqs_queue.a[{number}]", resource_type="aws_sqs_queue", recorded={})
        await values.of(target, "agent", 0)
    assert len(values._kept) == 2_000
    assert not values._under_way
