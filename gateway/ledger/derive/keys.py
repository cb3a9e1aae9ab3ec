"""What the table `keys` must hold: the keys that were issued, and which of them were revoked."""

from gateway.ledger.derive.bodies import KeyIssuedBody, KeyRevokedBody, raw_text, text_or_none
from gateway.ledger.derive.decoded_record import DecodedRecord, Handlers
from gateway.ledger.derive.expected_table import ExpectedTable
from gateway.ledger.statements import Session
from gateway.ledger.tables import KEYS
from gateway.model.record import Stage


class ExpectedKeys:
    """Follows KEY_ISSUED and KEY_REVOKED. A row is final once the key was revoked."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, KEYS)
        self.handlers: Handlers = {Stage.KEY_ISSUED: self._issued, Stage.KEY_REVOKED: self._revoked}

    def _issued(self, record: DecodedRecord) -> None:
        body: KeyIssuedBody = record.body
        row = {
            "id": body.key,
            "actor": record.actor,
            "kind": body.kind,
            "roles": raw_text(body.roles),
            "on_behalf_of": body.on_behalf_of,
            "motive": text_or_none(body.motive),
            "created_at": body.created_at,
            "expires_at": body.expires_at,
            "revoked_at": body.revoked_at,
            "session_of": body.session_of,
            "motive_only": int(body.motive_only),
        }
        self.table.insert((body.key,), record.seq, row)
        if body.revoked_at is not None:
            self.table.finish((body.key,))

    def _revoked(self, record: DecodedRecord) -> None:
        body: KeyRevokedBody = record.body
        for key in (body.key, *body.sessions):
            self.table.change((key,), record.seq, revoked_at=record.at)
            self.table.finish((key,))
