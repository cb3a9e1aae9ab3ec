"""The hash chain over the records: what is hashed, and how the whole chain is checked."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import func, select

from gateway.errors import LedgerBroken
from gateway.ledger.statements import Session, Statement
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
)
"""The fields of a version 1 record that are hashed between `previous` and `body`, in order. Together they are the whole record."""

_ALL: Final = Statement(
    select(*(RECORDS.c[name] for name in (*HASHED, "body", "previous", "hash"))).order_by(RECORDS.c.seq)
)
_LAST_DECIDED: Final = Statement(select(func.max(ATTEMPTS.c.seq)))
_PAGE: Final = 2_000

# The same bytes as `model.json.canonical` for a list of text and numbers (a test compares them), without its walk over
# the value: the chain must be checked at 100,000 records a second.
_encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def record_hash(previous: str, fields: Sequence[int | str], body: str) -> str:
    """SHA-256, 64 hex digits, over the previous hash and the canonical JSON list of the fields named in `HASHED` and the body.

    `body` is canonical JSON already, so it is inserted unchanged. As it comes last, no other fields give the same bytes.
    """
    head = _encode(fields)[:-1]
    return hashlib.sha256(f"{previous}{head},{body}]".encode()).hexdigest()


def verify_chain(session: Session) -> int:
    """Check every record in order, in constant memory; the number of records.

    Raises `errors.LedgerBroken`, which names the first record that is missing, changed or out of place.
    """
    previous, expected = FIRST_PREVIOUS, 1
    for row in session.stream(_ALL, _PAGE):
        seq = row[1]
        # A later version may hash more fields, so a record of an unknown version cannot be called intact.
        if seq != expected or row[-2] != previous or row[0] != 1 or record_hash(previous, row[:-3], row[-3]) != row[-1]:
            raise LedgerBroken(_broken(row, expected, previous))
        previous, expected = row[-1], seq + 1
    _check_end(session, expected - 1)
    return expected - 1


def _broken(row: Sequence[Any], expected: int, previous: str) -> str:
    seq = row[1]
    if seq > expected:
        return f"Record {expected} is missing from the ledger: the next one found is {seq}. Compare with a backup."
    if seq < expected:
        return f"Record {seq} is before the beginning of the ledger: it was inserted. Compare with a backup."
    if row[-2] != previous:
        return f"Record {seq} does not follow the one before it: it was inserted, moved or rewritten. Compare with a backup."
    if row[0] != 1:
        return f"Record {seq} has version {row[0]}, which this Sentinel cannot check. Use a newer one, or compare with a backup."
    return f"Record {seq} was changed after it was written. Compare with a backup."


def _check_end(session: Session, last: int) -> None:
    """Raise `errors.LedgerBroken` if an attempt names a DECIDED record after the last one: then the end of the chain was cut off."""
    decided = session.scalar(_LAST_DECIDED, {}) or 0
    if decided > last:
        raise LedgerBroken(
            f"Record {last + 1} is missing from the ledger: it ends at {last}, yet a mutation was decided in record {decided}."
        )
