"""The archives, and triggers that let a record be deleted once an archive holds it. A gateway of the version before goes on beside this schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v0006"
down_revision = "v0005"

_FROZEN = ("records", "record_resources")
_ARCHIVED = "(SELECT coalesce(max(last), 0) FROM archives)"


def upgrade() -> None:
    """Create the tables, and replace the triggers that refuse every deletion."""
    op.create_table(
        "archives",
        _seq("last"),
        _seq("first"),
        *_texts("hash until at place manifest mac"),
        sa.Column("parts", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("last"),
    )
    op.create_table(
        "archive_parts",
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("part"),
    )
    postgresql = op.get_bind().dialect.name == "postgresql"
    for table in _FROZEN:
        if postgresql:
            op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION sentinel_append_only()"
            )
        else:
            op.execute(f"DROP TRIGGER {table}_refuse_delete")
            op.execute(
                f"CREATE TRIGGER {table}_refuse_delete BEFORE DELETE ON {table} WHEN OLD.seq > {_ARCHIVED} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
    if postgresql:
        # One check for a statement: for each row, a million records would take minutes.
        op.execute(
            "CREATE FUNCTION sentinel_archived_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF EXISTS (SELECT 1 FROM gone WHERE seq > (SELECT coalesce(max(last), 0) FROM archives)) "
            "THEN RAISE EXCEPTION 'the ledger is append-only'; END IF; RETURN NULL; END $$"
        )
        for table in _FROZEN:
            op.execute(
                f"CREATE TRIGGER {table}_archived_only AFTER DELETE ON {table} "
                "REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION sentinel_archived_only()"
            )


def _texts(names: str) -> list[sa.Column[Any]]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return [sa.Column(name, kind, nullable=False) for name in names.split()]


def _seq(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False)
