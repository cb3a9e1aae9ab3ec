"""The issued keys. The ledger stores them without their secrets, which are derived from the master key, and records each issue and revocation."""

import base64
import hmac
import json
import re
import secrets
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import msgspec
from sqlalchemy import bindparam, func, insert, or_, select

from gateway.core.errors import Malformed, NotAllowed, NotFound, Overloaded
from gateway.core.model.caller import ActorKind, Assumed, Caller
from gateway.core.model.ids import SESSION_KEY_PREFIX, STANDING_KEY_PREFIX
from gateway.core.model.json import canonical_text
from gateway.core.model.motive import Motive, ceiling_text, exceeds, motive_from_json, motive_to_json
from gateway.core.ports import Clock, Key, Revoked
from gateway.core.records.keys import KeyIssuedBody, RecordedAssumption
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Record, to_members
from gateway.ledger.running_ledger import RunningLedger
from gateway.ledger.store.rows import KeyRow, StoredKeyRow
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement
from gateway.ledger.store.tables import KEYS, PLAN_SESSIONS
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_INSERT: Final = Statement(insert(KEYS))
_STANDING: Final = Statement(select(KEYS.c.id).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)))
_OPEN_SESSIONS: Final = Statement(
    select(func.count())
    .select_from(KEYS)
    .where(
        KEYS.c.session_of == bindparam("key"),
        KEYS.c.revoked_at.is_(None),
        or_(KEYS.c.expires_at.is_(None), KEYS.c.expires_at > bindparam("now")),
    )
)
_MADE_LATELY: Final = Statement(
    select(func.count())
    .select_from(KEYS)
    .where(
        KEYS.c.session_of == bindparam("key"),
        KEYS.c.revoked_at.is_(None),
        KEYS.c.created_at > bindparam("since"),
        KEYS.c.expires_at <= bindparam("now"),
    )
)
_OF_SUBJECT: Final = Query.of(
    KEYS,
    StoredKeyRow,
    KEYS.c.session_of == bindparam("key"),
    KEYS.c.revoked_at.is_(None),
    or_(KEYS.c.expires_at > bindparam("now"), KEYS.c.created_at > bindparam("since")),
    KEYS.c.assumed.is_not(None),
)
_SESSION_OF: Final = Statement(select(KEYS.c.session_of).where(KEYS.c.id == bindparam("key")))
_PLAN_OF: Final = Statement(select(PLAN_SESSIONS.c.mutation_id).where(PLAN_SESSIONS.c.key_id == bindparam("key")))
_LIKE: Final = Query.of(
    KEYS,
    StoredKeyRow,
    KEYS.c.session_of == bindparam("key"),
    KEYS.c.revoked_at.is_(None),
    KEYS.c.expires_at > bindparam("until"),
    KEYS.c.assumed.is_not(None),
    order_by=(KEYS.c.created_at.desc(), KEYS.c.id),
)


MOST_SESSIONS: Final[Mapping[ActorKind, int]] = {
    ActorKind.AGENT: 100,
    ActorKind.SERVICE: 100,
    ActorKind.HUMAN: 1_000,
    ActorKind.PIPELINE: 1_000,
}
"""How many sessions of one standing key may be open at once: each is a key that somebody has to find when the standing one is lost."""
SHARE: Final = 5
"""Into so many parts the sessions of a role are divided, of which one web identity has one at most: others that the role trusts get theirs."""
RESERVED: Final = 20
"""Into so many parts the sessions of a role are divided, of which a web identity has one even when others have used them all up."""
CROWD: Final = 4
"""How many times its sessions a role has at most, with what is reserved."""
OF_ROLE: Final = "role:"
"""Begins what a session key is of that a web identity got: the role, and no standing key."""
AGAIN: Final = 0.9
"""How much of its time an assumed key must still have to be given again to who asks for one like it. Without that each process of an SDK, which
asks at its start, would leave a session that stays open for an hour."""
_MADE_UP: Final = re.compile(r"[0-9]{10,}$")
"""How the session names end that SDKs make up: the time."""
_COUNTS_FOR: Final = timedelta(minutes=10)
"""For so long a session counts at least: each leaves a row and a record for ever, and one of a second would cost its key nothing."""


