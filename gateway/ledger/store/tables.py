"""The ledger's tables, the same on SQLite and PostgreSQL.

Times are ISO 8601 text in UTC with microseconds. Their width is fixed, so they sort as text. JSON is canonical text
(`model.json.canonical`), so the stored text is the hashed text. Text compares by code point on both stores.
"""

from typing import Any, ClassVar, Final

from pydantic.fields import FieldInfo
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TextClause,
    case,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.types import TypeEngine
from sqlmodel import Field, SQLModel
from sqlmodel.main import get_column_from_field

from gateway.ledger.store.forms import WholeBody
from gateway.ledger.store.statements import READ_AS
from gateway.ledger.store.states import ApprovalState, AttemptState

TEXT: TypeEngine[str] = String().with_variant(String(collation="C"), "postgresql")
SEQ: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")

TIME_BOX_LISTED = "state IN ('standing', 'putting_back', 'changed_outside', 'left')"
"""The states of time-boxed changes in which they are listed: still to be put back, or left to a human."""
KIND: Final = ("stage", "verdict", "intent", "motivation", "has_evidence", "left_over")
"""The columns in which records of one kind agree; see `record_search.py`."""
KIND_NUMBER: Final = (
    "hashtextextended(stage || ' ' || verdict || ' ' || intent || ' ' || motivation || ' ' || "
    "CAST(has_evidence AS text) || ' ' || CAST(left_over AS text), 0)"
)
"""SQL of PostgreSQL for one number in place of `KIND`: an entry of an index takes a third of the room, and those of one kind are equally long, so that
pages fill before they are split."""
FIRST_PREVIOUS: Final = "0" * 64
"""In the place of the hash of a record before the first one."""
ONLY: Final = "only"
"""In the `info` of an index that only one of the databases has: which."""
WHERE: Final = "where"
"""In the `info` of a partial index: its condition. The migrations made it; options of SQLAlchemy's dialects would say the same, and to check
them it imports those of PostgreSQL with every driver's, which takes a tenth of a command on SQLite.
"""
_OPEN = text("ended_at IS NULL")
_UNUSED = text(f"state = '{ApprovalState.UNUSED}'")
_PARTIAL = text(f"state = '{ApprovalState.PARTIAL}'")
_IN_FLIGHT = text(f"state = '{AttemptState.IN_FLIGHT}'")
_IN_DOUBT = text(f"state = '{AttemptState.IN_DOUBT}'")
_SUPERSEDED = text("ended_by IS NOT NULL")
_LISTED = text(TIME_BOX_LISTED)
_PROVEN = text("ended_at IS NULL AND proof <> '[]'")


def _partial(condition: TextClause, name: str, *columns: str, unique: bool = False) -> Index:
    """An index of the rows for which the condition holds."""
    return Index(name, *columns, unique=unique, info={WHERE: condition})


class LedgerTable(SQLModel):
    """Base of the ledger's tables. They are declared only: statements read and write their rows as tuples, so nothing validates one or maps it to an object."""

    model_config = {"defer_build": True}
    __table_args__: ClassVar[tuple[Index, ...]] = ()


METADATA = MetaData()
"""These tables and no others."""


