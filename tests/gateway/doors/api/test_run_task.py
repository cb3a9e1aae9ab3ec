"""The run task between its door and HCP Terraform: who, which stack, how many at once, and what failures come to."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated, NotFound, Overloaded
from gateway.core.model.caller import ActorKind
from gateway.core.model.inbound import Inbound
from gateway.core.ports import Key
from gateway.core.settings.run_task import RunTaskSettings
from gateway.doors.api.run_task import (
    MOST_AT_ONCE,
    SMALL,
    HcpRunTask,
    answer_of,
    failed_result,
    read_apart,
    read_request,
    require_listed,
    result_of,
    verify_signature,
)
from gateway.plans.document import read_plan
from tests.gateway.plans.test_document import document, entry
from tests.kit.doubles import NOW, FixedClock
from tests.kit.hcp import KEY, HcpStub, signed
from tests.kit.plan_reports import finding, report


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


CHANGE = entry("aws_db_instance.a", ["update"], {}, {"allocated_storage": 5, "password": "hunter2-plain"})
PAD = {"variables": {"pad": "x" * SMALL}}


@pytest.mark.slow
async def test_a_large_plan_is_read_as_a_small_one_is() -> None:
    large = document(CHANGE, **PAD)
    assert len(large) > SMALL
    assert await read_apart(large) == read_plan(document(CHANGE)) == await read_apart(document(CHANGE))


@pytest.mark.slow
async def test_why_a_large_plan_is_refused_is_told() -> None:
    with pytest.raises(Malformed, match="could not complete"):
        await read_apart(document(errored=True, **PAD))


async def test_a_process_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(Malformed, match="could not be read; nothing of it was checked"):
        await read_apart(document(CHANGE, **PAD))


def test_the_answer_of_the_process_has_no_secret() -> None:
    assert "hunter2" not in str(answer_of(document(CHANGE)))
    assert answer_of(b"{")["code"] == "malformed"


HOSTS = ("app.terraform.io", "127.0.0.1:8080", "10.0.0.1")


def test_the_signature_is_over_the_body_as_it_arrived() -> None:
    body, headers = signed({"a": 1})
    signature = headers["X-Tfc-Task-Signature"]
    verify_signature(body, signature.upper(), KEY)
    for raw, given in ((body + b"\n", signature), (body, None), (body, ""), (body, "é" * 128), (body, signature[:-1])):
        with pytest.raises(NotAuthenticated, match="not signed"):
            verify_signature(raw, given, KEY)


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://app.terraform.io/api/v2/plans/x", True),
        ("https://APP.terraform.io/x", True),
        ("http://127.0.0.1:8080/x", True),
        ("https://127.0.0.1:8080/x", True),
        ("http://app.terraform.io/x", False),
        ("http://10.0.0.1/x", False),
        ("https://app.terraform.io:8443/x", False),
        ("https://app.terraform.io.evil.example/x", False),
        ("https://user@app.terraform.io/x", False),
        ("https://app.terraform.io\\@evil.example/x", False),
        ("https://app.terraform.io/x\r\nHost: evil.example", False),
        ("https://[::1", False),
        ("https://app.terraform.io:x/", False),
        ("//app.terraform.io/x", False),
        ("", False),
    ],
)
def test_only_listed_hosts_are_asked(url: str, listed: bool) -> None:
    if listed:
        require_listed(url, HOSTS)
        return
    with pytest.raises(NotAllowed, match=r"not among `run_task.hosts`"):
        require_listed(url, HOSTS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"payload_version": 2}, "payload_version that this Sentinel does not know"),
        ({"task_result_id": ""}, "no task_result_id"),
        ({"task_result_callback_url": ""}, "no task_result_id or no task_result_callback_url"),
        ({"access_token": ""}, "access_token"),
        ({"stage": ["x"]}, "stage"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    raw = json.dumps(HcpStub(port=8080).request(**changes)).encode()
    with pytest.raises(Malformed, match=sentence):
        read_request(raw, HOSTS)


def test_members_of_newer_versions_are_ignored() -> None:
    request = read_request(json.dumps(HcpStub(port=8080).request(brand_new=1)).encode(), HOSTS)
    assert (request.has_plan, request.is_test, request.run_id) == (True, False, "run-1")
    assert "token-of-this-run" not in repr(request)


def test_a_failure_is_one_sentence() -> None:
    assert failed_result("No plan.") == {
        "data": {"type": "task-results", "attributes": {"status": "failed", "message": "No plan."}}
    }


def test_each_objection_is_an_outcome_with_a_level() -> None:
    data = result_of(report())["data"]
    outcomes = [each["attributes"] for each in data["relationships"]["outcomes"]["data"]]
    assert data["attributes"]["status"] == "failed"
    assert [each["outcome-id"] for each in outcomes] == ["pln_1", "bounds.max-1", "SEN-A002-2", "SEN-A006-3"]
    levels = [each["tags"]["Status"][0]["level"] for each in outcomes[1:]]
    assert levels == ["error", "warning", "error"]
    assert outcomes[3]["tags"]["Resource"][0]["label"] == "the whole plan"


def test_there_are_no_more_outcomes_than_anybody_reads() -> None:
    many = [finding("R1", "deny", "x" * 5000)] * 200
    data = result_of(report(decision={**report()["decision"], "findings": many}))["data"]
    outcomes = data["relationships"]["outcomes"]["data"]
    assert (len(outcomes), len(outcomes[1]["attributes"]["description"])) == (51, 1000)
