"""Applied values are found by their attribute."""

from alembic import op

revision = "v0006"
down_revision = "v0005"


def upgrade() -> None:
    """Add the index."""
    op.create_index("values_by_attribute", "applied_values", ["attribute"])
