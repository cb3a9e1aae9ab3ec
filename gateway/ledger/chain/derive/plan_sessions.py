"""What the tables `plan_sessions` and `plan_uses` must hold: which plans are applied, and what their calls used of them."""

from typing import Any

from gateway.core.model.plan_session import PlanSessionEnd
from gateway.core.records.plans import PlanEndedBody
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import PLAN_SESSIONS, PLAN_USES


class ExpectedPlanSessions:
    """Follows DECIDED of plans, and PLAN_ENDED. A row is final once the session ended."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, PLAN_SESSIONS)
        self.handlers: Handlers = {Stage.DECIDED: self._decided, Stage.PLAN_ENDED: self._ended}

    def _decided(self, record: DecodedRecord) -> None:
        body: Any = record.body
        if body.plan is None or not body.decision.carried_out:
            return
        row = {
            "mutation_id": record.mutation_id,
            "key_id": body.plan.key,
            "seq": record.seq,
            "actor": record.actor,
            "stack": record.stack,
            "digest": body.call.digest,
            "until": body.plan.until,
            "ended_at": None,
            "end": "",
        }
        self.table.insert((record.mutation_id,), record.seq, row)

    def _ended(self, record: DecodedRecord) -> None:
        body: PlanEndedBody = record.body
        key = (record.mutation_id,)
        self.table.change(key, record.seq, ended_at=record.at, end=PlanSessionEnd(body.end).value)
        self.table.finish(key)


class ExpectedPlanUses:
    """Follows DECIDED of the calls in a plan's session. No later record changes a row."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, PLAN_USES)
        self.handlers: Handlers = {Stage.DECIDED: self._decided}

    def _decided(self, record: DecodedRecord) -> None:
        body: Any = record.body
        if body.part is None or not body.decision.carried_out:
            return
        for use in (*body.part.uses, *body.part.makes):
            key = (record.mutation_id, use.address, use.action.value)
            row = {
                "mutation_id": record.mutation_id,
                "address": use.address,
                "action": use.action.value,
                "plan": body.part.plan,
                "operation": f"{body.call.service}:{body.call.operation}",
            }
            self.table.insert(key, record.seq, row)
            self.table.finish(key)
