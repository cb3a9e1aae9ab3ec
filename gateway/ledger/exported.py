"""Reads the records for an export: each is verified, and has what its mutation was decided about beside it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, select

from gateway.errors import LedgerBroken
from gateway.ledger.chain import UNKEYED, ChainRow, verified_records
from gateway.ledger.export_positions import first_keyed
from gateway.ledger.rows import ChainEndRow
from gateway.ledger.serialize import canonical_text
from gateway.ledger.statements import Among, Session, Statement, tested
from gateway.ledger.tables import RECORDS, RESOURCES
from gateway.model.record import Stage

_PAGE: Final = 500
_DECIDED_BODIES: Final = Statement(
    select(RECORDS.c.mutation_id, RECORDS.c.body).where(
        Among(RECORDS.c.mutation_id, "ids"), tested(RECORDS.c.stage) == Stage.DECIDED.value
    )
)
_RESOURCES: Final = Statement(
    select(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
    .where(RESOURCES.c.seq >= bindparam("first"), RESOURCES.c.seq <= bindparam("last"))
    .order_by(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
)
_decode: Final = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """A verified record as formats read it."""

    row: ChainRow
    body: Mapping[str, Any]
    resources: Sequence[tuple[str, str]] = ()
    """The (address, attribute) pairs it is about."""
    decided: Mapping[str, Any] = field(default_factory=dict)
    """The body of its mutation's decision, its own if it is the decision; empty for a record that is about no mutation."""


def exported_records(session: Session, key: bytes, after: ChainEndRow, last: int) -> Iterator[ExportedRecord]:
    """The records after `after` up to the number `last`, in order, with a page of them in memory at a time.

    Raises `errors.LedgerBroken` at the first that does not follow from the one before it.
    """
    keyed = first_keyed(session)
    with closing(verified_records(session, key, after)) as verified:
        rows = (ChainRow._make(row) for row in islice(verified, max(0, last - after.seq)))
        while page := list(islice(rows, _PAGE)):
            yield from _with_context(session, page, keyed)


def _with_context(session: Session, page: Sequence[ChainRow], keyed: int) -> Iterator[ExportedRecord]:
    bodies = {row.seq: _decode(row.body) for row in page}
    decided = {row.mutation_id: bodies[row.seq] for row in page if row.stage == Stage.DECIDED}
    others = {row.mutation_id for row in page if row.mutation_id.startswith("mut_")} - set(decided)
    if others:
        found = session.fetch(_DECIDED_BODIES, {"ids": canonical_text(sorted(others))})
        decided |= {mutation: _decode(body) for mutation, body in found}
    resources = defaultdict(list)
    for seq, address, attribute in session.fetch(_RESOURCES, {"first": page[0].seq, "last": page[-1].seq}):
        resources[seq].append((address, attribute))
    for row in page:
        # The chain alone cannot say this here: what was exported before is not read again.
        if row.version == UNKEYED and 0 < keyed < row.seq:
            raise LedgerBroken(
                f"Record {row.seq} has no keyed hash, although those before it have: it was written past Sentinel. Nothing from it on was exported."
            )
        yield ExportedRecord(row, bodies[row.seq], resources[row.seq], decided.get(row.mutation_id, {}))