class RecordTable(LedgerTable):
    """The records. Triggers refuse to change one, and to delete one that is in no archive."""

    __tablename__ = "records"
    # Each index costs every write, so there are few, and whatever a filter combines is found by them.
    __table_args__ = (
        Index("records_by_mutation", "mutation_id", "seq"),
        Index("records_by_time", "at", "seq"),
        # PostgreSQL has `BY_KIND_NUMBER` in their place.
        Index("records_by_kind", *KIND, "seq", info={ONLY: "sqlite"}),
        Index("records_by_actor", "actor", *KIND, "seq", info={ONLY: "sqlite"}),
        Index("records_by_key", "key_id", *KIND, "seq", info={ONLY: "sqlite"}),
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
    key_id: str = Field(sa_type=TEXT)
    """The key that the body names as the caller's; empty if it names none."""
    has_evidence: int
    """1 if the motive in the body has evidence."""
    left_over: int
    """1 if it is a report of the reconciler that leaves something to a human."""
    body: str = Field(sa_type=TEXT)
    """As it is stored: whole, or short (`forms.py`). Read `BODY`."""
    previous: str = Field(sa_type=TEXT)
    """As it is stored: empty if it is the hash of the record before, as far as that one is in the ledger or ended an archive. Read `PREVIOUS`."""
    hash: str = Field(sa_type=TEXT)


BY_KIND_NUMBER: Final = {
    "records_of_kind": f"({KIND_NUMBER}), seq",
    "records_of_actor": f"actor, ({KIND_NUMBER}), seq",
    "records_of_key": f"key_id, ({KIND_NUMBER}), seq) WHERE (key_id <> ''",
}
"""The indexes of records that only PostgreSQL has, as they stand between the brackets of their definitions."""


class FormTable(LedgerTable):
    """The texts that bodies share. Triggers refuse to change or delete one.

    Rows that are no forms say what every program on this ledger reads, so that it may be written; see `generations.py`.
    """

    __tablename__ = "forms"

    key: str = Field(primary_key=True, sa_type=TEXT)
    stage: str = Field(sa_type=TEXT)
    base: str = Field(sa_type=TEXT)
    """The form whose values it gives; empty if it gives a body."""
    holes: int
    """How many values it takes."""
    text: str = Field(sa_type=TEXT)


class ResourceTable(LedgerTable):
    """The addresses and attributes that a record is about, so that `--resource` and `blame` find it."""

    __tablename__ = "record_resources"
    __table_args__ = (Index("resources_by_address", "address", "seq", "attribute"),)

    seq: int = Field(primary_key=True, sa_type=SEQ, sa_column_kwargs={"autoincrement": False})
    address: str = Field(primary_key=True, sa_type=TEXT)
    attribute: str = Field(primary_key=True, sa_type=TEXT)


class ClaimTable(LedgerTable):
    """The claims. The unique index on open claims decides between two mutations that want the same attribute."""

    __tablename__ = "claims"
    __table_args__ = (
        _partial(_OPEN, "claims_open", "address", "attribute", unique=True),
        Index("claims_by_key", "address", "attribute", "since"),
        Index("claims_by_mutation", "mutation_id"),
        Index("claims_by_actor", "actor", "since"),
        _partial(_OPEN, "claims_by_end", "until"),
        _partial(_OPEN, "claims_open_by_actor", "actor", "motivation", "until"),
        _partial(_SUPERSEDED, "claims_superseded", "ended_by"),
        _partial(_PROVEN, "claims_proven", "id"),
        Index("claims_by_time", "since", "id"),
        _partial(_OPEN, "claims_open_by_time", "since", "id"),
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
    """1 while its mutation is in flight or in doubt: the claim then neither expires nor can be superseded."""
    ended_at: str | None = Field(sa_type=TEXT)
    end: str | None = Field(sa_type=TEXT)
    ended_by: str | None = Field(sa_type=TEXT)
    """The mutation that superseded it. If that mutation fails, the claim is reopened."""
    proof: str = Field(sa_type=TEXT)
    """JSON: ids of the signals that prove its motive."""
    undone: str = Field(sa_type=TEXT)
    """JSON: since when the live value is another one, which, and who probably did it; empty while the claimed value stands."""
    motivation: str = Field(sa_type=TEXT)
    """That of its motive, to be counted; empty without one."""


class AttemptTable(LedgerTable):
    """The mutations that were carried out: their state, and AWS's reply for a repeat with the same idempotency key."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("attempts_by_key", "actor", "idempotency_key", unique=True),
        Index("attempts_by_record", "seq"),
        _partial(_IN_FLIGHT, "attempts_in_flight", "decided_at"),
        _partial(_IN_DOUBT, "attempts_in_doubt", "decided_at"),
    )

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Seq of its DECIDED record."""
    actor: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    idempotency_key: str | None = Field(sa_type=TEXT)
    """Null if the caller gave none. Set to null when AWS refuses, so that the next try is a new attempt."""
    call_digest: str = Field(sa_type=TEXT)
    decided_at: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    """An `AttemptState`."""
    request_id: str = Field(sa_type=TEXT)
    reason: str = Field(sa_type=TEXT)
    reply_status: int | None
    reply_headers: str | None = Field(sa_type=TEXT)
    """As it is stored: whole or short, and with the body in a line below if `reply_body` is null. Read `REPLY`."""
    reply_body: bytes | None = Field(sa_type=LargeBinary)
    owner: str = Field(sa_type=TEXT)
    """The gateway that sends it; see `LeaseTable`. Empty once it has ended, unless an earlier version ended it."""
    left_at: str = Field(sa_type=TEXT)
    """When it was left to a human, because nothing showed the outcome; empty before that."""


class LeaseTable(LedgerTable):
    """The gateways that live. Attempts of a gateway without a current lease have nobody who will record their outcome."""

    __tablename__ = "leases"

    owner: str = Field(primary_key=True, sa_type=TEXT)
    """A random id of one running gateway."""
    until: str = Field(sa_type=TEXT)
    """Renewed while the gateway lives."""
    reads: int = Field(sa_column_kwargs={"server_default": text("0")})
    """The `Generation` up to which it reads; 0 for a gateway of an earlier version, which does not name it."""


class SignatureTable(LedgerTable):
    """The signatures of requests that were carried out lately. Each is spent once."""

    __tablename__ = "spent_signatures"
    __table_args__ = (Index("signatures_by_time", "at"),)

    signature: str = Field(primary_key=True, sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)


class HoldTable(LedgerTable):
    """The held mutations, which wait for a human."""

    __tablename__ = "holds"
    __table_args__ = (
        Index("holds_by_call", "actor", "call_digest"),
        Index("holds_by_state", "state", "at", "mutation_id", "stack"),
        Index("holds_by_time", "at", "mutation_id", "stack"),
        Index("holds_by_actor", "actor", "at", "mutation_id"),
    )

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    actor: str = Field(sa_type=TEXT)
    on_behalf_of: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    call_digest: str = Field(sa_type=TEXT)
    summary: str = Field(sa_type=TEXT)
    """JSON: caller, call, motive, effects and decision, as in the DECIDED record."""
    state: str = Field(sa_type=TEXT)
    """A `HoldState`."""
    binding: str = Field(sa_type=TEXT)
    """JSON: the `Binding` of an approval of it."""


class ApprovalTable(LedgerTable):
    """The approvals: a human's consent to one call of one actor in the circumstances of its hold, which can be used once."""

    __tablename__ = "approvals"
    __table_args__ = (
        _partial(_UNUSED, "approvals_unused", "actor", "call_digest", unique=True),
        _partial(_PARTIAL, "approvals_partial", "actor", "call_digest", unique=True),
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
    """An `ApprovalState`."""
    used_by: str = Field(sa_type=TEXT)
    """The mutation that used it; empty while unused."""
    binding: str = Field(sa_type=TEXT)
    """The binding of the approved hold."""
    others: str = Field(sa_type=TEXT)
    """JSON: the people who consented before `approver`, where more than one must."""
    broke_glass: int
    """1 if a human passed the hold in an emergency."""
    keys: str | None = Field(sa_type=TEXT)
    """JSON: the keys with which they consented, `approver`'s last; null where the record is older than this column."""


class ValueTable(LedgerTable):
    """The last value applied through Sentinel to each attribute, until the code declares it."""

    __tablename__ = "applied_values"
    __table_args__ = (Index("values_by_mutation", "mutation_id"), Index("values_by_attribute", "attribute"))

    address: str = Field(primary_key=True, sa_type=TEXT)
    attribute: str = Field(primary_key=True, sa_type=TEXT)
    value: str = Field(sa_type=TEXT)
    mutation_id: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Seq of its SETTLED record. A later value overrides an earlier one of an attribute inside or around it."""


class KeyTable(LedgerTable):
    """The issued keys. Their secrets are derived, never stored."""

    __tablename__ = "keys"
    __table_args__ = (
        Index("keys_by_end", "session_of", "expires_at"),
        Index("keys_by_start", "session_of", "created_at"),
    )

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
    """The standing key that a session key was issued with; `role:NAME` if a web identity assumed that role; empty for standing keys."""
    motive_only: int
    """1 if a caller with this key may state no other motive than the key's."""
    assumed: str | None = Field(sa_type=TEXT)
    """The JSON form of how AWS's token service was asked for it (`RecordedAssumption`); null for every other key."""


class PlanSessionTable(LedgerTable):
    """The sessions in which plans are applied."""

    __tablename__ = "plan_sessions"
    __table_args__ = (
        Index("plan_sessions_by_key", "key_id", unique=True),
        _partial(_OPEN, "plan_sessions_open", "actor", "digest"),
    )

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    key_id: str = Field(sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Seq of its DECIDED record, which has the planned changes."""
    actor: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    digest: str = Field(sa_type=TEXT)
    """That of the plan, keyed."""
    until: str = Field(sa_type=TEXT)
    ended_at: str | None = Field(sa_type=TEXT)
    end: str = Field(sa_type=TEXT)
    """A `PlanSessionEnd`; empty while it is open."""


class PlanUseTable(LedgerTable):
    """What calls used of the planned changes of their session."""

    __tablename__ = "plan_uses"
    __table_args__ = (Index("plan_uses_by_plan", "plan", "address", "action", "operation"),)

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    """The call's."""
    address: str = Field(primary_key=True, sa_type=TEXT)
    action: str = Field(primary_key=True, sa_type=TEXT)
    plan: str = Field(sa_type=TEXT)
    """The plan's mutation."""
    operation: str = Field(sa_type=TEXT)
    """`service:Operation`."""


class SignalTable(LedgerTable):
    """The signals, each as its source described it last."""

    __tablename__ = "signals"
    __table_args__ = (Index("signals_by_state", "state", "source"), Index("signals_by_time", "at"))

    id: str = Field(primary_key=True, sa_type=TEXT)
    source: str = Field(sa_type=TEXT)
    key: str = Field(sa_type=TEXT)
    name: str = Field(sa_type=TEXT)
    service: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    """A `SignalState`."""
    at: str = Field(sa_type=TEXT)
    """Time of the latest event. An event that is not later changes nothing."""
    since: str = Field(sa_type=TEXT)
    heard_at: str = Field(sa_type=TEXT)
    labels: str = Field(sa_type=TEXT)
    refs: str = Field(sa_type=TEXT)
    """JSON: what evidence may refer to it by."""
    scopes: str = Field(sa_type=TEXT)
    """JSON: what it concerns."""


class TimeBoxTable(LedgerTable):
    """The attributes of time-boxed changes, which are put back at their end."""

    __tablename__ = "time_boxes"
    __table_args__ = (
        Index("time_boxes_by_address", "address", "seq"),
        _partial(_LISTED, "time_boxes_listed", "until"),
    )

    mutation_id: str = Field(primary_key=True, sa_type=TEXT)
    address: str = Field(primary_key=True, sa_type=TEXT)
    attribute: str = Field(primary_key=True, sa_type=TEXT)
    value: str = Field(sa_type=TEXT)
    """JSON: what the change set."""
    base: str = Field(sa_type=TEXT)
    """JSON: what is put back."""
    root: str = Field(sa_type=TEXT)
    """The first of the time-boxed changes on top of each other."""
    actor: str = Field(sa_type=TEXT)
    stack: str = Field(sa_type=TEXT)
    seq: int = Field(sa_type=SEQ)
    """Seq of its DECIDED record."""
    since: str = Field(sa_type=TEXT)
    """When it was decided."""
    until: str = Field(sa_type=TEXT)
    state: str = Field(sa_type=TEXT)
    """A `TimeBoxState`."""
    ended_by: str = Field(sa_type=TEXT)
    """The mutation that puts or put it back, or that has the attribute now; empty if none."""


class StopTable(LedgerTable):
    """The stops: what people said that nobody may change."""

    __tablename__ = "stops"
    __table_args__ = (_partial(_OPEN, "stops_standing", "at"),)

    id: str = Field(primary_key=True, sa_type=TEXT)
    scope: str = Field(sa_type=TEXT)
    """A `StopScope`."""
    name: str = Field(sa_type=TEXT)
    by: str = Field(sa_type=TEXT)
    reason: str = Field(sa_type=TEXT)
    at: str = Field(sa_type=TEXT)
    ended_at: str | None = Field(sa_type=TEXT)
    ended_by: str = Field(sa_type=TEXT)


class BudgetTable(LedgerTable):
    """What each actor has used of its budgets, and its circuit breaker."""

    __tablename__ = "budgets"

    actor: str = Field(primary_key=True, sa_type=TEXT)
    levels: str = Field(sa_type=TEXT)
    """JSON: when each bucket is full again, by its name; without those that were full at the last decision."""
    in_a_row: int
    """Refusals and failures since the last success."""
    state: str = Field(sa_type=TEXT)
    """A `BreakerState`."""
    until: str = Field(sa_type=TEXT)
    """While it is open: when one call is let through; else empty."""
    trial: str = Field(sa_type=TEXT)
    """While it is half open: the mutation that is tried; else empty."""


class ExportTable(LedgerTable):
    """How far each export has come."""

    __tablename__ = "exports"

    sink: str = Field(primary_key=True, sa_type=TEXT)
    """Format and place, e.g. `ocsf s3://bucket/prefix`."""
    seq: int = Field(sa_type=SEQ)
    """The last record that is exported."""
    hash: str = Field(sa_type=TEXT)
    """Its hash, which the next record must name."""
    planned: int = Field(sa_type=SEQ)
    """The last record of the range that is being written; 0 if none is."""
    at: str = Field(sa_type=TEXT)


class ArchiveTable(LedgerTable):
    """The archives: ranges of old records that were written to files, so that they may leave the database."""

    __tablename__ = "archives"

    last: int = Field(primary_key=True, sa_type=SEQ, sa_column_kwargs={"autoincrement": False})
    """Its last record. The triggers let records be deleted up to the greatest of these."""
    first: int = Field(sa_type=SEQ)
    """Its first record, the one after the archive before."""
    hash: str = Field(sa_type=TEXT)
    """Of its last record, which the next record names."""
    until: str = Field(sa_type=TEXT)
    """Time of its last record."""
    at: str = Field(sa_type=TEXT)
    """When it was made."""
    place: str = Field(sa_type=TEXT)
    """The directory in which its files were written."""
    manifest: str = Field(sa_type=TEXT)
    """The digest of their manifest."""
    parts: int
    """The number of its rows in `archive_parts`: of the last archive those that there are, of an older one 0."""
    mac: str = Field(sa_type=TEXT)
    """Over the row and its parts, under the key of the record hashes."""


class ArchivePartTable(LedgerTable):
    """What the last archive says about the records that stayed and the tables that follow from those that left, in parts."""

    __tablename__ = "archive_parts"

    part: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    content: bytes = Field(sa_type=LargeBinary)


def _table(model: type[LedgerTable]) -> Table:
    """The declared table. With `table=True` SQLModel would make it, and map the class to it, which takes a twentieth of a command."""
    columns = [_column(name, field) for name, field in model.model_fields.items()]
    return Table(str(model.__tablename__), METADATA, *columns, *model.__table_args__)


def _column(name: str, field: FieldInfo) -> Column[Any]:
    column: Column[Any] = get_column_from_field(field)
    column.name = column.key = name
    return column


# Literals, not parameters: a partial index is used only if the condition in the SQL text matches its own.
UNUSED: ColumnElement[str] = literal_column(f"'{ApprovalState.UNUSED}'")
PARTIAL: ColumnElement[str] = literal_column(f"'{ApprovalState.PARTIAL}'")
IN_FLIGHT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_FLIGHT}'")
IN_DOUBT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_DOUBT}'")

RECORDS = _table(RecordTable)
BODY: ColumnElement[str] = WholeBody(RECORDS.c.body).label("body")
"""The body of a record, whole."""
RECORDS.c.body.info[READ_AS] = BODY
FORMS = _table(FormTable)
RESOURCES = _table(ResourceTable)
CLAIMS = _table(ClaimTable)
PROVEN: ColumnElement[bool] = CLAIMS.c.proof != literal_column("'[]'")
ATTEMPTS = _table(AttemptTable)
SIGNATURES = _table(SignatureTable)
LEASES = _table(LeaseTable)
HOLDS = _table(HoldTable)
APPROVALS = _table(ApprovalTable)
VALUES = _table(ValueTable)
KEYS = _table(KeyTable)
PLAN_SESSIONS = _table(PlanSessionTable)
PLAN_USES = _table(PlanUseTable)
SIGNALS = _table(SignalTable)
TIME_BOXES = _table(TimeBoxTable)
LISTED: ColumnElement[bool] = literal_column(f"({TIME_BOX_LISTED})", Boolean())
STOPS = _table(StopTable)
BUDGETS = _table(BudgetTable)
EXPORTS = _table(ExportTable)
ARCHIVES = _table(ArchiveTable)
ARCHIVE_PARTS = _table(ArchivePartTable)


def _previous() -> ColumnElement[str]:
    before = RECORDS.alias("before")
    empty: ColumnElement[str] = literal_column("''")
    number = RECORDS.c.seq - literal_column("1")
    return case(
        (RECORDS.c.previous != empty, RECORDS.c.previous),
        else_=func.coalesce(
            select(before.c.hash).where(before.c.seq == number).scalar_subquery(),
            select(ARCHIVES.c.hash).where(ARCHIVES.c.last == number).scalar_subquery(),
            literal_column(f"'{FIRST_PREVIOUS}'"),
        ),
    )


PREVIOUS: ColumnElement[str] = _previous().label("previous")
"""The hash of the record before a record."""
RECORDS.c.previous.info[READ_AS] = PREVIOUS
REPLY: ColumnElement[str] = WholeBody(ATTEMPTS.c.reply_headers).label("reply_headers")
"""The headers of an attempt's reply as JSON text, with its body in a line below if that is not in a column of its own."""
ATTEMPTS.c.reply_headers.info[READ_AS] = REPLY
