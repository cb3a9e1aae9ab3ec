"""Holds and approvals keep what an approval is bound to; an actor's open claims are counted from an index."""

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    """Add the columns, empty in old rows: an approval of before fits no call, so its call is held again."""
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    for table in ("holds", "approvals"):
        op.add_column(table, sa.Column("binding", text, nullable=False, server_default=""))
    where = sa.text("ended_at IS NULL")
    op.create_index("claims_open_by_actor", "claims", ["actor", "until"], sqlite_where=where, postgresql_where=where)
