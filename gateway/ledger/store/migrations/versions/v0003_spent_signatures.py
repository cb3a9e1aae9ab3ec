"""Spent signatures: which signed request an attempt was made of, so that it is made once."""

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"


def upgrade() -> None:
    """Create the table of spent signatures."""
    op.create_table(
        "spent_signatures",
        _text("signature"),
        _text("mutation_id"),
        _text("at"),
        sa.PrimaryKeyConstraint("signature"),
    )
    op.create_index("signatures_by_time", "spent_signatures", ["at"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String().with_variant(sa.String(collation="C"), "postgresql"), nullable=False)
