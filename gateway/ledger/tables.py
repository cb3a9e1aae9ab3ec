"""The ledger's tables, the same on SQLite and PostgreSQL.

Times are ISO 8601 text in UTC with microseconds and a fixed width, so that they sort as text; JSON is canonical text
(`model.json.canonical`), so that what is hashed is what is stored. Text compares by code point on both stores.
"""

from typing import cast

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    literal_column,
    text,
)
from sqlalchemy.types import TypeEngine
from sqlmodel import Field, SQLModel

TEXT: TypeEngine[str] = String().with_variant(String(collation="C"), "postgresql")
SEQ: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")

_OPEN = text("ended_at IS NULL")
_UNUSED = text("state = 'open'")
_UNSETTLED = text("state = 'in_flight'")
_SUPERSEDED = text("ended_by IS NOT NULL")


class LedgerTable(SQLModel):
    """Base of the ledger's tables; they share a catalogue of their own, so that nobody else's tables mix in."""

    metadata = MetaData()


class RecordRow(LedgerTable, table=True):
    """A line of the ledger. Triggers refuse to change or delete one."""

    __tablename__ = "records"
    __table_args__ = (
        Index("records_by_actor", "actor", "seq"),
        Index("records_by_motive", "intent", "motivation", "seq"),
        Index("records_by_motivation", "motivation", "seq"),
        Index("records_by_stage", "stage", "seq"),
        Index("records_by_verdict", "verdict", "seq"),
        Index("records_by_mutation", "mutation_id", "seq"),
        Index("records_by_time", "at", "seq"),
    )

    seq: int = Field(primary_key=True, sa_type=SEQ, sa_column_kwargs={"autoincrement": False})
    version: int
    stage: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    intent: str = Field(sa_type=TEXT)
    motivation: str = Field(sa_type=TEXT)
    verdict: str = Field(sa_type=TEXT)
    body: str = Field(sa_type=TEXT)
    previous: str = Field(sa_type=TEXT)
    hash: str = Field(sa_type=TEXT)


class ResourceRow(LedgerTable, table=True):
    """Which things a DECIDED record is about, so that `--resource` and `blame` find it."""

    __tablename__ = "record_resources"
    __table_args__ = (Index("resources_by_address", "address", "seq", "attribute"),)

    seq: int = Field(primary_key=True, sa_type=SEQ, sa_column_kwargs={"autoincrement": False})
    address: str = Field(primary_key=True, sa_type=TEXT)
    attribute: str = Field(primary_key=True, sa_type=TEXT)


