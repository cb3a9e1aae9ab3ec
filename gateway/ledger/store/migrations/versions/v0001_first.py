"""The first schema: records that cannot be changed, claims, attempts, holds, approvals, values and keys."""

import sqlalchemy as sa
from alembic import op

revision = "v0001"
down_revision = None

_FROZEN = ("records", "record_resources")


def upgrade() -> None:
    """Create every table, and the triggers that refuse changes of records."""
    _records()
    _claims()
    _attempts()
    _holds()
    _values_and_keys()
    if op.get_bind().dialect.name == "postgresql":
        _freeze_on_postgresql()
    else:
        _freeze_on_sqlite()


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=nullable)


def _seq() -> sa.Column[int]:
    return sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False)


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _records() -> None:
    texts = ("stage", "at", "mutation_id", "actor", "stack", "intent", "motivation", "verdict", "body")
    op.create_table(
        "records",
        _seq(),
        sa.Column("version", sa.Integer(), nullable=False),
        *(_text(name) for name in (*texts, "previous", "hash")),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("records_by_actor", "records", ["actor", "seq"])
    op.create_index("records_by_motive", "records", ["intent", "motivation", "seq"])
    op.create_index("records_by_motivation", "records", ["motivation", "seq"])
    op.create_index("records_by_stage", "records", ["stage", "seq"])
    op.create_index("records_by_verdict", "records", ["verdict", "seq"])
    op.create_index("records_by_mutation", "records", ["mutation_id", "seq"])
    op.create_index("records_by_time", "records", ["at", "seq"])
    op.create_table(
        "record_resources",
        _seq(),
        _text("address"),
        _text("attribute"),
        sa.PrimaryKeyConstraint("seq", "address", "attribute"),
    )
    op.create_index("resources_by_address", "record_resources", ["address", "seq", "attribute"])


def _claims() -> None:
    needed = ("id", "mutation_id", "address", "attribute", "value", "actor", "kind", "since")
    optional = ("motive", "until", "ended_at", "end", "ended_by")
    op.create_table(
        "claims",
        *(_text(name) for name in needed),
        *(_text(name, nullable=True) for name in optional),
        sa.Column("unsettled", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    _partial("claims_open", "claims", ["address", "attribute"], "ended_at IS NULL", unique=True)
    op.create_index("claims_by_key", "claims", ["address", "attribute", "since"])
    op.create_index("claims_by_mutation", "claims", ["mutation_id"])
    op.create_index("claims_by_actor", "claims", ["actor", "since"])
    _partial("claims_by_end", "claims", ["until"], "ended_at IS NULL")
    _partial("claims_superseded", "claims", ["ended_by"], "ended_by IS NOT NULL")


def _attempts() -> None:
    op.create_table(
        "attempts",
        _seq(),
        *(_text(name) for name in ("mutation_id", "actor", "stack", "call_digest", "decided_at")),
        *(_text(name) for name in ("state", "request_id", "reason")),
        _text("idempotency_key", nullable=True),
        sa.Column("reply_status", sa.Integer(), nullable=True),
        _text("reply_headers", nullable=True),
        sa.Column("reply_body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("mutation_id"),
    )
    op.create_index("attempts_by_key", "attempts", ["actor", "idempotency_key"], unique=True)
    op.create_index("attempts_by_record", "attempts", ["seq"])
    _partial("attempts_in_flight", "attempts", ["decided_at"], "state = 'in_flight'")


def _holds() -> None:
    holds = ("mutation_id", "at", "actor", "on_behalf_of", "stack", "call_digest", "summary", "state")
    op.create_table("holds", *(_text(name) for name in holds), sa.PrimaryKeyConstraint("mutation_id"))
    op.create_index("holds_by_call", "holds", ["actor", "call_digest"])
    op.create_index("holds_by_state", "holds", ["state", "at"])
    approvals = ("id", "mutation_id", "actor", "call_digest", "approver", "at", "until", "state", "used_by")
    op.create_table("approvals", *(_text(name) for name in approvals), sa.PrimaryKeyConstraint("id"))
    _partial("approvals_unused", "approvals", ["actor", "call_digest"], "state = 'open'", unique=True)
    op.create_index("approvals_by_mutation", "approvals", ["mutation_id"])


def _values_and_keys() -> None:
    values = ("address", "attribute", "value", "mutation_id", "at")
    op.create_table(
        "applied_values",
        *(_text(name) for name in values),
        _seq(),
        sa.PrimaryKeyConstraint("address", "attribute"),
    )
    op.create_index("values_by_mutation", "applied_values", ["mutation_id"])
    op.create_table(
        "keys",
        *(_text(name) for name in ("id", "actor", "kind", "roles", "on_behalf_of", "created_at", "session_of")),
        *(_text(name, nullable=True) for name in ("motive", "expires_at", "revoked_at")),
        sa.PrimaryKeyConstraint("id"),
    )


def _freeze_on_sqlite() -> None:
    for table in _FROZEN:
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_refuse_{act.lower()} BEFORE {act} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )


def _freeze_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION sentinel_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    )
    for table in _FROZEN:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION sentinel_append_only()"
        )
