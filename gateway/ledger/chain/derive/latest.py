"""What the tables `keys`, `stops` and `signals` must hold: each entry as its latest record describes it."""

from collections.abc import Mapping

from msgspec import Raw

from gateway.core.errors import LedgerBroken
from gateway.core.model.caller import ActorKind
from gateway.core.model.json import canonical_text
from gateway.core.model.stop import StopScope
from gateway.core.records.approvals import ConsentBody
from gateway.core.records.decided import DecidedBody
from gateway.core.records.keys import KeyIssuedBody, KeyRevokedBody
from gateway.core.records.operators import StoppedBody
from gateway.core.records.record import Stage
from gateway.core.records.signals import SignalledBody
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers, sorted_text
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import KEYS, SIGNALS, STOPS


class ExpectedKeys:
    """Follows KEY_ISSUED and KEY_REVOKED. A row is final once the key was revoked.

    What was done with a key that lives is held against what the key is: a row may have been another one for a moment.
    """

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, KEYS)
        self.handlers: Handlers = {
            Stage.KEY_ISSUED: self._issued,
            Stage.KEY_REVOKED: self._revoked,
            Stage.DECIDED: self._decided,
            Stage.APPROVED: self._consented,
            Stage.BROKE_GLASS: self._consented,
        }

    def _issued(self, record: DecodedRecord) -> None:
        body: KeyIssuedBody = record.body
        row = {
            "id": body.key,
            "actor": record.actor,
            "kind": body.kind,
            "roles": canonical_text(body.roles),
            "on_behalf_of": body.on_behalf_of,
            "motive": sorted_text(body.motive) if body.motive else None,
            "created_at": body.created_at,
            "expires_at": body.expires_at,
            "revoked_at": None,
            "session_of": body.session_of,
            "motive_only": int(body.motive_only),
            "assumed": sorted_text(body.assumed) if body.assumed else None,
        }
        self.table.insert((body.key,), record.seq, row)

    def _revoked(self, record: DecodedRecord) -> None:
        body: KeyRevokedBody = record.body
        for key in (body.key, *body.sessions):
            self.table.change((key,), record.seq, revoked_at=record.at)
            self.table.finish((key,))

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        caller = body.caller
        if body.decision.carried_out:
            said = {"kind": caller.kind, "roles": canonical_text(caller.roles), "on_behalf_of": caller.on_behalf_of}
            self._require(record, caller.key_id, said)

    def _consented(self, record: DecodedRecord) -> None:
        body: ConsentBody = record.body
        if body.keys:
            self._require(record, body.keys[-1], {"kind": ActorKind.HUMAN})

    def _require(self, record: DecodedRecord, key: str, said: Mapping[str, object]) -> None:
        """Raise `errors.LedgerBroken` if the record says of its key what the key was not issued with."""
        row = self.table.rows.get((key,))
        if row is None:
            return
        for name, value in {"actor": record.actor, **said}.items():
            if row[name] != value:
                raise LedgerBroken(
                    f"Record {record.seq} names the key {key} with another `{name}` than it was issued with: its row in keys was changed past Sentinel, "
                    "and put back. Do not trust what this record says was asked or approved; compare with a backup."
                )


class ExpectedStops:
    """Follows STOPPED and RESUMED. A row is final once the stop has ended.

    What was sent while a stop stood is held against it: the row may have been away for a moment.
    """

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, STOPS)
        self.handlers: Handlers = {
            Stage.STOPPED: self._stopped,
            Stage.RESUMED: self._resumed,
            Stage.DECIDED: self._decided,
        }

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

    def _decided(self, record: DecodedRecord) -> None:
        """Raise `errors.LedgerBroken` if the change was sent although a stop was about it, as `refuse_stopped` tells in the same transaction."""
        body: DecidedBody[Raw] = record.body
        if not self.table.rows or not body.decision.carried_out:
            return
        # A record does not say each of several stacks, nor that the effects were not known: about these it tells nothing.
        stopped = {
            StopScope.ALL: {""},
            StopScope.ACTOR: {record.actor, body.caller.on_behalf_of} - {""},
            StopScope.STACK: {record.stack} - {""},
            StopScope.SERVICE: {body.call.service},
        }
        for (stop,), row in self.table.rows.items():
            if row["ended_at"] is None and row["name"] in stopped[StopScope(row["scope"])]:
                raise LedgerBroken(
                    f"Record {record.seq} says that a change was sent while the stop {stop} stood, which was about it: the row of the stop was "
                    "away or another one for a moment. Look at who can write to the database, and at what this change did."
                )

    def _resumed(self, record: DecodedRecord) -> None:
        key = (record.mutation_id,)
        self.table.change(key, record.seq, ended_at=record.at, ended_by=record.actor)
        self.table.finish(key)


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
            "labels": sorted_text(body.labels),
            "refs": sorted_text(body.references),
            "scopes": sorted_text(body.scopes),
        }
        self.table.insert((record.mutation_id,), record.seq, row)
