"""No card asks for what is over: real holds of a ledger, a chat on loopback, and decisions made elsewhere."""

import json
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.mutation import Door, Mutation
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.core.settings.notices import SlackSettings
from gateway.ledger.ledger import SqlLedger
from reconciler.notify.delivery import ReceiverWorker
from reconciler.notify.slack import SlackReceiver
from tests.kit.bodies import sample_record
from tests.kit.hook import HookStub
from tests.kit.mutations import record_hold
from tests.reconciler.notify.test_delivery import Direct, MovingClock

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
HOUR = timedelta(hours=1)
ANA = Caller(actor="ana", kind=ActorKind.HUMAN, key_id="SNTLANA", roles=("approver", "break-glass"))
POST, UPDATE, HOOK = "/api/chat.postMessage", "/api/chat.update", "/services/x"


class Scene:
    """A chat and what tells it."""

    def __init__(self, stub: HookStub, ledger: SqlLedger, *, bot: bool) -> None:
        origin = f"http://127.0.0.1:{stub.port}"
        posted = {"bot_token": "xoxb-1", "channel": "C0001"} if bot else {"webhook_url": f"{origin}{HOOK}"}
        given = {"signing_secret": "s" * 32, "team": "T1", "host": origin, "api_host": origin, **posted}
        receiver = SlackReceiver(
            settings=SlackSettings.model_validate(given), public_url="", schedule=(5.0, 60.0, 600.0)
        )
        self.stub, self.ledger, self.clock = stub, ledger, MovingClock()
        self.worker = ReceiverWorker(receiver=receiver, ledger=ledger, clock=self.clock)
        self.direct = Direct(self.worker)
        self.stub.bodies[UPDATE] = b'{"ok": true, "channel": "C0001", "ts": "9.9"}'
        self._cards = 0

    async def tell(self) -> list[tuple[str, dict[str, Any]]]:
        """Deliver what is due; the requests that arrived, by path."""
        self._cards += 1
        self.stub.bodies[POST] = json.dumps({"ok": True, "channel": "C0001", "ts": f"{self._cards}.0"}).encode()
        before = len(self.stub.received)
        while await self.worker.run_once(self.direct):
            pass
        return [(each.path, each.document) for each in self.stub.received[before:]]

    async def reject(self, held: Mutation) -> None:
        """A person says no in the console."""
        await self.ledger.reject(
            held.id, approver=ANA, reason="Not in a freeze", at=self.clock.now(), door=Door.CONSOLE
        )

    async def states(self) -> list[tuple[str, str]]:
        """(type, state) of every attempt, oldest first."""
        records = await self.ledger.records(RecordQuery(stage=Stage.NOTIFIED, newest_first=False))
        results: list[Any] = [result for record in records for result in record.body.members["results"]]
        return [(each["type"], each["state"]) for each in results]


@pytest.fixture
async def bot(stub: HookStub, ledger: SqlLedger) -> Scene:
    """Cards of a bot."""
    scene = Scene(stub, ledger, bot=True)
    await scene.tell()
    return scene


@pytest.fixture
async def hook(stub: HookStub, ledger: SqlLedger) -> Scene:
    """Cards of an incoming webhook."""
    scene = Scene(stub, ledger, bot=False)
    await scene.tell()
    return scene


def _asks(document: dict[str, Any]) -> bool:
    return any(block["type"] == "actions" for block in document["blocks"])


