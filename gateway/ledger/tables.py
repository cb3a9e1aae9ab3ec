"""The ledger's tables, the same on SQLite and PostgreSQL.

Times are ISO 8601 text in UTC with microseconds. Their width is fixed, so they sort as text. JSON is canonical text
(`model.json.canonical`), so the stored text is the hashed text. Text compares by code point on both stores.
"""

from sqlalchemy import (
    BigInteger,
    Column,
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

from gateway.ledger.states import ApprovalState, AttemptState

TEXT: TypeEngine[str] = String().with_variant(String(collation="C"), "postgresql")
SEQ: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")

_OPEN = text("ended_at IS NULL")
_UNUSED = text(f"state = '{ApprovalState.UNUSED}'")
_IN_FLIGHT = text(f"state = '{AttemptState.IN_FLIGHT}'")
_IN_DOUBT = text(f"state = '{AttemptState.IN_DOUBT}'")
_SUPERSEDED = text("ended_by IS NOT NULL")


METADATA = MetaData()
"""These tables and no others."""


def _text(name: str, *, primary: bool = False, null: bool = False, default: str | None = None) -> Column[str]:
    return Column(name, TEXT, primary_key=primary, nullable=null, server_default=default)


def _number(
    name: str,
    kind: TypeEngine[int] | None = None,
    *,
    primary: bool = False,
    null: bool = False,
    default: str | None = None,
) -> Column[int]:
    # A number that is a key is never counted up by the database.
    return Column(
        name, kind or Integer(), primary_key=primary, nullable=null, server_default=default, autoincrement=False
    )


RECORDS = Table(
    "records",
    METADATA,
    _number("seq", SEQ, primary=True),
    _number("version"),
    _text("stage"),
    _text("at"),
    _text("mutation_id"),
    _text("actor"),
    _text("stack"),
    _text("intent"),
    _text("motivation"),
    _text("verdict"),
    _text("body"),
    _text("previous"),
    _text("hash"),
    Index("records_by_actor", "actor", "seq"),
    Index("records_by_motive", "intent", "motivation", "seq"),
    Index("records_by_motivation", "motivation", "seq"),
    Index("records_by_stage", "stage", "seq"),
    Index("records_by_verdict", "verdict", "seq"),
    Index("records_by_mutation", "mutation_id", "seq"),
    Index("records_by_time", "at", "seq"),
)
"""The records. Triggers refuse to change or delete one."""

RESOURCES = Table(
    "record_resources",
    METADATA,
    _number("seq", SEQ, primary=True),
    _text("address", primary=True),
    _text("attribute", primary=True),
    Index("resources_by_address", "address", "seq", "attribute"),
)
"""The addresses and attributes that a record is about, so that `--resource` and `blame` find it."""

CLAIMS = Table(
    "claims",
    METADATA,
    _text("id", primary=True),
    _text("mutation_id"),
    _text("address"),
    _text("attribute"),
    _text("value"),
    _text("actor"),
    _text("kind"),
    _text("motive", null=True),
    _text("since"),
    _text("until", null=True),
    # 1 while its mutation is in flight or in doubt: the claim then neither expires nor can be superseded.
    _number("unsettled"),
    _text("ended_at", null=True),
    _text("end", null=True),
    # The mutation that superseded it. If that mutation fails, the claim is reopened.
    _text("ended_by", null=True),
    Index("claims_open", "address", "attribute", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index("claims_by_key", "address", "attribute", "since"),
    Index("claims_by_mutation", "mutation_id"),
    Index("claims_by_actor", "actor", "since"),
    Index("claims_by_end", "until", sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index("claims_open_by_actor", "actor", "until", sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index("claims_superseded", "ended_by", sqlite_where=_SUPERSEDED, postgresql_where=_SUPERSEDED),
)
"""The claims. The unique index on open claims decides between two mutations that want the same attribute."""

ATTEMPTS = Table(
    "attempts",
    METADATA,
    _text("mutation_id", primary=True),
    # Seq of its DECIDED record.
    _number("seq", SEQ),
    _text("actor"),
    _text("stack"),
    # Null if the caller gave none. Set to null when AWS refuses, so that the next try is a new attempt.
    _text("idempotency_key", null=True),
    _text("call_digest"),
    _text("decided_at"),
    # An `AttemptState`.
    _text("state"),
    _text("request_id"),
    _text("reason"),
    _number("reply_status", null=True),
    _text("reply_headers", null=True),
    Column("reply_body", LargeBinary),
    # The gateway that sends it; see `LeaseTable`.
    _text("owner", default=""),
    # When it was left to a human, because nothing showed the outcome; empty before that.
    _text("left_at", default=""),
    Index("attempts_by_key", "actor", "idempotency_key", unique=True),
    Index("attempts_by_record", "seq"),
    Index("attempts_in_flight", "decided_at", sqlite_where=_IN_FLIGHT, postgresql_where=_IN_FLIGHT),
    Index("attempts_in_doubt", "decided_at", sqlite_where=_IN_DOUBT, postgresql_where=_IN_DOUBT),
)
"""The mutations that were carried out: their state, and AWS's reply for a repeat with the same idempotency key."""

LEASES = Table(
    "leases",
    METADATA,
    # A random id of one running gateway.
    _text("owner", primary=True),
    # Renewed while the gateway lives.
    _text("until"),
)
"""The gateways that live. Attempts of a gateway without a current lease have nobody who will record their outcome."""

SIGNATURES = Table(
    "spent_signatures",
    METADATA,
    _text("signature", primary=True),
    _text("mutation_id"),
    _text("at"),
    Index("signatures_by_time", "at"),
)
"""The signatures of requests that were carried out lately. Each is spent once."""

HOLDS = Table(
    "holds",
    METADATA,
    _text("mutation_id", primary=True),
    _text("at"),
    _text("actor"),
    _text("on_behalf_of"),
    _text("stack"),
    _text("call_digest"),
    # JSON: caller, call, motive, effects and decision, as in the DECIDED record.
    _text("summary"),
    # A `HoldState`.
    _text("state"),
    # JSON: the `Binding` of an approval of it. Empty if an older version of Sentinel held it; then no approval fits.
    _text("binding"),
    Index("holds_by_call", "actor", "call_digest"),
    Index("holds_by_state", "state", "at"),
)
"""The held mutations, which wait for a human."""

APPROVALS = Table(
    "approvals",
    METADATA,
    _text("id", primary=True),
    _text("mutation_id"),
    _text("actor"),
    _text("call_digest"),
    _text("approver"),
    _text("at"),
    _text("until"),
    # An `ApprovalState`.
    _text("state"),
    # The mutation that used it; empty while unused.
    _text("used_by"),
    # The binding of the approved hold.
    _text("binding"),
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
"""The approvals: a human's consent to one call of one actor in the circumstances of its hold, which can be used once."""

VALUES = Table(
    "applied_values",
    METADATA,
    _text("address", primary=True),
    _text("attribute", primary=True),
    _text("value"),
    _text("mutation_id"),
    _text("at"),
    # Seq of its SETTLED record. A later value overrides an earlier one of an attribute inside or around it.
    _number("seq", SEQ),
    Index("values_by_mutation", "mutation_id"),
    Index("values_by_attribute", "attribute"),
)
"""The last value applied through Sentinel to each attribute, until the code declares it."""

KEYS = Table(
    "keys",
    METADATA,
    _text("id", primary=True),
    _text("actor"),
    _text("kind"),
    _text("roles"),
    _text("on_behalf_of"),
    _text("motive", null=True),
    _text("created_at"),
    _text("expires_at", null=True),
    _text("revoked_at", null=True),
    # The standing key that a session key was issued with; empty for standing keys.
    _text("session_of"),
    # 1 if a caller with this key may state no other motive than the key's.
    _number("motive_only", default="0"),
)
"""The issued keys. Their secrets are derived, never stored."""

# Literals, not parameters: a partial index is used only if the condition in the SQL text matches its own.
UNUSED: ColumnElement[str] = literal_column(f"'{ApprovalState.UNUSED}'")
IN_FLIGHT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_FLIGHT}'")
IN_DOUBT: ColumnElement[str] = literal_column(f"'{AttemptState.IN_DOUBT}'")
