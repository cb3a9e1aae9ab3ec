"""What the table `spent_signatures` must hold: the signatures of the latest attempts, each of which is carried out once."""

import heapq

from gateway.ledger.derive.bodies import ABSENT, DecidedBody
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ExpectedTable
from gateway.ledger.signatures import KEPT
from gateway.ledger.statements import Session
from gateway.ledger.tables import SIGNATURES
from gateway.ledger.timestamps import from_text, to_text
from gateway.model.record import Stage


class ExpectedSignatures:
    """Follows DECIDED: each attempt with a signature spends it, and removes those that are too old to be valid."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, SIGNATURES)
        self.handlers: Handlers = {Stage.DECIDED: self._decided}
        self._by_time: list[tuple[str, str]] = []

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody = record.body
        if not body.decision.carried_out or body.attempt is ABSENT or not body.attempt.signature:
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
