"""Signals of outside sources, and which of them prove the motive of a claim."""

import sqlalchemy as sa
from alembic import op

revision = "v0007"
down_revision = "v0006"


def upgrade() -> None:
    """Create the table of signals. No signal proves a claim of before."""
    op.create_table(
        "signals",
        *(_text(name) for name in ("id", "source", "key", "name", "service", "state", "at", "since", "heard_at")),
        *(_text(name) for name in ("labels", "refs", "scopes")),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("signals_by_state", "signals", ["state", "source"])
    op.create_index("signals_by_time", "signals", ["at"])
    op.add_column("claims", _text("proof", server_default="[]"))
    proven = sa.text("ended_at IS NULL AND proof <> '[]'")
    op.create_index("claims_proven", "claims", ["id"], sqlite_where=proven, postgresql_where=proven)


def _text(name: str, *, server_default: str | None = None) -> sa.Column[str]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False, server_default=server_default)
