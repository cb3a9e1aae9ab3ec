"""Stops."""

import sqlalchemy as sa
from alembic import op

revision = "v0011"
down_revision = "v0008"


def upgrade() -> None:
    """Create the table of stops. Nothing was stopped before."""
    op.create_table(
        "stops",
        *(_text(name) for name in ("id", "scope", "name", "by", "reason", "at")),
        _text("ended_at", nullable=True),
        _text("ended_by"),
        sa.PrimaryKeyConstraint("id"),
    )
    standing = sa.text("ended_at IS NULL")
    op.create_index("stops_standing", "stops", ["at"], sqlite_where=standing, postgresql_where=standing)


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=nullable)
