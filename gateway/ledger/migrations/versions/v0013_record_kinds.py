"""Indexes by which records are found whatever a filter combines: by kind, by actor and kind, and those without evidence."""

import sqlalchemy as sa
from alembic import op

revision = "v0013"
down_revision = "v0012"

_KIND = ("stage", "verdict", "intent", "motivation")
_BARE = r"""(replace(body, '"evidence"\:[]', '') <> body OR replace(body, '"motive"\:null', '') <> body)"""


def upgrade() -> None:
    """Replace the indexes on one column each: where two columns were asked for, they read all records that fit one of them."""
    for name in ("actor", "motive", "motivation", "stage", "verdict"):
        op.drop_index(f"records_by_{name}", "records")
    op.create_index("records_by_kind", "records", [*_KIND, "seq"])
    op.create_index("records_by_actor", "records", ["actor", *_KIND, "seq"])
    bare = sa.text(_BARE)
    columns = ["seq", "actor", *_KIND]
    op.create_index("records_without_evidence", "records", columns, sqlite_where=bare, postgresql_where=bare)