def issue_key(transaction: Transaction, row: Mapping[str, SqlValue], at: datetime) -> None:
    """Store a new key, all columns but `revoked_at`, with its KEY_ISSUED record.

    Raises `errors.NotFound` for a session key whose standing key was revoked, by whichever process, and `errors.Overloaded` if that has too
    many sessions open, or if a web identity has its share of those of its role.
    """
    stored = StoredKeyRow(**{"assumed": None, **row, "revoked_at": None})  # type: ignore[arg-type]  # the columns of the table
    of_key = stored.session_of and not stored.session_of.startswith(OF_ROLE)
    if of_key and not transaction.column(_STANDING, {"key": stored.session_of}):
        raise NotFound(f"There is no key {stored.session_of} to start a session with.")
    if stored.session_of:
        most = MOST_SESSIONS[ActorKind(stored.kind)]
        counted = {"key": stored.session_of, "now": to_text(at)}
        lately = {**counted, "since": to_text(at - _COUNTS_FOR)}
        there = transaction.scalar(_OPEN_SESSIONS, counted) + transaction.scalar(_MADE_LATELY, lately)
        if not of_key:
            _refuse_more_than_share(transaction, stored, lately, most, there)
        elif there >= most:
            raise Overloaded(
                f"The key {stored.session_of} has {most} sessions open or made within ten minutes, and no more may be. No key was made; use one "
                "of them, or let them end."
            )
    transaction.change(_INSERT, stored._asdict())
    transaction.append(_issued(stored, at))


def _refuse_more_than_share(
    transaction: Transaction, wanted: StoredKeyRow, lately: Mapping[str, SqlValue], most: int, there: int
) -> None:
    """Raise `errors.Overloaded` if the web identity behind a session of a role has its share of them, with what those assumed in turn.

    Of a role with `most` sessions its share is a fifth. Several may use a role up: then each other one still has what is reserved for it.
    """
    if there >= most * CROWD:
        raise Overloaded(
            f"{wanted.session_of} has {there} sessions open or made within ten minutes, of very many workloads, and no more may be. No key was "
            "made; let some end, revoke those of workloads that need none, or trust fewer in the role's `subjects`."
        )
    rows = {row.id: RecordedAssumption.read(row.assumed) for row in transaction.rows(_OF_SUBJECT, lately)}

    def subject_of(assumed: Assumed) -> str:
        while not assumed.subject and assumed.parent in rows:
            assumed = rows[assumed.parent]
        return assumed.subject

    subject = subject_of(RecordedAssumption.read(wanted.assumed))
    own = sum(subject_of(each) == subject for each in rows.values())
    share, reserved = max(1, most // SHARE), max(1, most // RESERVED)
    if there >= most and reserved <= own < share:
        raise Overloaded(
            f"{wanted.session_of} has {there} sessions open or made within ten minutes, and you have the {own} that one workload gets when others "
            "use up a role. No key was made; use one of them, or let them end."
        )
    if own >= share:
        raise Overloaded(
            f"{subject or 'You'} has {own} sessions of {wanted.session_of} open or made within ten minutes, and one workload may have no more: the "
            "others that the role trusts need theirs. No key was made; use one of them, or let them end."
        )


def _key_like(session: Session, row: Mapping[str, SqlValue], at: datetime) -> str:
    """A key like the wanted one that was made a moment ago, and is open; empty if there is none. Time stamps in session names do not count."""
    ends = from_text(str(row["expires_at"]))
    until = to_text(at + (ends - at) * AGAIN)
    for other in session.rows(_LIKE, {"key": row["session_of"], "until": until}):
        if _alike(other._asdict()) == _alike(row) and from_text(other.expires_at or "") <= ends:
            return other.id
    return ""


_OWN: Final = ("id", "created_at", "expires_at", "revoked_at", "assumed")


def _alike(row: Mapping[str, SqlValue]) -> tuple[object, ...]:
    assumed = json.loads(str(row["assumed"]))
    name = _MADE_UP.sub("", assumed.pop("name"))
    return name, assumed, {column: value for column, value in row.items() if column not in _OWN}


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
        assumed=RecordedAssumption.of(RecordedAssumption.read(row.assumed)) if row.assumed is not None else None,
    )
    return Record(at=at, actor=row.actor, body=body)


