"""Indexes of records on PostgreSQL with one number in the place of the six columns of a kind, which take a third of the room. A gateway of the version
before goes on beside this schema: it uses the indexes of before, which `sentinel migrate --finish` removes; in a ledger that nobody has used, this does.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0008"
down_revision = "v0007"

_KIND = (
    "(hashtextextended(stage || ' ' || verdict || ' ' || intent || ' ' || motivation || ' ' || "
    "CAST(has_evidence AS text) || ' ' || CAST(left_over AS text), 0))"
)


def upgrade() -> None:
    """Create the indexes. In a ledger that nobody has used, remove those of before, and let replies be stored short."""
    connection = op.get_bind()
    used = ("SELECT 1 FROM records LIMIT 1", "SELECT 1 FROM keys LIMIT 1", "SELECT 1 FROM leases LIMIT 1")
    unused = not any(connection.execute(sa.text(each)).first() for each in used)
    if connection.dialect.name == "postgresql":
        op.execute(f"CREATE INDEX records_of_kind ON records ({_KIND}, seq)")
        op.execute(f"CREATE INDEX records_of_actor ON records (actor, {_KIND}, seq)")
        op.execute(f"CREATE INDEX records_of_key ON records (key_id, {_KIND}, seq) WHERE key_id <> ''")
        if unused:
            op.execute("DROP INDEX records_by_kind, records_by_actor, records_by_key")
    if unused:
        op.execute("INSERT INTO forms (key, stage, base, holes, text) VALUES ('2', '', '2', 0, '')")
