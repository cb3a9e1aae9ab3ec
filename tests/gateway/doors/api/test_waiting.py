"""Waiting for a held mutation through a running gateway: woken by the decision, by other gateways too, and never by asking again and again."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.errors import Malformed, NotFound
from gateway.core.records.record import Record, Stage
from gateway.doors.api.mutations import mutation_when_decided, wait_seconds
from gateway.line.wakeups import Wakeups
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def cancel_replay(gate: Gate, name: str, actor: str = "agent") -> dict[str, Any]:
    """Send a call whose effects are not known, which is held; boto3's reply or error."""
    client = gate.client("events", actor)
    try:
        reply = client.cancel_replay(ReplayName=name)
    except ClientError as error:
        reply = error.response
    return dict(reply)


def mutation_of(reply: dict[str, Any]) -> str:
    return str(reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])


def act(gate: Gate, actor: str, mutation: str, action: str, body: Any = None) -> httpx.Response:
    """Approve, reject or pass a held mutation."""
    return httpx.post(f"{gate.url}/v1/mutations/{mutation}/{action}", headers=gate.bearer(actor), json=body or {})


def succeeds(reply: httpx.Response) -> None:
    assert reply.is_success, reply.text


def ask(gate: Gate, mutation: str, wait: str, actor: str = "agent") -> httpx.Response:
    return httpx.get(f"{gate.url}/v1/mutations/{mutation}?wait={wait}", headers=gate.bearer(actor))


def while_waiting(gate: Gate, mutation: str, do: Callable[[], None]) -> dict[str, Any]:
    """The document that a request that waits is answered with, after something was done while it waited."""
    return dict(reply_after(gate, mutation, do).json())


def reply_after(gate: Gate, mutation: str, do: Callable[[], None], actor: str = "agent") -> httpx.Response:
    replies: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: replies.append(ask(gate, mutation, "60s", actor)))
    thread.start()
    end = time.monotonic() + 300
    while not gate.waits_for(mutation):
        assert time.monotonic() < end, "the request does not wait"
        time.sleep(0.01)
    do()
    thread.join(300)
    return replies[0]


def test_a_request_that_waits_returns_with_the_approval(gate: Gate) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    assert ask(gate, held, "").json()["state"] == "held"
    found = while_waiting(gate, held, lambda: succeeds(act(gate, "human", held, "approve")))
    assert (found["state"], [record["stage"] for record in found["records"]]) == ("approved", ["decided", "approved"])


def test_a_rejection_reaches_who_waits_and_answers_the_same_call_in_the_aws_error(gate: Gate) -> None:
    name = f"n-{uuid4()}"
    held = mutation_of(cancel_replay(gate, name))
    no = {"reason": "The freeze ends on Monday"}
    found = while_waiting(gate, held, lambda: succeeds(act(gate, "human", held, "reject", no)))
    assert (found["state"], found["records"][-1]["body"]["reason"]) == ("rejected", no["reason"])
    again = cancel_replay(gate, name)
    message = again["Error"]["Message"]
    assert again["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert f"[approval.rejected] human rejected this call (mutation {held}): The freeze ends on Monday." in message
    assert mutation_of(cancel_replay(gate, f"n-{uuid4()}")) != held


def test_the_same_call_again_attaches_to_what_is_held(gate: Gate) -> None:
    name = f"n-{uuid4()}"
    first = mutation_of(cancel_replay(gate, name))
    second = cancel_replay(gate, name)
    assert mutation_of(second) == first
    assert f"sentinel approve {first}" in second["Error"]["Message"]
    headers = gate.bearer("human")
    holds = httpx.get(f"{gate.url}/v1/holds?limit=1000", headers=headers).json()["holds"]
    assert len([hold for hold in holds if hold["parameters"].get("ReplayName") == name]) == 1
    attached = [
        each for each in gate.records(actor="agent") if each.stage is Stage.DECIDED and _attached(each) == first
    ]
    assert len(attached) == 1
    act(gate, "human", first, "approve")
    assert "Error" not in cancel_replay(gate, name)
    assert mutation_of(cancel_replay(gate, name)) != first
    gate.run(gate.ledger.verify())


def _attached(record: Record) -> Any:
    decision: Any = record.body.members["decision"]
    return decision.get("attached")


def test_who_waits_with_a_key_that_is_revoked_meanwhile_is_told_nothing(gate: Gate) -> None:
    waiter = gate.issue("waiter")
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}", waiter))

    def revoke_and_approve() -> None:
        gate.revoke(waiter)
        end = time.monotonic() + 300
        while ask(gate, held, "", waiter).status_code != 401:  # the gateway keeps a key for some seconds
            assert time.monotonic() < end, "the key still counts"
            time.sleep(0.1)
        succeeds(act(gate, "human", held, "approve"))

    reply = reply_after(gate, held, revoke_and_approve, waiter)
    assert (reply.status_code, "records" in reply.json()) == (401, False)


def test_who_may_not_see_a_mutation_does_not_wait_for_it(gate: Gate) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    assert ask(gate, held, "1s", "rival").status_code == 404
    for wrong in ("61s", "many", "-1s"):
        assert ask(gate, held, wrong).status_code == 400


def test_the_decision_at_another_gateway_wakes_too(gate: Gate, tmp_path: Path) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    with Gate(directory=tmp_path, data=gate.directory / "data") as other:
        found = while_waiting(gate, held, lambda: succeeds(act(other, "human", held, "approve")))
    assert found["state"] == "approved"


def test_after_its_time_the_request_is_answered_as_it_is(gate: Gate) -> None:
    held = mutation_of(cancel_replay(gate, f"n-{uuid4()}"))
    assert ask(gate, held, "1s").json()["state"] == "held"
    assert not gate.waits_for(held)


def test_how_long_may_be_waited() -> None:
    assert (wait_seconds(""), wait_seconds("30s"), wait_seconds("1m")) == (0.0, 30.0, 60.0)
    with pytest.raises(Malformed, match="60s at most"):
        wait_seconds("2m")


async def test_the_ledger_is_read_once_for_each_record_and_not_in_between() -> None:
    wakeups, reads = Wakeups(), 0
    records = [sample_record(stage=Stage.DECIDED, at=NOW, mutation_id="m", body={"decision": {"verdict": "hold"}})]

    async def read() -> list[Record]:
        nonlocal reads
        reads += 1
        return list(records)

    waits = asyncio.ensure_future(mutation_when_decided(wakeups, "m", "agent", read, 60))
    for _ in range(100):
        await asyncio.sleep(0)
    assert reads == 1
    wakeups.wake("m")
    for _ in range(100):
        await asyncio.sleep(0)
    assert reads == 2
    records.append(sample_record(stage=Stage.APPROVED, at=NOW, mutation_id="m", body={"missing": 0}))
    wakeups.wake("m")
    assert (await waits)["state"] == "approved"
    assert reads == 3
    with pytest.raises(NotFound):
        await mutation_when_decided(wakeups, "m", "agent", _nothing, 60)


async def _nothing() -> list[Record]:
    return []


def test_an_approval_survives_the_token_that_the_sdk_invents_for_each_call(gate: Gate) -> None:
    def delete(kind: str) -> dict[str, Any]:
        """boto3 sends another `ClientToken` each time."""
        try:
            return dict(gate.client("ssm").delete_inventory(TypeName=f"Custom:{kind}"))
        except ClientError as error:
            return dict(error.response)

    held = delete("Racks")
    succeeds(act(gate, "human", mutation_of(held), "approve"))

    assert "Error" in delete("Switches")
    assert "Error" not in delete("Racks")
    assert "Error" in delete("Racks")
