"""What became of notices, read from records, and the command to send one again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.ids import digest_id
from gateway.core.ports import RecordQuery
from gateway.core.records.notice import notice_id
from gateway.core.records.record import Stage
from gateway.core.times import SystemClock
from gateway.doors.chat.deliveries import DeliveryBook
from gateway.ledger.ledger import SqlLedger
from tests.kit.bodies import sample_record
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect
from tests.kit.stores import KEYS

CHIEF = Caller(actor="chief", kind=ActorKind.HUMAN, key_id="SNTL1", roles=("operator",))


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[SqlLedger]:
    opened = await SqlLedger.open(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS)
    yield opened
    await opened.close()


@pytest.fixture
def book(ledger: SqlLedger) -> DeliveryBook:
    return DeliveryBook(receivers=["ops", "audit"], ledger=ledger, clock=SystemClock())


def _result(seq: int, state: str, attempt: int = 1) -> dict[str, Any]:
    return {
        "id": f"rec_{seq}_ab", "seq": seq, "asked": 0, "type": "mutation.held", "mutation_id": f"m{seq}", "state": state, "attempt": attempt,
        "status": 500, "error": "It answered 500.", "again_at": None,
    }  # fmt: skip


async def _notified(ledger: SqlLedger, receiver: str, *results: dict[str, Any], waiting: int = 0) -> None:
    body: dict[str, Any] = {
        "receiver": receiver, "read": 40, "based_on": 0, "failures": 2 if waiting else 0, "resume_at": 0, "open": [{}] * waiting,
        "results": list(results),
    }  # fmt: skip
    made = sample_record(
        stage=Stage.NOTIFIED, at=SystemClock().now(), mutation_id=digest_id("whk", receiver), body=body
    )
    await ledger.record_event(made, repeat=True)


async def test_the_last_attempt_of_each_is_listed_newest_first(ledger: SqlLedger, book: DeliveryBook) -> None:
    await _notified(ledger, "ops", _result(1, "retrying"), _result(2, "delivered"), waiting=1)
    await _notified(ledger, "audit", _result(1, "delivered"))
    await _notified(ledger, "ops", _result(1, "given_up", 2))
    found = await book.listed(receiver="", state="", limit=10)
    assert [(each["receiver"], each["seq"], each["state"]) for each in found] == [
        ("ops", 1, "given_up"),
        ("audit", 1, "delivered"),
        ("ops", 2, "delivered"),
    ]
    assert [each["seq"] for each in await book.listed(receiver="ops", state="", limit=1)] == [1]
    assert [each["state"] for each in await book.listed(receiver="", state="failed", limit=10)] == ["given_up"]
    assert [each["seq"] for each in await book.listed(receiver="", state="delivered", limit=10)] == [1, 2]
    assert await book.listed(receiver="nobody", state="", limit=10) == []


async def test_each_receiver_says_how_it_is(ledger: SqlLedger, book: DeliveryBook) -> None:
    await _notified(ledger, "ops", _result(1, "retrying"), waiting=3)
    ops, audit = await book.summary()
    assert (ops["receiver"], ops["begun"], ops["waiting"], ops["failures"], ops["position"]) == ("ops", True, 3, 2, 40)
    assert (audit["begun"], audit["waiting"]) == (False, 0)


async def test_one_is_sent_again_if_an_operator_asks(ledger: SqlLedger, book: DeliveryBook) -> None:
    made = await record_mutation(ledger, [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)])
    for record in await ledger.records(RecordQuery(mutation_id=made.id)):
        asked = await book.resend(CHIEF, "ops", notice_id(record))
        assert (asked["receiver"], asked["seq"]) == ("ops", record.seq)
    found = await ledger.records(RecordQuery(stage=Stage.RESEND_ASKED))
    assert [each.actor for each in found] == ["chief", "chief"]


@pytest.mark.parametrize("identifier", ["", "rec_1_0000000000000000", "rec_999_0000000000000000", "rec_0_ab", "mut_1"])
async def test_what_there_is_not_is_not_sent(ledger: SqlLedger, book: DeliveryBook, identifier: str) -> None:
    await record_mutation(ledger, [(effect("aws_sqs_queue.a", "delay_seconds", 1), 0)])
    with pytest.raises(NotFound, match="There is no notice"):
        await book.resend(CHIEF, "ops", identifier)
    with pytest.raises(NotFound, match="Those are: ops, audit"):
        await book.resend(CHIEF, "nobody", identifier)


@pytest.mark.parametrize(("kind", "roles"), [(ActorKind.HUMAN, ("approver",)), (ActorKind.PIPELINE, ("operator",))])
async def test_only_an_operator_may(book: DeliveryBook, kind: ActorKind, roles: tuple[str, ...]) -> None:
    with pytest.raises(NotAllowed, match="role `operator`"):
        await book.resend(Caller(actor="a", kind=kind, key_id="k", roles=roles), "ops", "rec_1_ab")