async def test_a_card_is_edited_when_the_hold_was_decided_elsewhere(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    [(path, card)] = await bot.tell()
    assert (path, _asks(card)) == (POST, True)
    await bot.reject(held)
    [(path, card)] = await bot.tell()
    assert (path, card["channel"], card["ts"], _asks(card)) == (UPDATE, "C0001", "2.0", False)
    assert "Rejected by ana in the console: Not in a freeze" in json.dumps(card)
    assert await bot.ledger.verify()


async def test_an_approval_and_its_withdrawal_both_show(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.tell()
    await bot.ledger.approve(held.id, approver=ANA, at=bot.clock.now(), lasts=HOUR, door=Door.API)
    [(_, card)] = await bot.tell()
    assert "Approved by ana with the API or the command line until" in json.dumps(card)
    await bot.reject(held)
    [(path, card)] = await bot.tell()
    assert (path, "Rejected by ana" in json.dumps(card)) == (UPDATE, True)


async def test_broken_glass_ends_the_card(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.tell()
    await bot.ledger.break_glass(held.id, human=ANA, reason="INC-7", at=bot.clock.now(), door=Door.API)
    [(path, card)] = await bot.tell()
    assert (path, "Passed in an emergency by ana" in json.dumps(card)) == (UPDATE, True)


async def test_one_word_ends_the_cards_of_every_hold_that_it_decided(bot: Scene) -> None:
    """A rejection is about the call; an approval only about the circumstances that its person saw."""
    first = await record_hold(bot.ledger, code="t1")
    await bot.tell()
    second = await record_hold(bot.ledger, code="t2")
    await bot.tell()
    await record_hold(bot.ledger, call="another")
    await record_hold(bot.ledger, "another-agent")
    await record_hold(bot.ledger, attached=second.id)
    await bot.tell()
    await bot.ledger.approve(first.id, approver=ANA, at=bot.clock.now(), lasts=HOUR)
    assert [(path, card["ts"]) for path, card in await bot.tell()] == [(UPDATE, "2.0")]
    await bot.reject(second)
    assert sorted((path, card["ts"]) for path, card in await bot.tell()) == [(UPDATE, "2.0"), (UPDATE, "3.0")]


async def test_a_card_that_was_posted_twice_is_edited_twice(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.tell()
    [decided] = await bot.ledger.records(RecordQuery(mutation_id=held.id))
    body: dict[str, Json] = {"receiver": "chat-slack", "seq": decided.seq}
    asked = sample_record(stage=Stage.RESEND_ASKED, at=bot.clock.now(), mutation_id=new_id("rsd"), body=body)
    await bot.ledger.record_event(asked)
    await bot.tell()
    await bot.reject(held)
    assert sorted(card["ts"] for _, card in await bot.tell()) == ["2.0", "3.0"]


async def test_an_edit_that_fails_is_tried_again_and_listed_until_it_is_given_up(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.tell()
    bot.stub.bodies[UPDATE] = b'{"ok": false, "error": "channel_not_found"}'
    await bot.reject(held)
    for _ in range(5):
        await bot.tell()
        bot.clock.at += timedelta(hours=1)
    edits = [each.path for each in bot.stub.received if each.path == UPDATE]
    assert (len(edits), await bot.states()) == (
        4,
        [
            ("mutation.held", "delivered"),
            *[("mutation.decided", "retrying")] * 3,
            ("mutation.decided", "given_up"),
        ],
    )


async def test_lost_between_sending_and_recording_the_edit_is_made_again(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.tell()
    await bot.reject(held)
    bot.direct.dies = True
    with pytest.raises(Exception, match="The disk is full"):
        await bot.tell()
    [(path, card)] = await bot.tell()
    assert (path, card["ts"]) == (UPDATE, "2.0")
    assert [each.path for each in bot.stub.received].count(UPDATE) == 2


async def test_what_cannot_be_edited_is_answered(hook: Scene) -> None:
    held = await record_hold(hook.ledger)
    [(path, card)] = await hook.tell()
    assert (path, _asks(card)) == (HOOK, True)
    await hook.reject(held)
    [(path, answer)] = await hook.tell()
    assert (path, _asks(answer)) == (HOOK, False)
    assert answer["text"].startswith(f"{held.id} waits no longer. Rejected by ana in the console")


async def test_nothing_is_said_of_a_hold_that_had_no_card(ledger: SqlLedger, stub: HookStub) -> None:
    held = await record_hold(ledger)
    scene = Scene(stub, ledger, bot=True)
    await scene.tell()
    await scene.reject(held)
    assert await scene.tell() == []
    assert await scene.states() == [("mutation.decided", "delivered")]


async def test_a_decision_that_comes_before_the_card_still_ends_it(bot: Scene) -> None:
    held = await record_hold(bot.ledger)
    await bot.reject(held)
    (first, card), (second, edit) = await bot.tell()
    assert (first, _asks(card), second, _asks(edit)) == (POST, True, UPDATE, False)
    assert edit["ts"] == "2.0"
