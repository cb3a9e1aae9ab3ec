"""A claim says whether the live value is still the claimed one."""

import sqlalchemy as sa
from alembic import op

revision = "v0010"
down_revision = "v0009"


def upgrade() -> None:
    """Add the column. Of the claims of before nothing of the kind is known."""
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.add_column("claims", sa.Column("undone", text, nullable=False, server_default=""))
