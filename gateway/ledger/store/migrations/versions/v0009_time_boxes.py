"""Changes that are wanted for a time go back at its end."""

import sqlalchemy as sa
from alembic import op

revision = "v0009"
down_revision = "v0008"


def upgrade() -> None:
    """Create the table of time-boxed changes. Those of before stay as they are: nobody recorded how to put them back."""
    text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    seq = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    names = ("mutation_id", "address", "attribute", "value", "base", "root", "actor", "stack")
    op.create_table(
        "time_boxes",
        *(sa.Column(name, text, nullable=False) for name in names),
        sa.Column("seq", seq, nullable=False),
        *(sa.Column(name, text, nullable=False) for name in ("since", "until", "state", "ended_by")),
        sa.PrimaryKeyConstraint("mutation_id", "address", "attribute"),
    )
    op.create_index("time_boxes_by_address", "time_boxes", ["address", "seq"])
    listed = sa.text("state IN ('standing', 'putting_back', 'changed_outside', 'left')")
    op.create_index("time_boxes_listed", "time_boxes", ["until"], sqlite_where=listed, postgresql_where=listed)
