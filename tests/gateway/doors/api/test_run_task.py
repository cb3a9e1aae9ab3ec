"""The run task between its door and HCP Terraform: who, which stack, how many at once, and what failures come to."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.doors.api.run_task import MOST_AT_ONCE, HcpRunTask
from gateway.errors import NotFound, Overloaded
from gateway.model.caller import ActorKind
from gateway.model.inbound import Inbound
from gateway.ports import Key
from gateway.settings_run_task import RunTaskSettings
from tests.kit.doubles import NOW, FixedClock
from tests.kit.hcp import KEY, HcpStub, signed


@dataclass
class Host:
    """A host whose plan arrives when `go` is set."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    results: list[dict[str, Any]] = field(default_factory=list)

    async def plan(self, url: str, token: str) -> bytes:
        """Wait, then break."""
        await self.go.wait()
        raise RuntimeError(f"{url} {token}")

    async def report(self, url: str, token: str, document: dict[str, Any]) -> None:
        """Keep the result."""
        self.results.append(document["data"]["attributes"])


class Nothing:
    """A ledger without records, and a key ring without keys."""

    async def records(self, _: Any) -> list[Any]:
        """None."""
        return []

    async def find(self, _: str) -> None:
        """None."""
        return


def task(host: Host, *, keys: Any = None, **settings: Any) -> HcpRunTask:
    """A run task with doubles around it."""
    nothing: Any = Nothing()
    given = {"hmac_key": KEY, "key_id": "SNTL1", "hosts": ["127.0.0.1:8080"], **settings}
    return HcpRunTask(
        settings=RunTaskSettings.model_validate(given),
        host=host,
        plans=nothing,
        keys=keys or nothing,
        queries=nothing,
        clock=FixedClock(),
        stacks=["kafka", "kafka-prod"],
    )


def inbound(number: int = 0, **members: Any) -> Inbound:
    """A signed request."""
    body, headers = signed(HcpStub(port=8080).request(f"taskrs-{number}", **members))

    async def read() -> bytes:
        return body

    lower = tuple((name.lower(), value) for name, value in headers.items())
    return Inbound(method="POST", target="/v1/run-tasks/hcp", headers=lower, read_body=read, received_at=NOW)


async def settled(made: HcpRunTask, host: Host, count: int) -> None:
    """Wait until so many results were reported."""
    async with asyncio.timeout(300):
        while len(host.results) < count:  # noqa: ASYNC110  a double that only counts
            await asyncio.sleep(0.01)
    await made.close()


async def test_a_key_that_has_ended_judges_nothing() -> None:
    host = Host()
    made = task(host)
    assert await made.take(inbound()) == "taken"
    await settled(made, host, 1)
    assert (host.results[0]["status"], "run_task.key_id" in host.results[0]["message"]) == ("failed", True)


class Keys(Nothing):
    """A key ring with one key."""

    async def find(self, _: str) -> Any:
        """A pipeline's key."""
        return Key(id="SNTL1", secret="s", actor="terraform", kind=ActorKind.PIPELINE)


async def test_an_unexpected_failure_is_a_failed_result_without_details() -> None:
    host = Host()
    made = task(host, keys=Keys())
    await made.take(inbound())
    host.go.set()
    await settled(made, host, 1)
    assert host.results == [{"status": "failed", "message": "Sentinel had an internal error, so the plan was not judged; its log says more."}]  # fmt: skip


async def test_only_a_few_are_judged_at_once_and_none_twice() -> None:
    host = Host()
    made = task(host, keys=Keys())
    for number in range(MOST_AT_ONCE):
        assert await made.take(inbound(number)) == "taken"
    assert await made.take(inbound(0)) == "repeated"
    with pytest.raises(Overloaded, match="asks again"):
        await made.take(inbound(99))
    host.go.set()
    await settled(made, host, MOST_AT_ONCE)


async def test_without_a_key_there_is_no_run_task() -> None:
    with pytest.raises(NotFound, match="is not set"):
        await task(Host(), hmac_key="").take(inbound())


@pytest.mark.parametrize(
    ("settings", "workspace", "stack"),
    [
        ({}, "kafka-prod", "kafka-prod"),
        ({}, "other", ""),
        ({"stacks": {"acme/kafka-prod": "kafka"}}, "kafka-prod", "kafka"),
        ({"stacks": {"other": "kafka"}}, "other", "kafka"),
        ({"stacks": {"umbrella/other": "kafka"}}, "other", ""),
    ],
)
async def test_the_stack_of_a_workspace(settings: dict[str, Any], workspace: str, stack: str) -> None:
    asked: list[str] = []

    class Plans:
        async def check(self, *_: Any, **named: Any) -> None:
            asked.append(named["stack"])
            raise NotFound("Enough.")

    class Serves(Host):
        async def plan(self, url: str, token: str) -> bytes:
            return b'{"format_version": "1.2"}'

    host = Serves()
    made = task(host, keys=Keys(), **settings)
    made.plans = Plans()  # type: ignore[assignment]  # a double
    await made.take(inbound(workspace_name=workspace))
    await settled(made, host, 1)
    assert (asked, host.results[0]["message"]) == ([stack], "Enough.")