class ClaimRow(LedgerTable, table=True):
    """A claim. The unique index on open ones is the arbiter between two who want the same attribute."""

    __tablename__ = "claims"
    __table_args__ = (
        Index("claims_open", "address", "attribute", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index("claims_by_key", "address", "attribute", "since"),
        Index("claims_by_mutation", "mutation_id"),
        Index("claims_by_actor", "actor", "since"),
        Index("claims_by_end", "until", sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index("claims_superseded", "ended_by", sqlite_where=_SUPERSEDED, postgresql_where=_SUPERSEDED),
    )

    id: str = Field(primary_key=True, sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    address: str = Field(sa_type=TEXT)
    attribute: str = Field(sa_type=TEXT)
    value: str = Field(sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    kind: str = Field(sa_type=TEXT)
    motive: str | None = Field(sa_type=TEXT)
    since: str = Field(sa_type=TEXT)
    until: str | None = Field(sa_type=TEXT)
    unsettled: int
    """1 while its mutation is in flight or in doubt: then time does not end it and nobody may supersede it."""
    ended_at: str | None = Field(sa_type=TEXT)
    end: str | None = Field(sa_type=TEXT)
    ended_by: str | None = Field(sa_type=TEXT)
    """The mutation that superseded it; opened again should that one fail."""


class AttemptRow(LedgerTable, table=True):
    """A mutation that was carried out: how far it came, and AWS's answer for whoever asks with the same idempotency key."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("attempts_by_key", "actor", "idempotency_key", unique=True),
        Index("attempts_by_record", "seq"),
        Index("attempts_in_flight", "decided_at", sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED),
    )

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Of its DECIDED record."""
    actor: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    idempotency_key: str | None = Field(sa_type=TEXT)
    """Null where there is none, and after AWS refused, so that the next try is an attempt of its own."""
    call_digest: str = Field(sa_type=TEXT)
    decided_at: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    """in_flight, applied, failed or in_doubt."""
    request_id: str = Field(sa_type=TEXT)
    reason: str = Field(sa_type=TEXT)
    reply_status: int | None
    reply_headers: str | None = Field(sa_type=TEXT)
    reply_body: bytes | None = Field(sa_type=LargeBinary)


class HoldRow(LedgerTable, table=True):
    """A held mutation that waits for a human."""

    __tablename__ = "holds"
    __table_args__ = (Index("holds_by_call", "actor", "call_digest"), Index("holds_by_state", "state", "at"))

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    on_behalf_of: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    call_digest: str = Field(sa_type=TEXT)
    summary: str = Field(sa_type=TEXT)
    """JSON: the call, the motive, the effects and what stands against it, as in the DECIDED record."""
    state: str = Field(sa_type=TEXT)
    """open, approved or rejected."""


class ApprovalRow(LedgerTable, table=True):
    """A human's consent to one call of one actor; redeemed once."""

    __tablename__ = "approvals"
    __table_args__ = (
        Index(
            "approvals_unused",
            "actor",
            "call_digest",
            unique=True,
            sqlite_where=_UNUSED,
            postgresql_where=_UNUSED,
        ),
        Index("approvals_by_mutation", "mutation_id"),
    )

    id: str = Field(primary_key=True, sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    call_digest: str = Field(sa_type=TEXT)
    approver: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    until: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    """open, used, ended (its time is up) or withdrawn."""
    used_by: str = Field(sa_type=TEXT)
    """The mutation that redeemed it."""


class ValueRow(LedgerTable, table=True):
    """The last value applied through us, until it is merged into code."""

    __tablename__ = "applied_values"
    __table_args__ = (Index("values_by_mutation", "mutation_id"),)

    address: str = Field(primary_key=True, sa_type=TEXT)
    attribute: str = Field(primary_key=True, sa_type=TEXT)
    value: str = Field(sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Of its SETTLED record: later ones lie over earlier ones."""


class KeyRow(LedgerTable, table=True):
    """An issued key. Its secret is derived, never stored."""

    __tablename__ = "keys"

    id: str = Field(primary_key=True, sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    kind: str = Field(sa_type=TEXT)
    roles: str = Field(sa_type=TEXT)
    on_behalf_of: str = Field(sa_type=TEXT)
    motive: str | None = Field(sa_type=TEXT)
    created_at: str = Field(sa_type=TEXT)
    expires_at: str | None = Field(sa_type=TEXT)
    revoked_at: str | None = Field(sa_type=TEXT)
    session_of: str = Field(sa_type=TEXT)
    """The standing key that a session was made with; empty for standing keys."""


def _table(row: type[LedgerTable]) -> Table:
    return cast("Table", row.__dict__["__table__"])


# Written into the SQL as they are: an index on part of a table answers only a condition it can read.
UNUSED: ColumnElement[str] = literal_column("'open'")
IN_FLIGHT: ColumnElement[str] = literal_column("'in_flight'")

RECORDS = _table(RecordRow)
RESOURCES = _table(ResourceRow)
CLAIMS = _table(ClaimRow)
ATTEMPTS = _table(AttemptRow)
HOLDS = _table(HoldRow)
APPROVALS = _table(ApprovalRow)
VALUES = _table(ValueRow)
KEYS = _table(KeyRow)