def session_within(standing: Key, wanted: Key) -> Key:
    """The session key that may be issued: the wanted one, which ends with its standing key at the latest. Its motive is the only one that
    it may state if that is so for its standing key, whose motive it has if it asks for none.

    Raises `errors.NotAllowed` if it is another actor's, or has a role or a motive that the standing key has not.
    """
    if standing.is_session:
        raise NotAllowed("A session key cannot make further session keys; use the standing key it was made with.")
    who = (standing.actor, standing.kind, standing.on_behalf_of)
    if who != (wanted.actor, wanted.kind, wanted.on_behalf_of) or not set(wanted.roles) <= set(standing.roles):
        raise NotAllowed(f"A session of key {standing.id} has its actor, and no roles but its own. No key was made.")
    if standing.motive_only:
        wanted = replace(wanted, motive=wanted.motive or standing.motive, motive_only=True)
        if standing.motive is None or wanted.motive is None or exceeds(wanted.motive, standing.motive):
            raise NotAllowed(f"{ceiling_text(standing.motive)} No key was made.")
    ends = [moment for moment in (wanted.expires_at, standing.expires_at) if moment is not None]
    return replace(wanted, expires_at=min(ends, default=None))


MAX_AGE: Final = 1.0
"""Longest time that a key is cached, in seconds. A revocation made in another process takes effect within it."""

_PARENT_ENDED: Final = (
    "The key that assumes the role has ended. No key was made; get a new one with `sentinel key` or `sentinel session`."
)
_MOST_CACHED: Final = 10_000
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_RANDOM_LENGTH: Final = 16
_SECRET_LENGTH: Final = 40

_BY_ID: Final = Query.of(KEYS, KeyRow, KEYS.c.id == bindparam("key"))
_ALL: Final = Query.of(KEYS, KeyRow, order_by=(KEYS.c.created_at.desc(), KEYS.c.id.desc()))
_ALL_STANDING: Final = Query.of(
    KEYS, KeyRow, KEYS.c.session_of == "", order_by=(KEYS.c.created_at.desc(), KEYS.c.id.desc())
)


def secret_of(master: bytes, row: KeyRow) -> str:
    """The secret of a key: HMAC-SHA-256 under the master key, 40 characters of base64url.

    It covers everything about the key but its revocation. If somebody gives the key another role in the database, its holder no
    longer knows its secret.
    """
    members = tuple(row._replace(revoked_at=None))
    # The last member came later, and a key of before must keep its secret.
    covered = canonical_text(members if row.assumed is not None else members[:-1])
    mac = hmac.digest(master, b"sentinel key\0" + covered.encode(), "sha256")
    return base64.urlsafe_b64encode(mac).decode()[:_SECRET_LENGTH]


def _found(session: Session, key_id: str) -> tuple[KeyRow | None, str]:
    """The row of a key, and the plan whose session it is of."""
    row = session.row(_BY_ID, {"key": key_id})
    of_session = row is not None and row.session_of
    return row, str(session.scalar(_PLAN_OF, {"key": key_id}) or "") if of_session else ""


