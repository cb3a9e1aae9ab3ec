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
        key = body.idempotency_key
        self.table.insert(
            (record.mutation_id,),
            record.seq,
            {
                "mutation_id": record.mutation_id,
                "seq": record.seq,
                "actor": record.actor,
                "stack": record.stack,
                "idempotency_key": ANYTHING if key is ABSENT else key or None,
                "call_digest": body.call.digest,
                "decided_at": record.at,
                "state": AttemptState.IN_FLIGHT.value,
                "request_id": "",
                "reason": "",
                "reply": "",
            },
        )

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        key = (record.mutation_id,)
        failed = body.outcome == AttemptState.FAILED
        row = self.table.change(
            key,
            record.seq,
            state=body.outcome,
            request_id=body.request_id,
            reason=body.code if failed else body.reason,
            reply=ANYTHING if body.reply is ABSENT and body.outcome == AttemptState.APPLIED else body.reply or "",
        )
        if row is not None and failed:
            row["idempotency_key"] = None
        if body.outcome != AttemptState.IN_DOUBT:
            self.table.finish(key)
