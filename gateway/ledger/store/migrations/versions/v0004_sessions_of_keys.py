"""Indexes of the sessions of a key, so that their number does not matter to who asks for a key, makes a session or revokes."""

from alembic import op

revision = "v0004"
down_revision = "v0003"


def upgrade() -> None:
    """Create both."""
    op.create_index("keys_by_end", "keys", ["session_of", "expires_at"])
    op.create_index("keys_by_start", "keys", ["session_of", "created_at"])
