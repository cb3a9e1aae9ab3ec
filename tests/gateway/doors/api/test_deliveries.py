"""The routes about deliveries, with a real worker that delivers from the gateway's ledger."""

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.settings.notices import WebhookSettings
from gateway.core.times import SystemClock
from reconciler.notify.delivery import ReceiverWorker
from reconciler.notify.receivers import WebhookReceiver
from tests.gateway.doors.api.test_waiting import act, cancel_replay, mutation_of
from tests.kit.gate import Gate
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()


@dataclass
class Told:
    """A gateway and a receiver that is told by a worker."""

    gate: Gate
    stub: HookStub
    worker: ReceiverWorker

    async def deliver(self, name: str, outbox: Mapping[str, Json], keys: Sequence[tuple[int, int]]) -> None:
        """Send and record in this process."""
        assert name == "ops"
        await self.worker.record(outbox, await self.worker.send(keys))

    async def _rounds(self) -> None:
        while await self.worker.run_once(self):
            continue

    def rounds(self) -> None:
        """Deliver until nothing is due."""
        self.gate.run(self._rounds())

    def get(self, actor: str = "human", **query: str) -> httpx.Response:
        """List deliveries."""
        return httpx.get(f"{self.gate.url}/v1/deliveries", params=query, headers=self.gate.bearer(actor))

    def resend(self, actor: str, **body: Any) -> httpx.Response:
        """Have one sent again."""
        return httpx.post(f"{self.gate.url}/v1/deliveries/resend", json=body, headers=self.gate.bearer(actor))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with receiving(HookStub()) as stub:
        hook = WebhookSettings.model_validate(
            {
                "name": "ops",
                "url": stub.url,
                "secret": SECRET,
                "private_addresses": ["127.0.0.0/8"],
                "retry_seconds": [],
                "timeout_seconds": 60,
            }
        )
        with Gate(directory=tmp_path_factory.mktemp("told"), webhooks=(hook,)) as gate:
            gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
            worker = ReceiverWorker(receiver=WebhookReceiver(settings=hook), ledger=gate.ledger, clock=SystemClock())
            made = Told(gate, stub, worker)
            made.rounds()
            yield made


def test_a_held_change_its_approval_and_its_outcome_are_told(told: Told) -> None:
    held = mutation_of(cancel_replay(told.gate, "told"))
    cancel_replay(told.gate, "told")  # repeated while it waits: told once
    assert act(told.gate, "human", held, "approve").is_success
    cancel_replay(told.gate, "told")
    told.rounds()
    documents = [each.document for each in told.stub.received]
    about = [each for each in documents if each["data"]["mutation_id"] == held]
    assert [each["type"] for each in about] == ["mutation.held", "approval.given"]
    assert about[0]["data"]["requester_says"]["evidence"] == ["A-1"]
    assert about[1]["data"]["approver"] == "human"
    others = [each["type"] for each in documents if each["data"]["mutation_id"] != held]
    assert others == ["mutation.decided", "mutation.settled"]


def test_deliveries_are_listed_and_sent_again(told: Told) -> None:
    told.stub.behaviour = "500"
    cancel_replay(told.gate, "fails")
    told.rounds()
    told.stub.behaviour = "200"
    listed = told.get(state="failed").json()
    [failed] = listed["deliveries"]
    assert (failed["state"], failed["status"], failed["error"], failed["type"]) == (
        "given_up",
        500,
        "It answered 500.",
        "mutation.held",
    )
    assert listed["receivers"][0]["receiver"] == "ops"
    asked = told.resend("chief", receiver="ops", id=failed["id"])
    assert asked.status_code == 200
    for _ in range(3_000):  # the receiver was not available, so it is left alone for a while
        told.rounds()
        if told.stub.ids[-1] == failed["id"] and not told.get(state="failed").json()["deliveries"]:
            break
        told.gate.run(asyncio.sleep(0.1))
    assert not told.get(state="failed").json()["deliveries"]
    assert told.get(receiver="ops", state="delivered", limit="1").json()["deliveries"][0]["id"] == failed["id"]


def test_who_may(told: Told) -> None:
    assert told.get("agent").status_code == 403
    assert told.get("pipeline").status_code == 200
    assert told.resend("human", receiver="ops", id="rec_1_ab").status_code == 403
    assert told.resend("chief", receiver="ops", id="rec_1_ab").status_code == 404
    assert told.resend("chief", receiver="ops").status_code == 400
    assert told.get(state="odd").status_code == 400
    assert httpx.get(f"{told.gate.url}/v1/deliveries").status_code == 401


def test_the_ledger_is_intact(told: Told) -> None:
    assert told.gate.run(told.gate.ledger.verify())
