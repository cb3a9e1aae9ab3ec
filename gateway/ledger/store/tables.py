"""The ledger's tables, the same on SQLite and PostgreSQL.

Times are ISO 8601 text in UTC with microseconds. Their width is fixed, so they sort as text. JSON is canonical text
(`model.json.canonical`), so the stored text is the hashed text. Text compares by code point on both stores.
"""

from typing import Final

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
    literal_column,
    text,
)
from sqlalchemy.types import TypeEngine

from gateway.ledger.store.states import ApprovalState, AttemptState

TEXT: TypeEngine[str] = String().with_variant(String(collation="C"), "postgresql")
SEQ: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")

TIME_BOX_LISTED = "state IN ('standing', 'putting_back', 'changed_outside', 'left')"
"""The states of time-boxed changes in which they are listed: still to be put back, or left to a human."""
KIND: Final = ("stage", "verdict", "intent", "motivation", "has_evidence", "left_over")
"""The columns in which records of one kind agree; see `record_search.py`."""
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
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


METADATA: Final = MetaData()
"""These tables and no others."""

RECORDS: Final = Table(
    "records",
    METADATA,
    Column("seq", SEQ, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("stage", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Column("mutation_id", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("stack", TEXT, nullable=False),
    Column("intent", TEXT, nullable=False),
    Column("motivation", TEXT, nullable=False),
    Column("verdict", TEXT, nullable=False),
    # The key that the body names as the caller's; empty if it names none.
    Column("key_id", TEXT, nullable=False),
    # 1 if the motive in the body has evidence.
    Column("has_evidence", Integer, nullable=False),
    # 1 if it is a report of the reconciler that leaves something to a human.
    Column("left_over", Integer, nullable=False),
    Column("body", TEXT, nullable=False),
    Column("previous", TEXT, nullable=False),
    Column("hash", TEXT, nullable=False),
    # Each index costs every write, so there are few, and whatever a filter combines is found by them.
    Index("records_by_mutation", "mutation_id", "seq"),
    Index("records_by_time", "at", "seq"),
    Index("records_by_kind", *KIND, "seq"),
    Index("records_by_actor", "actor", *KIND, "seq"),
    Index("records_by_key", "key_id", *KIND, "seq"),
)
"""The records. Triggers refuse to change one, and to delete one that is in no archive."""

RESOURCES: Final = Table(
    "record_resources",
    METADATA,
    Column("seq", SEQ, primary_key=True, autoincrement=False),
    Column("address", TEXT, primary_key=True),
    Column("attribute", TEXT, primary_key=True),
    Index("resources_by_address", "address", "seq", "attribute"),
)
"""The addresses and attributes that a record is about, so that `--resource` and `blame` find it."""

CLAIMS: Final = Table(
    "claims",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("mutation_id", TEXT, nullable=False),
    Column("address", TEXT, nullable=False),
    Column("attribute", TEXT, nullable=False),
    Column("value", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("motive", TEXT, nullable=True),
    Column("since", TEXT, nullable=False),
    Column("until", TEXT, nullable=True),
    # 1 while its mutation is in flight or in doubt: the claim then neither expires nor can be superseded.
    Column("unsettled", Integer, nullable=False),
    Column("ended_at", TEXT, nullable=True),
    Column("end", TEXT, nullable=True),
    # The mutation that superseded it. If that mutation fails, the claim is reopened.
    Column("ended_by", TEXT, nullable=True),
    # JSON: ids of the signals that prove its motive.
    Column("proof", TEXT, nullable=False),
    # JSON: since when the live value is another one, which, and who probably did it; empty while the claimed value stands.
    Column("undone", TEXT, nullable=False),
    # That of its motive, to be counted; empty without one.
    Column("motivation", TEXT, nullable=False),
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
"""The claims. The unique index on open claims decides between two mutations that want the same attribute."""

ATTEMPTS: Final = Table(
    "attempts",
    METADATA,
    Column("mutation_id", TEXT, primary_key=True),
    # Seq of its DECIDED record.
    Column("seq", SEQ, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("stack", TEXT, nullable=False),
    # Null if the caller gave none. Set to null when AWS refuses, so that the next try is a new attempt.
    Column("idempotency_key", TEXT, nullable=True),
    Column("call_digest", TEXT, nullable=False),
    Column("decided_at", TEXT, nullable=False),
    # An `AttemptState`.
    Column("state", TEXT, nullable=False),
    Column("request_id", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("reply_status", Integer, nullable=True),
    Column("reply_headers", TEXT, nullable=True),
    Column("reply_body", LargeBinary, nullable=True),
    # The gateway that sends it; see `LeaseTable`.
    Column("owner", TEXT, nullable=False),
    # When it was left to a human, because nothing showed the outcome; empty before that.
    Column("left_at", TEXT, nullable=False),
    Index("attempts_by_key", "actor", "idempotency_key", unique=True),
    Index("attempts_by_record", "seq"),
    _partial(_IN_FLIGHT, "attempts_in_flight", "decided_at"),
    _partial(_IN_DOUBT, "attempts_in_doubt", "decided_at"),
)
"""The mutations that were carried out: their state, and AWS's reply for a repeat with the same idempotency key."""

LEASES: Final = Table(
    "leases",
    METADATA,
    # A random id of one running gateway.
    Column("owner", TEXT, primary_key=True),
    # Renewed while the gateway lives.
    Column("until", TEXT, nullable=False),
)
"""The gateways that live. Attempts of a gateway without a current lease have nobody who will record their outcome."""

SIGNATURES: Final = Table(
    "spent_signatures",
    METADATA,
    Column("signature", TEXT, primary_key=True),
    Column("mutation_id", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Index("signatures_by_time", "at"),
)
"""The signatures of requests that were carried out lately. Each is spent once."""

HOLDS: Final = Table(
    "holds",
    METADATA,
    Column("mutation_id", TEXT, primary_key=True),
    Column("at", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("on_behalf_of", TEXT, nullable=False),
    Column("stack", TEXT, nullable=False),
    Column("call_digest", TEXT, nullable=False),
    # JSON: caller, call, motive, effects and decision, as in the DECIDED record.
    Column("summary", TEXT, nullable=False),
    # A `HoldState`.
    Column("state", TEXT, nullable=False),
    # JSON: the `Binding` of an approval of it.
    Column("binding", TEXT, nullable=False),
    Index("holds_by_call", "actor", "call_digest"),
    Index("holds_by_state", "state", "at", "mutation_id", "stack"),
    Index("holds_by_time", "at", "mutation_id", "stack"),
    Index("holds_by_actor", "actor", "at", "mutation_id"),
)
"""The held mutations, which wait for a human."""

APPROVALS: Final = Table(
    "approvals",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("mutation_id", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("call_digest", TEXT, nullable=False),
    Column("approver", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Column("until", TEXT, nullable=False),
    # An `ApprovalState`.
    Column("state", TEXT, nullable=False),
    # The mutation that used it; empty while unused.
    Column("used_by", TEXT, nullable=False),
    # The binding of the approved hold.
    Column("binding", TEXT, nullable=False),
    # JSON: the people who consented before `approver`, where more than one must.
    Column("others", TEXT, nullable=False),
    # 1 if a human passed the hold in an emergency.
    Column("broke_glass", Integer, nullable=False),
    # JSON: the keys with which they consented, `approver`'s last; null where the record is older than this column.
    Column("keys", TEXT, nullable=True),
    _partial(_UNUSED, "approvals_unused", "actor", "call_digest", unique=True),
    _partial(_PARTIAL, "approvals_partial", "actor", "call_digest", unique=True),
    Index("approvals_by_mutation", "mutation_id"),
)
"""The approvals: a human's consent to one call of one actor in the circumstances of its hold, which can be used once."""

VALUES: Final = Table(
    "applied_values",
    METADATA,
    Column("address", TEXT, primary_key=True),
    Column("attribute", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
    Column("mutation_id", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    # Seq of its SETTLED record. A later value overrides an earlier one of an attribute inside or around it.
    Column("seq", SEQ, nullable=False),
    Index("values_by_mutation", "mutation_id"),
    Index("values_by_attribute", "attribute"),
)
"""The last value applied through Sentinel to each attribute, until the code declares it."""

KEYS: Final = Table(
    "keys",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("actor", TEXT, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("roles", TEXT, nullable=False),
    Column("on_behalf_of", TEXT, nullable=False),
    Column("motive", TEXT, nullable=True),
    Column("created_at", TEXT, nullable=False),
    Column("expires_at", TEXT, nullable=True),
    Column("revoked_at", TEXT, nullable=True),
    # The standing key that a session key was issued with; `role:NAME` if a web identity assumed that role; empty for standing keys.
    Column("session_of", TEXT, nullable=False),
    # 1 if a caller with this key may state no other motive than the key's.
    Column("motive_only", Integer, nullable=False),
    # The JSON form of how AWS's token service was asked for it (`RecordedAssumption`); null for every other key.
    Column("assumed", TEXT, nullable=True),
    Index("keys_by_end", "session_of", "expires_at"),
    Index("keys_by_start", "session_of", "created_at"),
)
"""The issued keys. Their secrets are derived, never stored."""

PLAN_SESSIONS: Final = Table(
    "plan_sessions",
    METADATA,
    Column("mutation_id", TEXT, primary_key=True),
    Column("key_id", TEXT, nullable=False),
    # Seq of its DECIDED record, which has the planned changes.
    Column("seq", SEQ, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("stack", TEXT, nullable=False),
    # That of the plan, keyed.
    Column("digest", TEXT, nullable=False),
    Column("until", TEXT, nullable=False),
    Column("ended_at", TEXT, nullable=True),
    # A `PlanSessionEnd`; empty while it is open.
    Column("end", TEXT, nullable=False),
    Index("plan_sessions_by_key", "key_id", unique=True),
    _partial(_OPEN, "plan_sessions_open", "actor", "digest"),
)
"""The sessions in which plans are applied."""

PLAN_USES: Final = Table(
    "plan_uses",
    METADATA,
    # The call's.
    Column("mutation_id", TEXT, primary_key=True),
    Column("address", TEXT, primary_key=True),
    Column("action", TEXT, primary_key=True),
    # The plan's mutation.
    Column("plan", TEXT, nullable=False),
    # `service:Operation`.
    Column("operation", TEXT, nullable=False),
    Index("plan_uses_by_plan", "plan", "address", "action", "operation"),
)
"""What calls used of the planned changes of their session."""

SIGNALS: Final = Table(
    "signals",
    METADATA,
    Column("id", TEXT, primary_key=True),
    Column("source", TEXT, nullable=False),
    Column("key", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("service", TEXT, nullable=False),
    # A `SignalState`.
    Column("state", TEXT, nullable=False),
    # Time of the latest event. An event that is not later changes nothing.
    Column("at", TEXT, nullable=False),
    Column("since", TEXT, nullable=False),
    Column("heard_at", TEXT, nullable=False),
    Column("labels", TEXT, nullable=False),
    # JSON: what evidence may refer to it by.
    Column("refs", TEXT, nullable=False),
    # JSON: what it concerns.
    Column("scopes", TEXT, nullable=False),
    Index("signals_by_state", "state", "source"),
    Index("signals_by_time", "at"),
)
"""The signals, each as its source described it last."""

TIME_BOXES: Final = Table(
    "time_boxes",
    METADATA,
    Column("mutation_id", TEXT, primary_key=True),
    Column("address", TEXT, primary_key=True),
    Column("attribute", TEXT, primary_key=True),
    # JSON: what the change set.
    Column("value", TEXT, nullable=False),
    # JSON: what is put back.
    Column("base", TEXT, nullable=False),
    # The first of the time-boxed changes on top of each other.
    Column("root", TEXT, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("stack", TEXT, nullable=False),
    # Seq of its DECIDED record.
    Column("seq", SEQ, nullable=False),
    # When it was decided.
    Column("since", TEXT, nullable=False),
    Column("until", TEXT, nullable=False),
    # A `TimeBoxState`.
    Column("state", TEXT, nullable=False),
    # The mutation that puts or put it back, or that has the attribute now; empty if none.
    Column("ended_by", TEXT, nullable=False),
    Index("time_boxes_by_address", "address", "seq"),
    _partial(_LISTED, "time_boxes_listed", "until"),
)
"""The attributes of time-boxed changes, which are put back at their end."""

STOPS: Final = Table(
    "stops",
    METADATA,
    Column("id", TEXT, primary_key=True),
    # A `StopScope`.
    Column("scope", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("reason", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Column("ended_at", TEXT, nullable=True),
    Column("ended_by", TEXT, nullable=False),
    _partial(_OPEN, "stops_standing", "at"),
)
"""The stops: what people said that nobody may change."""

BUDGETS: Final = Table(
    "budgets",
    METADATA,
    Column("actor", TEXT, primary_key=True),
    # JSON: when each bucket is full again, by its name; without those that were full at the last decision.
    Column("levels", TEXT, nullable=False),
    # Refusals and failures since the last success.
    Column("in_a_row", Integer, nullable=False),
    # A `BreakerState`.
    Column("state", TEXT, nullable=False),
    # While it is open: when one call is let through; else empty.
    Column("until", TEXT, nullable=False),
    # While it is half open: the mutation that is tried; else empty.
    Column("trial", TEXT, nullable=False),
)
"""What each actor has used of its budgets, and its circuit breaker."""

EXPORTS: Final = Table(
    "exports",
    METADATA,
    # Format and place, e.g. `ocsf s3://bucket/prefix`.
    Column("sink", TEXT, primary_key=True),
    # The last record that is exported.
    Column("seq", SEQ, nullable=False),
    # Its hash, which the next record must name.
    Column("hash", TEXT, nullable=False),
    # The last record of the range that is being written; 0 if none is.
    Column("planned", SEQ, nullable=False),
    Column("at", TEXT, nullable=False),
)
"""How far each export has come."""

ARCHIVES: Final = Table(
    "archives",
    METADATA,
    # Its last record. The triggers let records be deleted up to the greatest of these.
    Column("last", SEQ, primary_key=True, autoincrement=False),
    # Its first record, the one after the archive before.
    Column("first", SEQ, nullable=False),
    # Of its last record, which the next record names.
    Column("hash", TEXT, nullable=False),
    # Time of its last record.
    Column("until", TEXT, nullable=False),
    # When it was made.
    Column("at", TEXT, nullable=False),
    # The directory in which its files were written.
    Column("place", TEXT, nullable=False),
    # The digest of their manifest.
    Column("manifest", TEXT, nullable=False),
    # The number of its rows in `archive_parts`: of the last archive those that there are, of an older one 0.
    Column("parts", Integer, nullable=False),
    # Over the row and its parts, under the key of the record hashes.
    Column("mac", TEXT, nullable=False),
)
"""The archives: ranges of old records that were written to files, so that they may leave the database."""

ARCHIVE_PARTS: Final = Table(
    "archive_parts",
    METADATA,
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""What the last archive says about the records that stayed and the tables that follow from those that left, in parts."""

# Literals, not parameters: a partial index is used only if the condition in the SQL text matches its own.
UNUSED: ColumnElement[str] = literal_column(f"'{ApprovalState.UNUSED}'")
PARTIAL: ColumnElement[str] = literal_column(f"'{ApprovalState.PARTIAL}'")
IN_FLIGHT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_FLIGHT}'")
IN_DOUBT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_DOUBT}'")

LISTED: ColumnElement[bool] = literal_column(f"({TIME_BOX_LISTED})", Boolean())
