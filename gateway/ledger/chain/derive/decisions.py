"""What decisions leave in the tables `attempts`, `spent_signatures` and `budgets`."""

import heapq
from typing import Any

from msgspec import Raw

from gateway.core.model.budget import Levels, charged, fair_share_from_json
from gateway.core.model.circuit_breaker import BreakerState
from gateway.core.records.decided import DecidedBody
from gateway.core.records.operators import BreakerBody
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers, OneOf
from gateway.ledger.decide.signatures import KEPT
from gateway.ledger.store.serialize import levels_text, reply_digest
from gateway.ledger.store.statements import Session
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, BUDGETS, SIGNATURES
from gateway.ledger.store.timestamps import from_text, to_text


class ExpectedAttempts:
    """Follows DECIDED and SETTLED. A row is final once the mutation was applied or has failed."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(
            session, ATTEMPTS, {"reply": (("reply_status", "reply_headers", "reply_body"), reply_digest)}
        )
        self.handlers: Handlers = {Stage.DECIDED: self._decided, Stage.SETTLED: self._settled}

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        attempt = body.attempt
        if not body.decision.carried_out or body.plan is not None:
            return  # a plan is not sent itself
        self.table.insert(
            (record.mutation_id,),
            record.seq,
            {
                "mutation_id": record.mutation_id,
                "seq": record.seq,
                "actor": record.actor,
                "stack": record.stack,
                "idempotency_key": (attempt.idempotency_key or None) if attempt else None,
                "call_digest": body.call.digest,
                "decided_at": record.at,
                "state": AttemptState.IN_FLIGHT.value,
                "request_id": "",
                "reason": "",
                "reply": "",
                "owner": attempt.owner if attempt else "",
                "left_at": "",
            },
        )

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        key = (record.mutation_id,)
        if body.left_to_human:
            self.table.change(key, record.seq, left_at=record.at)
            return
        failed, resolved = body.outcome == AttemptState.FAILED, body.settled_by is not None
        row = self.table.change(
            key, record.seq, state=body.outcome, request_id=body.request_id or "", reply=body.reply or ""
        )
        if row is None:
            return
        row["reason"] = (body.why if resolved else body.code if failed else body.reason) or ""
        if failed and resolved:
            row["request_id"] = ""
        elif failed:
            row["idempotency_key"] = None
        if body.outcome != AttemptState.IN_DOUBT:
            row["owner"] = OneOf((row["owner"], ""))  # where every program knows it, none is kept of what has ended
            self.table.finish(key)


class ExpectedSignatures:
    """Follows DECIDED: each attempt with a signature spends it, and removes those that are too old to be valid."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, SIGNATURES)
        self.handlers: Handlers = {Stage.DECIDED: self._decided}
        self._by_time: list[tuple[str, str]] = []

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        if not body.decision.carried_out or body.attempt is None or not body.attempt.signature:
            return
        self._forget(to_text(from_text(record.at) - KEPT))
        signature = body.attempt.signature
        row = {"signature": signature, "mutation_id": record.mutation_id, "at": record.at}
        self.table.insert((signature,), record.seq, row)
        heapq.heappush(self._by_time, (record.at, signature))

    def _forget(self, before: str) -> None:
        while self._by_time and self._by_time[0][0] < before:
            at, signature = heapq.heappop(self._by_time)
            row = self.table.rows.get((signature,))
            # A signature that was spent again after a refusal stands in the list twice.
            if row is not None and row["at"] == at:
                self.table.remove((signature,))


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
        body: DecidedBody[Raw] = record.body
        if body.decision.obligations.get("budgets"):
            self._charge(record, body)
        self._count(record, body.refused_in_a_row, body.refusals_until)

    def _charge(self, record: DecodedRecord, body: DecidedBody[Raw]) -> None:
        share = fair_share_from_json({"budgets": body.decision.obligations["budgets"]})
        before = self._levels.get(record.actor, {})
        after = charged(before, share.charges, from_text(record.at), sent=body.decision.carried_out)
        if after != before:
            self._levels[record.actor] = after
            self._change(record.actor, record.seq, levels=levels_text(after))

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        self._count(record, body.refused_in_a_row, body.refusals_until)

    def _count(self, record: DecodedRecord, refused_in_a_row: int | None, until: str | None) -> None:
        """The row of refusals after a decision or an outcome. Only while the breaker is closed does it say when the row ends."""
        if refused_in_a_row is None:
            return
        row = self.table.rows.get((record.actor,))
        closed = row is None or row["state"] == BreakerState.CLOSED.value
        ends = {"until": until or ""} if closed else {}
        self._change(record.actor, record.seq, in_a_row=refused_in_a_row, **ends)

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
