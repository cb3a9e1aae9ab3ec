"""The hash chain over the records: what is hashed, and the check of the whole of it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, func, select

from gateway.errors import LedgerBroken
from gateway.ledger.tables import ATTEMPTS, RECORDS

FIRST_PREVIOUS: Final = "0" * 64
HASHED: Final = (
    "version",
    "seq",
    "stage",
    "at",
    "mutation_id",
    "actor",
    "stack",
    "intent",
    "motivation",
    "verdict",
    "body",
)
"""The fields of a version 1 record in the order they are hashed: all that is stored but `previous`, which is hashed before them, and `hash`."""

_PAGE: Final = 2_000

# The same bytes as `model.json.canonical` for a list of text and numbers (a test says so), without its walk over the value:
# the chain must be checked at 100,000 records a second.
_encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def record_hash(previous: str, fields: Sequence[int | str]) -> str:
    """SHA-256 over the hash before and the canonical JSON list of the fields named in `HASHED`; 64 hex digits."""
    return hashlib.sha256(previous.encode() + _encode(fields).encode()).hexdigest()


def verify_chain(connection: Connection) -> int:
    """Check every record in order, in constant memory; the number of records.

    Raises `errors.LedgerBroken` that names the first record that is missing, changed or out of place.
    """
    columns = [RECORDS.c[name] for name in (*HASHED, "previous", "hash")]
    query = select(*columns).order_by(RECORDS.c.seq).execution_options(yield_per=_PAGE)
    previous, expected = FIRST_PREVIOUS, 1
    for row in connection.execute(query):
        seq = row[1]
        if seq != expected:
            raise LedgerBroken(
                f"Record {expected} is missing from the ledger: the next one found is {seq}. Somebody removed it; compare with a backup."
            )
        if row[11] != previous:
            raise LedgerBroken(
                f"Record {seq} does not follow record {seq - 1}: one of them was put in, moved or rewritten. Compare with a backup."
            )
        # A version of later days may hash more fields; a reader that does not know it must not call it good.
        if row[0] != 1 or record_hash(previous, tuple(row[:11])) != row[12]:
            raise LedgerBroken(f"Record {seq} was changed after it was written. Compare with a backup.")
        previous, expected = row[12], seq + 1
    _ends_where_it_should(connection, expected - 1)
    return expected - 1


def _ends_where_it_should(connection: Connection, last: int) -> None:
    """Attempts name the records they were decided in, so a chain cut off before one of those is short."""
    named = connection.execute(select(func.max(ATTEMPTS.c.seq))).scalar() or 0
    if named > last:
        raise LedgerBroken(
            f"Record {last + 1} is missing from the ledger: it ends at {last}, yet a mutation was decided in record {named}."
        )
