"""The key ring: keys are stored without their secrets, which are derived from the master key."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, insert, select, update

from gateway.errors import NotFound
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.serialize import motive_of, text_of
from gateway.ledger.statements import Statement
from gateway.ledger.tables import KEYS
from gateway.ledger.timestamps import from_text, to_text
from gateway.ledger.transaction import Transaction
from gateway.model.caller import ActorKind
from gateway.model.ids import SESSION_KEY_PREFIX, STANDING_KEY_PREFIX
from gateway.model.motive import Motive, motive_to_json
from gateway.ports import Clock, Key

MAX_AGE: Final = 1.0
"""How old a remembered key may be, in seconds: so soon does a revocation made elsewhere take effect."""

_MOST_REMEMBERED: Final = 10_000
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SECRET_LENGTH: Final = 40

_BY_ID: Final = Statement(select(KEYS).where(KEYS.c.id == bindparam("key")))
_ALL: Final = Statement(select(KEYS).order_by(KEYS.c.created_at.desc(), KEYS.c.id.desc()))
_INSERT: Final = Statement(insert(KEYS))
_REVOKE: Final = Statement(
    update(KEYS).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)).values(revoked_at=bindparam("at"))
)
_REVOKE_SESSIONS: Final = Statement(
    update(KEYS)
    .where(KEYS.c.session_of == bindparam("key"), KEYS.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"))
)


def secret_of(master: bytes, key_id: str) -> str:
    """The secret of a key: HMAC-SHA-256 of its id under the master key, 40 characters of base64url."""
    mac = hmac.new(master, b"sentinel key\0" + key_id.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(mac).decode()[:_SECRET_LENGTH]


class SqlKeyRing:
    """The port `KeyRing` on the ledger's database."""

    def __init__(self, ledger: SqlLedger, *, master: bytes, clock: Clock) -> None:
        """`master` is the gateway's master key (`master.master_key`)."""
        self._ledger = ledger
        self._master = master
        self._clock = clock
        self._remembered: OrderedDict[str, tuple[float, Key | None]] = OrderedDict()

    async def find(self, key_id: str) -> Key | None:
        """The key, also when revoked or expired; None where there never was one. At most `MAX_AGE` old."""
        now = time.monotonic()
        remembered = self._remembered.get(key_id)
        if remembered is not None and now - remembered[0] < MAX_AGE:
            return remembered[1]
        if not key_id.isascii():
            return None
        row = await self._ledger.read(lambda session: session.row(_BY_ID, {"key": key_id}))
        key = self._key(row) if row is not None else None
        self._remember(key_id, now, key)
        return key

    async def issue(
        self,
        *,
        actor: str,
        kind: ActorKind,
        roles: tuple[str, ...] = (),
        on_behalf_of: str = "",
        motive: Motive | None = None,
        lasts: timedelta | None = None,
        session_of: str = "",
    ) -> Key:
        """Make, store and return a new key. A session ends with the key it is of, at the latest. Raises `errors.NotFound` for one of a key that has ended."""
        now = self._clock.now()
        until = now + lasts if lasts is not None else None
        if session_of:
            until = await self._until(session_of, until)
        row = {
            "id": (SESSION_KEY_PREFIX if session_of else STANDING_KEY_PREFIX)
            + "".join(secrets.choice(_ALPHABET) for _ in range(16)),
            "actor": actor,
            "kind": kind.value,
            "roles": text_of(roles),
            "on_behalf_of": on_behalf_of,
            "motive": text_of(motive_to_json(motive)) if motive else None,
            "created_at": to_text(now),
            "expires_at": to_text(until) if until is not None else None,
            "session_of": session_of,
        }
        await self._ledger.write(lambda transaction: _store(transaction, row))
        self._remembered.pop(str(row["id"]), None)
        key = await self.find(str(row["id"]))
        if key is None:
            message = f"Key {row['id']} was stored and cannot be read back."
            raise NotFound(message)
        return key

    async def revoke(self, key_id: str) -> None:
        """End a key and its sessions, here at once and in other processes within `MAX_AGE`. Raises `errors.NotFound`."""
        at = to_text(self._clock.now())
        await self._ledger.write(lambda transaction: _revoke(transaction, key_id, at))
        self._remembered.clear()

    async def all(self) -> Sequence[Key]:
        """Every key, newest first."""
        rows = await self._ledger.read(lambda session: session.rows(_ALL, {}))
        return tuple(self._key(row) for row in rows)

    async def _until(self, key_id: str, wanted: datetime | None) -> datetime | None:
        """When a session of this key ends: as wanted, or with the key."""
        key = await self.find(key_id)
        if key is None or key.revoked:
            raise NotFound(f"There is no key {key_id} that a session could be of.")
        ends = [moment for moment in (wanted, key.expires_at) if moment is not None]
        return min(ends, default=None)

    def _key(self, row: Any) -> Key:
        return Key(
            id=row.id,
            secret=secret_of(self._master, row.id),
            actor=row.actor,
            kind=ActorKind(row.kind),
            roles=tuple(json.loads(row.roles)),
            on_behalf_of=row.on_behalf_of,
            motive=motive_of(json.loads(row.motive)) if row.motive else None,
            expires_at=from_text(row.expires_at) if row.expires_at else None,
            revoked=row.revoked_at is not None,
        )

    def _remember(self, key_id: str, now: float, key: Key | None) -> None:
        """Bounded, because strangers choose what is asked for."""
        self._remembered.pop(key_id, None)
        self._remembered[key_id] = (now, key)
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)


def _store(transaction: Transaction, row: Mapping[str, Any]) -> None:
    transaction.change(_INSERT, {**row, "revoked_at": None})


def _revoke(transaction: Transaction, key_id: str, at: str) -> None:
    """Revoking twice is once."""
    transaction.change(_REVOKE_SESSIONS, {"key": key_id, "at": at})
    if transaction.change(_REVOKE, {"key": key_id, "at": at}):
        return
    if transaction.row(_BY_ID, {"key": key_id}) is None:
        raise NotFound(f"There is no key {key_id}.")
