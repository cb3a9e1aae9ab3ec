"""The keys with which people consented, so that a revoked key takes its unused approvals along."""

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"


def upgrade() -> None:
    """Add the column. It stays null for approvals of before: their records do not tell the keys."""
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.add_column("approvals", sa.Column("keys", kind, nullable=True))
