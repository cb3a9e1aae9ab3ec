"""How far each export has come."""

import sqlalchemy as sa
from alembic import op

revision = "v0012"
down_revision = "v0011"


def upgrade() -> None:
    """Create the table. Nothing was exported before."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "exports",
        _text("sink"),
        sa.Column("seq", number, nullable=False),
        _text("hash"),
        sa.Column("planned", number, nullable=False),
        _text("at"),
        sa.PrimaryKeyConstraint("sink"),
    )


def _text(name: str) -> sa.Column[str]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False)
