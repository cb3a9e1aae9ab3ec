"""What the table `stops` must hold: each stop, and who ended it."""

from gateway.ledger.derive.bodies import StoppedBody
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ExpectedTable
from gateway.ledger.statements import Session
from gateway.ledger.tables import STOPS
from gateway.model.record import Stage


class ExpectedStops:
    """Follows STOPPED and RESUMED. A row is final once the stop has ended."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, STOPS)
        self.handlers: Handlers = {Stage.STOPPED: self._stopped, Stage.RESUMED: self._resumed}

    def _stopped(self, record: DecodedRecord) -> None:
        body: StoppedBody = record.body
        row = {
            "id": record.mutation_id,
            "scope": body.scope,
            "name": body.name,
            "by": record.actor,
            "reason": body.reason,
            "at": record.at,
            "ended_at": None,
            "ended_by": "",
        }
        self.table.insert((record.mutation_id,), record.seq, row)

    def _resumed(self, record: DecodedRecord) -> None:
        key = (record.mutation_id,)
        self.table.change(key, record.seq, ended_at=record.at, ended_by=record.actor)
        self.table.finish(key)
