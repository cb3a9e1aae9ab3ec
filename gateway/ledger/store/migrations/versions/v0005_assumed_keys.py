"""How temporary keys came about that AWS's token service was asked for."""

import sqlalchemy as sa
from alembic import op

revision = "v0005"
down_revision = "v0004"


def upgrade() -> None:
    """Add the column. It stays null for keys of before: nobody could assume a role."""
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.add_column("keys", sa.Column("assumed", kind, nullable=True))
