"""The indexes by which records are found. Each costs every write, so there are few, and whatever a filter combines is found by them."""

from typing import Final

from sqlalchemy import Index, text

KIND: Final = ("stage", "verdict", "intent", "motivation")
"""The columns in which records of one kind agree; see `record_kinds.py`."""
BARE: Final = """(replace(body, '"evidence":[]', '') <> body OR replace(body, '"motive":null', '') <> body)"""
"""Whether the body of a record has a motive without evidence, or none. The parameters of a call may look like that too."""

LEFT: Final = """(coalesce(stage, '') = 'reconciled' AND replace(body, '"left":[{', '') <> body)"""
"""Whether a record is a report of the reconciler that leaves something to a human. What was written may look like that too."""


def record_indexes() -> tuple[Index, ...]:
    """The indexes of the table of records, beside its primary key."""
    bare, left = (text(each.replace(":", r"\:")) for each in (BARE, LEFT))
    return (
        Index("records_by_mutation", "mutation_id", "seq"),
        Index("records_by_time", "at", "seq"),
        Index("records_by_kind", *KIND, "seq"),
        Index("records_by_actor", "actor", *KIND, "seq"),
        # By number, with what a filter may ask besides: that is tested in the index, before a record is read.
        Index("records_without_evidence", "seq", "actor", *KIND, sqlite_where=bare, postgresql_where=bare),
        Index("records_left", "seq", "actor", *KIND, sqlite_where=left, postgresql_where=left),
    )
