"""Stores issued and revoked keys, each with a record, so that a key that was changed past Sentinel shows."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import bindparam, insert, select, update

from gateway.core.errors import NotFound
from gateway.core.model.caller import ActorKind
from gateway.core.records.keys import KeyIssuedBody, KeyRevokedBody
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Record
from gateway.ledger.store.rows import StoredKeyRow
from gateway.ledger.store.statements import SqlValue, Statement
from gateway.ledger.store.tables import KEYS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

_INSERT: Final = Statement(insert(KEYS))
_ACTOR: Final = Statement(select(KEYS.c.actor).where(KEYS.c.id == bindparam("key")))
_SESSIONS: Final = Statement(
    select(KEYS.c.id).where(KEYS.c.session_of == bindparam("key"), KEYS.c.revoked_at.is_(None)).order_by(KEYS.c.id)
)
_STANDING: Final = Statement(select(KEYS.c.id).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)))
_REVOKE: Final = Statement(
    update(KEYS).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)).values(revoked_at=bindparam("at"))
)


def issue_key(transaction: Transaction, row: Mapping[str, SqlValue], at: datetime) -> None:
    """Store a new key, all columns but `revoked_at`, with its KEY_ISSUED record.

    Raises `errors.NotFound` for a session key whose standing key was revoked, by whichever process.
    """
    stored = StoredKeyRow(**{**row, "revoked_at": None})  # type: ignore[arg-type]  # the columns of the table
    if stored.session_of and not transaction.column(_STANDING, {"key": stored.session_of}):
        raise NotFound(f"There is no key {stored.session_of} to start a session with.")
    transaction.change(_INSERT, stored._asdict())
    transaction.append(_issued(stored, at))


def revoke_key(transaction: Transaction, key_id: str, at: datetime) -> None:
    """Revoke a key and its session keys, with one KEY_REVOKED record. Revoking again changes nothing. Raises `errors.NotFound`."""
    actor = transaction.scalar(_ACTOR, {"key": key_id})
    if actor is None:
        raise NotFound(f"There is no key {key_id}.")
    sessions = transaction.column(_SESSIONS, {"key": key_id})
    moment = to_text(at)
    revoked = transaction.change(_REVOKE, {"key": key_id, "at": moment})
    transaction.change_each(_REVOKE, [{"key": session, "at": moment} for session in sessions])
    if revoked or sessions:
        body = KeyRevokedBody(key=key_id, sessions=tuple(sessions))
        transaction.append(Record(at=at, actor=actor, body=body))


def _issued(row: StoredKeyRow, at: datetime) -> Record:
    body = KeyIssuedBody(
        key=row.id,
        kind=ActorKind(row.kind),
        roles=tuple(json.loads(row.roles)),
        on_behalf_of=row.on_behalf_of,
        motive=msgspec.json.decode(row.motive, type=RecordedMotive) if row.motive is not None else None,
        created_at=row.created_at,
        expires_at=row.expires_at,
        session_of=row.session_of,
        motive_only=bool(row.motive_only),
    )
    return Record(at=at, actor=row.actor, body=body)
