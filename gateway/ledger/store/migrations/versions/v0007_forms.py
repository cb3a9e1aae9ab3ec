"""The forms that bodies share, and whether a gateway reads bodies that are stored by them. A gateway of the version before goes on beside this schema:
bodies are stored whole until `sentinel migrate --finish`, but in a ledger that nobody has used.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0007"
down_revision = "v0006"


def upgrade() -> None:
    """Create the table, the triggers that freeze it, and the column."""
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    op.create_table(
        "forms",
        *(sa.Column(name, kind, nullable=False) for name in ("key", "stage", "base", "text")),
        sa.Column("holes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.add_column("leases", sa.Column("reads", sa.Integer(), nullable=False, server_default=sa.text("0")))
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER forms_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON forms "
            "FOR EACH STATEMENT EXECUTE FUNCTION sentinel_append_only()"
        )
    else:
        for change in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER forms_refuse_{change} BEFORE {change.upper()} ON forms "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
    used = ("SELECT 1 FROM records LIMIT 1", "SELECT 1 FROM keys LIMIT 1", "SELECT 1 FROM leases LIMIT 1")
    if not any(connection.execute(sa.text(each)).first() for each in used):
        op.execute("INSERT INTO forms (key, stage, base, holes, text) VALUES ('', '', '', 0, '')")
