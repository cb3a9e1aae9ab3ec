"""What the table `time_boxes` must hold: each attribute of a time-boxed change, its end, and what became of it."""

from collections.abc import Iterable

from msgspec import Raw

from gateway.core.model.time_box import OPEN, TO_HUMAN, TimeBoxState
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.core.records.time_boxes import AttributeKey, BoxedAttribute, NotPutBackBody, RescheduledBody
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers, RowKey, raw_text
from gateway.ledger.store.statements import Session
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import TIME_BOXES


class ExpectedTimeBoxes:
    """Follows every stage that makes, moves or ends time-boxed changes. What was left to a human may still be put back."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, TIME_BOXES)
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.SETTLED: self._settled,
            Stage.RESCHEDULED: self._rescheduled,
            Stage.NOT_PUT_BACK: self._not_put_back,
        }
        self._unsettled: dict[str, list[RowKey]] = {}
        """The parts of each time-boxed change whose outcome is not known."""
        self._putting_back: dict[str, list[RowKey]] = {}
        """What each mutation puts back whose outcome is not known."""

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        if body.time_box is not None:
            for part in body.time_box.attributes:
                self._insert(record, part, body.time_box.until)
            self._unsettled[record.mutation_id] = _keys(record.mutation_id, body.time_box.attributes)
        if body.puts_back is not None:
            boxed = body.puts_back.mutation
            keys: list[RowKey] = [(boxed, *pair) for pair in body.puts_back.attributes]
            self._change(record, keys, TimeBoxState.PUTTING_BACK, by=record.mutation_id)
            self._putting_back[record.mutation_id] = keys

    def _insert(self, record: DecodedRecord, part: BoxedAttribute[Raw], until: str) -> None:
        row = {
            "mutation_id": record.mutation_id,
            "address": part.address,
            "attribute": part.attribute,
            "value": raw_text(part.value),
            "base": raw_text(part.base),
            "root": part.root or record.mutation_id,
            "actor": record.actor,
            "stack": record.stack,
            "seq": record.seq,
            "since": record.at,
            "until": until,
            "state": TimeBoxState.STANDING.value,
            "ended_by": "",
        }
        self.table.insert((record.mutation_id, part.address, part.attribute), record.seq, row)

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        if body.outcome == AttemptState.IN_DOUBT:
            return
        failed = body.outcome == AttemptState.FAILED
        own = self._unsettled.pop(record.mutation_id, [])
        put_back = self._putting_back.pop(record.mutation_id, [])
        if failed:
            self._change(record, own, TimeBoxState.FAILED)
            self._change(record, put_back, TimeBoxState.STANDING)
        else:
            self._change(record, put_back, TimeBoxState.PUT_BACK, by=record.mutation_id)

    def _rescheduled(self, record: DecodedRecord) -> None:
        body: RescheduledBody = record.body
        for key in _keys(record.mutation_id, body.attributes):
            self.table.change(key, record.seq, until=body.until, state=TimeBoxState.STANDING.value, ended_by="")

    def _not_put_back(self, record: DecodedRecord) -> None:
        body: NotPutBackBody = record.body
        self._change(record, _keys(record.mutation_id, body.attributes), body.state, by=body.by)

    def _change(self, record: DecodedRecord, keys: Iterable[RowKey], state: TimeBoxState, *, by: str = "") -> None:
        for key in keys:
            self.table.change(key, record.seq, state=state.value, ended_by=by)
            if state not in OPEN and state not in TO_HUMAN:
                self.table.finish(key)


def _keys(mutation_id: str, parts: Iterable[AttributeKey | BoxedAttribute[Raw]]) -> list[RowKey]:
    return [(mutation_id, part.address, part.attribute) for part in parts]
