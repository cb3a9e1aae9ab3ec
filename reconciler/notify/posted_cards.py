"""Finds the cards that a decision makes stale: those of the held call, and of its other holds that the same word decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.approvals import ConsentBody, RejectedBody
from gateway.core.records.codec import body_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.notice import DeliveryState
from gateway.core.records.notices import NotifiedBody
from gateway.core.records.record import Record, Stage

_MOST_HOLDS: Final = 50
"""Earlier holds of the requester that are looked at, newest first, besides the one that was decided."""
_MOST_BATCHES: Final = 200
"""Batches after a hold in which its card is looked for. It is one of the first, unless the chat was down for days."""


class CardLedger(Protocol):
    """The ledger, as far as cards need it."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The matching records."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedCard:
    """A card that the chat took."""

    held: Record
    """The DECIDED record that it shows."""
    message: str
    """Where the chat has it, as `CHANNEL/TIME`; empty if the chat does not say that of what an incoming webhook posts."""


async def posted_cards(ledger: CardLedger, deliveries: str, end: Record) -> Sequence[PostedCard]:
    """The cards whose waiting this record of a decision ended, as far as the deliveries with this id say that they were shown."""
    found: list[PostedCard] = []
    for held in await _holds(ledger, end):
        query = RecordQuery(
            mutation_id=deliveries,
            stage=Stage.NOTIFIED,
            after_seq=held.seq,
            limit=_MOST_BATCHES,
            newest_first=False,
        )
        messages = dict.fromkeys(_messages(await ledger.records(query), held.seq))
        found.extend(PostedCard(held=held, message=message) for message in messages)
    return found


async def _holds(ledger: CardLedger, end: Record) -> Sequence[Record]:
    """The held call that was decided, and its other holds."""
    own = await ledger.records(RecordQuery(mutation_id=end.mutation_id, stage=Stage.DECIDED, limit=1))
    query = RecordQuery(
        actor=end.body.requester if isinstance(end.body, ConsentBody | RejectedBody) else "",
        stage=Stage.DECIDED,
        verdict=Verdict.HOLD.value,
        before_seq=end.seq,
        limit=_MOST_HOLDS,
    )
    others = [record for record in await ledger.records(query) if _same(record, end)]
    return [*own, *(record for record in others if record.mutation_id != end.mutation_id)]


def _same(held: Record, end: Record) -> bool:
    """Whether one word decided both, by the ledger's rules: a rejection is about every hold of the call, a consent about its circumstances."""
    decided, said = body_of(held, DecidedBody), end.body
    waited = not decided.decision.carried_out and not decided.decision.attached
    if not waited or not isinstance(said, ConsentBody | RejectedBody) or said.digest != decided.call.digest:
        return False
    return isinstance(said, RejectedBody) or decided.decision.binding == said.binding


def _messages(batches: Sequence[Record], seq: int) -> Sequence[str]:
    """Where the chat has the cards of one record."""
    results = (each for batch in batches for each in body_of(batch, NotifiedBody).results)
    return [each.message for each in results if each.seq == seq and each.state == DeliveryState.DELIVERED]
