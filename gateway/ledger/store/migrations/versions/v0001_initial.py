"""The initial schema. A released schema is never edited: what comes later is a migration of its own."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v0001"
down_revision = None

_FROZEN = ("records", "record_resources")


def upgrade() -> None:
    """Create every table with its indexes, and the triggers that refuse changes of records."""
    _records()
    _claims()
    _attempts()
    _holds()
    _values_and_keys()
    _signals()
    _fairness()
    _exports()
    if op.get_bind().dialect.name == "postgresql":
        _freeze_on_postgresql()
    else:
        _freeze_on_sqlite()


def _table(name: str, *columns: sa.Column[Any], key: str) -> None:
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key.split()))


def _texts(names: str, *, nullable: bool = False) -> list[sa.Column[Any]]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return [sa.Column(name, kind, nullable=nullable) for name in names.split()]


def _number(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def _seq(name: str = "seq") -> sa.Column[Any]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column(name, kind, autoincrement=False, nullable=False)


def _index(name: str, table: str, columns: str, where: str = "", *, unique: bool = False) -> None:
    condition = sa.text(where) if where else None
    op.create_index(name, table, columns.split(), unique=unique, sqlite_where=condition, postgresql_where=condition)


def _records() -> None:
    kind = "stage verdict intent motivation has_evidence left_over"
    texts = _texts("stage at mutation_id actor stack intent motivation verdict key_id body previous hash")
    flags = [_number(name) for name in ("has_evidence", "left_over")]
    _table("records", _seq(), _number("version"), *texts, *flags, key="seq")
    _index("records_by_mutation", "records", "mutation_id seq")
    _index("records_by_time", "records", "at seq")
    _index("records_by_kind", "records", f"{kind} seq")
    _index("records_by_actor", "records", f"actor {kind} seq")
    _index("records_by_key", "records", f"key_id {kind} seq")
    _table("record_resources", _seq(), *_texts("address attribute"), key="seq address attribute")
    _index("resources_by_address", "record_resources", "address seq attribute")


def _claims() -> None:
    _table(
        "claims",
        *_texts("id mutation_id address attribute value actor kind since proof undone motivation"),
        *_texts("motive until ended_at end ended_by", nullable=True),
        _number("unsettled"),
        key="id",
    )
    _index("claims_open", "claims", "address attribute", "ended_at IS NULL", unique=True)
    _index("claims_by_key", "claims", "address attribute since")
    _index("claims_by_mutation", "claims", "mutation_id")
    _index("claims_by_actor", "claims", "actor since")
    _index("claims_by_end", "claims", "until", "ended_at IS NULL")
    _index("claims_open_by_actor", "claims", "actor motivation until", "ended_at IS NULL")
    _index("claims_superseded", "claims", "ended_by", "ended_by IS NOT NULL")
    _index("claims_proven", "claims", "id", "ended_at IS NULL AND proof <> '[]'")
    _index("claims_by_time", "claims", "since id")
    _index("claims_open_by_time", "claims", "since id", "ended_at IS NULL")


def _attempts() -> None:
    _table(
        "attempts",
        _seq(),
        *_texts("mutation_id actor stack call_digest decided_at state request_id reason owner left_at"),
        *_texts("idempotency_key reply_headers", nullable=True),
        _number("reply_status", nullable=True),
        sa.Column("reply_body", sa.LargeBinary(), nullable=True),
        key="mutation_id",
    )
    _index("attempts_by_key", "attempts", "actor idempotency_key", unique=True)
    _index("attempts_by_record", "attempts", "seq")
    _index("attempts_in_flight", "attempts", "decided_at", "state = 'in_flight'")
    _index("attempts_in_doubt", "attempts", "decided_at", "state = 'in_doubt'")
    _table("leases", *_texts("owner until"), key="owner")
    _table("spent_signatures", *_texts("signature mutation_id at"), key="signature")
    _index("signatures_by_time", "spent_signatures", "at")


def _holds() -> None:
    holds = _texts("mutation_id at actor on_behalf_of stack call_digest summary state binding")
    _table("holds", *holds, key="mutation_id")
    _index("holds_by_call", "holds", "actor call_digest")
    _index("holds_by_state", "holds", "state at mutation_id stack")
    _index("holds_by_time", "holds", "at mutation_id stack")
    _index("holds_by_actor", "holds", "actor at mutation_id")
    approvals = _texts("id mutation_id actor call_digest approver at until state used_by binding others")
    _table("approvals", *approvals, _number("broke_glass"), key="id")
    _index("approvals_unused", "approvals", "actor call_digest", "state = 'open'", unique=True)
    _index("approvals_partial", "approvals", "actor call_digest", "state = 'partial'", unique=True)
    _index("approvals_by_mutation", "approvals", "mutation_id")


def _values_and_keys() -> None:
    values = _texts("address attribute value mutation_id at")
    _table("applied_values", *values, _seq(), key="address attribute")
    _index("values_by_mutation", "applied_values", "mutation_id")
    _index("values_by_attribute", "applied_values", "attribute")
    keys = _texts("id actor kind roles on_behalf_of created_at session_of")
    _table("keys", *keys, *_texts("motive expires_at revoked_at", nullable=True), _number("motive_only"), key="id")


def _signals() -> None:
    signals = _texts("id source key name service state at since heard_at labels refs scopes")
    _table("signals", *signals, key="id")
    _index("signals_by_state", "signals", "state source")
    _index("signals_by_time", "signals", "at")


def _fairness() -> None:
    boxes = _texts("mutation_id address attribute value base root actor stack since until state ended_by")
    _table("time_boxes", *boxes, _seq(), key="mutation_id address attribute")
    _index("time_boxes_by_address", "time_boxes", "address seq")
    listed = "state IN ('standing', 'putting_back', 'changed_outside', 'left')"
    _index("time_boxes_listed", "time_boxes", "until", listed)
    stops = _texts("id scope name by reason at ended_by")
    _table("stops", *stops, *_texts("ended_at", nullable=True), key="id")
    _index("stops_standing", "stops", "at", "ended_at IS NULL")
    _table("budgets", *_texts("actor levels state until trial"), _number("in_a_row"), key="actor")


def _exports() -> None:
    _table("exports", *_texts("sink"), _seq(), *_texts("hash"), _seq("planned"), *_texts("at"), key="sink")


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
