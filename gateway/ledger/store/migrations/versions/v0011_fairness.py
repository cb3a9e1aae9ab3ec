"""Stops, budgets and circuit breakers, and the motivation of each claim."""

import sqlalchemy as sa
from alembic import op

revision = "v0011"
down_revision = "v0010"


def upgrade() -> None:
    """Create the tables. Nothing was stopped or charged before; the motivation of a claim is in its motive."""
    op.create_table(
        "stops",
        *(_text(name) for name in ("id", "scope", "name", "by", "reason", "at")),
        _text("ended_at", nullable=True),
        _text("ended_by"),
        sa.PrimaryKeyConstraint("id"),
    )
    standing = sa.text("ended_at IS NULL")
    op.create_index("stops_standing", "stops", ["at"], sqlite_where=standing, postgresql_where=standing)
    op.create_table(
        "budgets",
        *(_text(name) for name in ("actor", "levels")),
        sa.Column("in_a_row", sa.Integer(), nullable=False),
        *(_text(name) for name in ("state", "until", "trial")),
        sa.PrimaryKeyConstraint("actor"),
    )
    _add_motivation()


def _add_motivation() -> None:
    op.add_column("claims", _text("motivation", server_default=""))
    postgresql = op.get_bind().dialect.name == "postgresql"
    found = "CAST(motive AS jsonb) ->> 'motivation'" if postgresql else "json_extract(motive, '$.motivation')"
    op.execute(f"UPDATE claims SET motivation = {found} WHERE motive IS NOT NULL")  # noqa: S608  both are ours
    op.drop_index("claims_open_by_actor", "claims")
    columns, where = ["actor", "motivation", "until"], sa.text("ended_at IS NULL")
    op.create_index("claims_open_by_actor", "claims", columns, sqlite_where=where, postgresql_where=where)


def _text(name: str, *, nullable: bool = False, server_default: str | None = None) -> sa.Column[str]:
    kind = sa.String().with_variant(sa.String(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=nullable, server_default=server_default)
