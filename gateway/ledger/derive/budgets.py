"""What the table `budgets` must hold: what each actor has used, by the charges in its decisions, and its breaker."""

from typing import Any

from gateway.ledger.budgets import levels_text
from gateway.ledger.derive.bodies import ABSENT, BreakerBody, DecidedBody, SettledBody
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ExpectedTable
from gateway.ledger.statements import Session
from gateway.ledger.tables import BUDGETS
from gateway.ledger.timestamps import from_text
from gateway.model.breaker import BreakerState
from gateway.model.budget import Levels, charged, fair_share_from_json
from gateway.model.record import Stage


class ExpectedBudgets:
    """Follows DECIDED, SETTLED and BREAKER. Any later record may change a row, so none is ever final."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, BUDGETS)
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.SETTLED: self._settled,
            Stage.BREAKER: self._changed,
        }
        self._levels: dict[str, Levels] = {}

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody = record.body
        if body.decision.obligations.get("budgets"):
            self._charge(record, body)
        if body.refused_in_a_row is not ABSENT:
            self._change(record.actor, record.seq, in_a_row=body.refused_in_a_row)

    def _charge(self, record: DecodedRecord, body: DecidedBody) -> None:
        share = fair_share_from_json({"budgets": body.decision.obligations["budgets"]})
        before = self._levels.get(record.actor, {})
        after = charged(before, share.charges, from_text(record.at), sent=body.decision.carried_out)
        if after != before:
            self._levels[record.actor] = after
            self._change(record.actor, record.seq, levels=levels_text(after))

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        if body.refused_in_a_row is not ABSENT:
            self._change(record.actor, record.seq, in_a_row=body.refused_in_a_row)

    def _changed(self, record: DecodedRecord) -> None:
        body: BreakerBody = record.body
        self._change(
            body.of,
            record.seq,
            in_a_row=body.refused_in_a_row,
            state=body.state,
            until=body.until or "",
            trial=body.trial,
        )

    def _change(self, actor: str, seq: int, **values: Any) -> None:
        if self.table.change((actor,), seq, **values) is None:
            row = {
                "actor": actor,
                "levels": levels_text({}),
                "in_a_row": 0,
                "state": BreakerState.CLOSED.value,
                "until": "",
                "trial": "",
            }
            self.table.insert((actor,), seq, {**row, **values})
