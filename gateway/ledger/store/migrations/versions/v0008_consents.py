"""An approval may need several people, and a human may pass a hold in an emergency."""

import sqlalchemy as sa
from alembic import op

revision = "v0008"
down_revision = "v0007"


def upgrade() -> None:
    """Add the columns, as approvals of before are: by one person, in no emergency."""
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.add_column("approvals", sa.Column("others", text, nullable=False, server_default="[]"))
    op.add_column("approvals", sa.Column("broke_glass", sa.Integer(), nullable=False, server_default="0"))
    where = sa.text("state = 'partial'")
    columns = ["actor", "call_digest"]
    op.create_index("approvals_partial", "approvals", columns, unique=True, sqlite_where=where, postgresql_where=where)
