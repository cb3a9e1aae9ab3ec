"""Keys may say that their motive is the only one they may state."""

import sqlalchemy as sa
from alembic import op

revision = "v0005"
down_revision = "v0004"


def upgrade() -> None:
    """Add the column. Keys of before may state any motive."""
    op.add_column("keys", sa.Column("motive_only", sa.Integer(), nullable=False, server_default="0"))
