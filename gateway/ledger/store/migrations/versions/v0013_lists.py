"""Indexes by which lists are read from their end: records of each kind, those without evidence, claims and held mutations by time."""

import sqlalchemy as sa
from alembic import op

revision = "v0013"
down_revision = "v0012"

_KIND = ("stage", "verdict", "intent", "motivation")
_BARE = r"""(replace(body, '"evidence"\:[]', '') <> body OR replace(body, '"motive"\:null', '') <> body)"""
_LEFT = r"""(coalesce(stage, '') = 'reconciled' AND replace(body, '"left"\:[{', '') <> body)"""


def upgrade() -> None:
    """Create them. The indexes on one column each go: where two columns were asked for, they read all records that fit one of them."""
    for name in ("actor", "motive", "motivation", "stage", "verdict"):
        op.drop_index(f"records_by_{name}", "records")
    op.create_index("records_by_kind", "records", [*_KIND, "seq"])
    op.create_index("records_by_actor", "records", ["actor", *_KIND, "seq"])
    for name, condition in (("records_without_evidence", _BARE), ("records_left", _LEFT)):
        where = sa.text(condition)
        op.create_index(name, "records", ["seq", "actor", *_KIND], sqlite_where=where, postgresql_where=where)
    _claims_and_holds()


def _claims_and_holds() -> None:
    op.create_index("claims_by_time", "claims", ["since", "id"])
    where = sa.text("ended_at IS NULL")
    op.create_index("claims_open_by_time", "claims", ["since", "id"], sqlite_where=where, postgresql_where=where)
    op.drop_index("holds_by_state", "holds")
    op.create_index("holds_by_state", "holds", ["state", "at", "mutation_id", "stack"])
    op.create_index("holds_by_time", "holds", ["at", "mutation_id", "stack"])
    op.create_index("holds_by_actor", "holds", ["actor", "at", "mutation_id"])