class SqlKeyRing:
    """The port `KeyRing` on the ledger's database."""

    def __init__(
        self, ledger: RunningLedger, *, master: bytes, clock: Clock, roles: Collection[str] | None = None
    ) -> None:
        """`master` is the gateway's master key (`master_key.master_key`). `roles` are the roles of the settings: a key of any other role has
        ended. None if the settings are not looked at.
        """
        self._roles = roles
        self._ledger = ledger
        self._master = master
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, Key | None]] = OrderedDict()

    async def find(self, key_id: str) -> Key | None:
        """The key, even if it is revoked or expired; None if it was never issued. At most `MAX_AGE` old."""
        now = monotonic()
        cached = self._cache.get(key_id)
        if cached is not None and now - cached[0] < MAX_AGE:
            return cached[1]
        if not key_id.isascii():
            return None
        row, plan = await self._ledger.read(lambda session: _found(session, key_id))
        key = self._key(row, plan) if row is not None else None
        self._cache_key(key_id, now, key)
        return key

    async def issue(
        self,
        *,
        actor: str,
        kind: ActorKind,
        roles: tuple[str, ...] = (),
        on_behalf_of: str = "",
        motive: Motive | None = None,
        motive_only: bool = False,
        lasts: timedelta | None = None,
        session_of: str = "",
    ) -> Key:
        """Create, store and return a new key. With `session_of`, a standing key's id, it is a session key: it expires with that key at the
        latest, and may do nothing that the key may not. With `motive_only` the motive is the only one that a caller may state.

        Raises `errors.NotFound` if the standing key is revoked or unknown, `errors.NotAllowed` if the session would exceed it, and
        `errors.Malformed` for `motive_only` without a motive.
        """
        now = self._clock.now()
        wanted = Key(
            id="",
            secret="",
            actor=actor,
            kind=kind,
            roles=roles,
            on_behalf_of=on_behalf_of,
            motive=motive,
            motive_only=motive_only,
            expires_at=now + lasts if lasts is not None else None,
        )
        if session_of:
            wanted = session_within(await self._standing(session_of), wanted)
        if wanted.motive_only and wanted.motive is None:
            raise Malformed("A key whose motive is the only one needs a motive.")
        return await self._store(wanted, session_of, now)

    async def assume(self, wanted: Key, *, lasts: timedelta) -> Key:
        """A session key like `wanted`, which is already within its parent (`identity.roles`); it ends with that one at the latest. One that
        is like it and was made a moment ago is given again.

        Raises `errors.NotAllowed` if the parent has ended, `errors.Overloaded` if it has too many sessions.
        """
        now = self._clock.now()
        assumed = wanted.assumed
        if assumed is None:
            message = "A key that is assumed says how."
            raise Malformed(message)
        parent = await self.find(assumed.parent) if assumed.parent else None
        if assumed.parent and (parent is None or parent.ended(now)):
            raise NotAllowed(_PARENT_ENDED)
        ends = [now + lasts, *([parent.expires_at] if parent is not None and parent.expires_at is not None else [])]
        wanted = replace(wanted, expires_at=min(ends))

        def store(transaction: Transaction) -> str:
            root = OF_ROLE + assumed.role
            if assumed.parent:
                if not transaction.column(_STANDING, {"key": assumed.parent}):
                    raise NotAllowed(_PARENT_ENDED)
                root = str(transaction.scalar(_SESSION_OF, {"key": assumed.parent}) or assumed.parent)
            row = self._row(wanted, root, now)
            if again := _key_like(transaction, row, now):
                return again
            issue_key(transaction, row, now)
            return str(row["id"])

        return await self.stored(await self._ledger.write(store))

    async def session_row(self, caller: Caller, *, motive: Motive | None, lasts: timedelta) -> Mapping[str, SqlValue]:
        """The row of a new session key of the caller, without roles, for a transaction that stores it with `issue_key`.

        Raises what `issue` raises.
        """
        now = self._clock.now()
        wanted = Key(
            id="",
            secret="",
            actor=caller.actor,
            kind=caller.kind,
            on_behalf_of=caller.on_behalf_of,
            motive=motive,
            expires_at=now + lasts,
        )
        return self._row(session_within(await self._standing(caller.key_id), wanted), caller.key_id, now)

    async def _store(self, wanted: Key, session_of: str, now: datetime) -> Key:
        row = self._row(wanted, session_of, now)
        await self._ledger.write(lambda transaction: issue_key(transaction, row, now))
        return await self.stored(str(row["id"]))

    async def stored(self, key_id: str) -> Key:
        """A key that was stored just now. Raises `errors.NotFound` if it cannot be read back."""
        self._cache.pop(key_id, None)
        key = await self.find(key_id)
        if key is None:
            message = f"Key {key_id} was stored but cannot be read back."
            raise NotFound(message)
        return key

    def _row(self, wanted: Key, session_of: str, now: datetime) -> Mapping[str, SqlValue]:
        """The row of a new key, with a random id."""
        prefix = SESSION_KEY_PREFIX if session_of else STANDING_KEY_PREFIX
        key_id = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
        return {
            "id": key_id,
            "actor": wanted.actor,
            "kind": wanted.kind.value,
            "roles": canonical_text(wanted.roles),
            "on_behalf_of": wanted.on_behalf_of,
            "motive": canonical_text(motive_to_json(wanted.motive)) if wanted.motive else None,
            "created_at": to_text(now),
            "expires_at": to_text(wanted.expires_at) if wanted.expires_at is not None else None,
            "session_of": session_of,
            "motive_only": int(wanted.motive_only),
            "assumed": canonical_text(to_members(RecordedAssumption.of(wanted.assumed))) if wanted.assumed else None,
        }

    async def revoke(self, key_id: str, *, distrust: bool = True) -> Revoked:
        """Revoke a key and its session keys, here at once and in other processes within `MAX_AGE`; what ended. Raises `errors.NotFound`.

        With `distrust` what it consented to ends too, see `revoke_key`.
        """
        from gateway.ledger.decide.key_revocation import revoke_key  # noqa: PLC0415  nobody waits for it to issue a key

        at = self._clock.now()
        ended = await self._ledger.write(lambda transaction: revoke_key(transaction, key_id, at, distrust=distrust))
        self._cache.clear()
        return ended

    def forget(self) -> None:
        """Forget what was looked up, after a key was revoked in a transaction of others."""
        self._cache.clear()

    async def all(self) -> Sequence[Key]:
        """Every key, sessions too, newest first: for commands, not for what a gateway answers beside other work."""
        rows = await self._ledger.read(lambda session: session.rows(_ALL, {}))
        return tuple(self._key(row) for row in rows)

    async def standing(self) -> Sequence[Key]:
        """The standing keys, newest first."""
        rows = await self._ledger.read(lambda session: session.rows(_ALL_STANDING, {}))
        return tuple(self._key(row) for row in rows)

    async def _standing(self, key_id: str) -> Key:
        """The key that a session is made with. It may have been revoked a moment ago; the transaction that stores the session looks again."""
        key = await self.find(key_id)
        if key is None or key.revoked:
            raise NotFound(f"There is no key {key_id} to start a session with.")
        return key

    def _key(self, row: KeyRow, plan: str = "") -> Key:
        assumed = RecordedAssumption.read(row.assumed) if row.assumed is not None else None
        unknown_role = (
            assumed is not None and self._roles is not None and bool(assumed.role) and assumed.role not in self._roles
        )
        return Key(
            id=row.id,
            secret=secret_of(self._master, row),
            actor=row.actor,
            kind=ActorKind(row.kind),
            roles=tuple(json.loads(row.roles)),
            on_behalf_of=row.on_behalf_of,
            motive=motive_from_json(json.loads(row.motive)) if row.motive else None,
            motive_only=bool(row.motive_only),
            expires_at=from_text(row.expires_at) if row.expires_at else None,
            revoked=row.revoked_at is not None or unknown_role,
            plan=plan,
            assumed=assumed,
        )

    def _cache_key(self, key_id: str, now: float, key: Key | None) -> None:
        """Cache a lookup. The cache is bounded, because unauthenticated callers choose the ids that are looked up."""
        self._cache.pop(key_id, None)
        self._cache[key_id] = (now, key)
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
