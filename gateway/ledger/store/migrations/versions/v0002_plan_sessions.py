"""The tables of plan sessions: which are open, and what their calls used of the planned changes."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    """Create both tables with their indexes. Nothing follows from records of before: no plan had a session."""
    sessions = "mutation_id key_id actor stack digest until end"
    op.create_table(
        "plan_sessions",
        *_texts(sessions),
        *_texts("ended_at", nullable=True),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("mutation_id"),
    )
    op.create_index("plan_sessions_by_key", "plan_sessions", ["key_id"], unique=True)
    still_open = sa.text("ended_at IS NULL")
    op.create_index(
        "plan_sessions_open",
        "plan_sessions",
        ["actor", "digest"],
        sqlite_where=still_open,
        postgresql_where=still_open,
    )
    op.create_table(
        "plan_uses",
        *_texts("mutation_id address action plan operation"),
        sa.PrimaryKeyConstraint("mutation_id", "address", "action"),
    )
    op.create_index("plan_uses_by_plan", "plan_uses", ["plan", "address", "action", "operation"])


def _texts(names: str, *, nullable: bool = False) -> list[sa.Column[Any]]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return [sa.Column(name, kind, nullable=nullable) for name in names.split()]
