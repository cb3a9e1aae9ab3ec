"""What the table `attempts` must hold: one row for each mutation that was carried out."""

from gateway.ledger.derive.bodies import ABSENT, DecidedBody, SettledBody
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ANYTHING, ExpectedTable
from gateway.ledger.serialize import reply_digest
from gateway.ledger.statements import Session
from gateway.ledger.states import AttemptState
from gateway.ledger.tables import ATTEMPTS
from gateway.model.record import Stage


class ExpectedAttempts:
    """Follows DECIDED and SETTLED. A row is final once the mutation was applied or has failed."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(
            session, ATTEMPTS, {"reply": (("reply_status", "reply_headers", "reply_body"), reply_digest)}
        )
        self.handlers: Handlers = {Stage.DECIDED: self._decided, Stage.SETTLED: self._settled}

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody = record.body
        if not body.decision.carried_out:
            return
        told = body.attempt if body.attempt is not ABSENT else None
        self.table.insert(
            (record.mutation_id,),
            record.seq,
            {
                "mutation_id": record.mutation_id,
                "seq": record.seq,
                "actor": record.actor,
                "stack": record.stack,
                "idempotency_key": told.idempotency_key or None if told else ANYTHING,
                "call_digest": body.call.digest,
                "decided_at": record.at,
                "state": AttemptState.IN_FLIGHT.value,
                "request_id": "",
                "reason": "",
                "reply": "",
                "owner": told.owner if told else ANYTHING,
                "left_at": "",
            },
        )

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        key = (record.mutation_id,)
        if body.left_to_human:
            self.table.change(key, record.seq, left_at=record.at)
            return
        failed, resolved = body.outcome == AttemptState.FAILED, body.settled_by is not ABSENT
        reply = ANYTHING if body.reply is ABSENT and body.outcome == AttemptState.APPLIED else body.reply or ""
        row = self.table.change(key, record.seq, state=body.outcome, request_id=body.request_id, reply=reply)
        if row is None:
            return
        row["reason"] = body.why if resolved else body.code if failed else body.reason
        if failed and resolved:
            row["request_id"] = ""
        elif failed:
            row["idempotency_key"] = None
        if body.outcome != AttemptState.IN_DOUBT:
            self.table.finish(key)
