"""What the table `signals` must hold: each signal as its latest record describes it."""

from gateway.ledger.derive.bodies import SignalledBody, raw_text
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ExpectedTable
from gateway.ledger.statements import Session
from gateway.ledger.tables import SIGNALS
from gateway.model.record import Stage


class ExpectedSignals:
    """Follows SIGNALLED. Any later record may change a signal, so no row is ever final."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, SIGNALS)
        self.handlers: Handlers = {Stage.SIGNALLED: self._signalled}

    def _signalled(self, record: DecodedRecord) -> None:
        body: SignalledBody = record.body
        row = {
            "id": record.mutation_id,
            "source": body.source,
            "key": body.key,
            "name": body.name,
            "service": body.service,
            "state": body.state,
            "at": body.at,
            "since": body.since,
            "heard_at": record.at,
            "labels": raw_text(body.labels),
            "refs": raw_text(body.references),
            "scopes": raw_text(body.scopes),
        }
        self.table.insert((record.mutation_id,), record.seq, row)
