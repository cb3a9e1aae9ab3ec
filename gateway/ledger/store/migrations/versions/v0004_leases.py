"""Attempts have an owner, whose lease shows that it lives, and a time at which they were left to a human."""

import sqlalchemy as sa
from alembic import op

revision = "v0004"
down_revision = "v0003"


def upgrade() -> None:
    """Add the columns and the table of leases. Attempts of before have no owner, so the next start marks them as in doubt."""
    for name in ("owner", "left_at"):
        op.add_column("attempts", _text(name, server_default=""))
    op.create_table("leases", _text("owner"), _text("until"), sa.PrimaryKeyConstraint("owner"))
    where = sa.text("state = 'in_doubt'")
    op.create_index("attempts_in_doubt", "attempts", ["decided_at"], sqlite_where=where, postgresql_where=where)


def _text(name: str, *, server_default: str | None = None) -> sa.Column[str]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False, server_default=server_default)
