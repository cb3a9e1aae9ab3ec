"""The hash chain over the records: what is hashed, and how the records are checked one after the other."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import bindparam, select

from gateway.core.errors import LedgerBroken
from gateway.core.hmac_sha256 import hmac_sha256
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session, Statement, columns
from gateway.ledger.store.tables import FIRST_PREVIOUS, PREVIOUS, RECORDS, RESOURCES

VERSION: Final = 1
"""The version of the records. Their hashes are keyed, and cover their rows in `record_resources`."""
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
    "key_id",
    "has_evidence",
    "left_over",
)
"""The fields of a record that are hashed between `previous` and `body`, in order. Together they are the whole record."""


class ChainRow(NamedTuple):
    """A whole record in the order in which it is hashed."""

    version: int
    seq: int
    stage: str
    at: str
    mutation_id: str
    actor: str
    stack: str
    intent: str
    motivation: str
    verdict: str
    key_id: str
    has_evidence: int
    left_over: int
    body: str
    previous: str
    hash: str


START: Final = ChainEndRow(0, FIRST_PREVIOUS)
"""The end of an empty chain."""

_RECORDS_AFTER: Final = Statement(
    # `previous` as it is stored: who reads one record after the other knows the hash of the one before.
    select(*(RECORDS.c.previous if each is PREVIOUS else each for each in columns(RECORDS, ChainRow)))
    .where(RECORDS.c.seq > bindparam("after"))
    .order_by(RECORDS.c.seq)
)
_RESOURCES_AFTER: Final = Statement(
    select(RESOURCES.c.address, RESOURCES.c.attribute, RESOURCES.c.seq)
    .where(RESOURCES.c.seq > bindparam("after"))
    .order_by(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
)
_RECORDS_UPTO: Final = Statement(
    select(*columns(RECORDS, ChainRow)).where(RECORDS.c.seq <= bindparam("last")).order_by(RECORDS.c.seq)
)
_RESOURCES_UPTO: Final = Statement(
    select(RESOURCES.c.address, RESOURCES.c.attribute, RESOURCES.c.seq)
    .where(RESOURCES.c.seq <= bindparam("last"))
    .order_by(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
)
_PAGE: Final = 250
"""Few rows at a time are read faster than many: they stay in the processor's cache until they are hashed."""
_LEAST: Final = -(2**63)
"""Before any seq: a record inserted before the first one must show."""
_BODY, _PREVIOUS, _HASH = -3, -2, -1
_RESOURCE_SEQ: Final = 2
_NO_RESOURCE: Final = ("", "", None)

# It writes the bytes of `model.json.canonical` for lists of text and numbers (a test compares them), without its walk
# over the value: the chain must be checked at 100,000 records a second.
_encode: Final = msgspec.json.Encoder().encode


def keyed_hash(
    key: bytes, previous: str, fields: Sequence[int | str], resources: Sequence[tuple[Any, ...]], body: str
) -> str:
    """The hash of a record: HMAC-SHA-256 under the ledger's key, 64 hex digits, over the previous hash and the canonical JSON list of
    `HASHED`, the record's (address, attribute) pairs, sorted, and the body.

    `body` is canonical JSON already, so it is inserted unchanged. As it comes last, no other fields give the same bytes.
    """
    head = _encode((*fields, resources))[:-1]
    return hmac_sha256(key, previous.encode(), head, b",", body.encode(), b"]").hex()


def verified_records(session: Session, key: bytes, after: ChainEndRow = START) -> Generator[tuple[Any, ...]]:
    """The members of every `ChainRow` after `after`, in order and in constant memory, each after it was checked.

    Raises `errors.LedgerBroken`, which names the first record that is missing, changed or out of place. Close it before its connection.
    """
    with closing(verified_with_pairs(session, key, after)) as rows:
        for row, _ in rows:
            yield row


def verified_with_pairs(
    session: Session, key: bytes, after: ChainEndRow = START
) -> Generator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    """As `verified_records`, each with its (address, attribute) pairs."""
    values = {"after": after.seq if after != START else _LEAST}
    with (
        closing(session.stream(_RECORDS_AFTER, _PAGE, values)) as records,
        closing(session.stream(_RESOURCES_AFTER, _PAGE, values)) as resources,
    ):
        yield from _verified(records, resources, key, after)


def records_apart(session: Session, key: bytes, last: int) -> Generator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    """Each record up to `last` that is there, with its (address, attribute) pairs, after it was checked alone: others between them are archived.

    Raises `errors.LedgerBroken`, which names the first record that was changed.
    """
    values = {"last": last}
    with (
        closing(session.stream(_RECORDS_UPTO, _PAGE, values)) as records,
        closing(session.stream(_RESOURCES_UPTO, _PAGE, values)) as resources,
    ):
        resource = next(resources, _NO_RESOURCE)
        for row in records:
            pairs = []
            while resource[_RESOURCE_SEQ] == row[1]:
                pairs.append(resource[:_RESOURCE_SEQ])
                resource = next(resources, _NO_RESOURCE)
            check_record(key, row, pairs)
            yield row, pairs
        if resource is not _NO_RESOURCE:
            raise LedgerBroken(_orphan(resource[_RESOURCE_SEQ], last))


def check_record(key: bytes, row: Sequence[Any], pairs: Sequence[tuple[Any, ...]]) -> None:
    """Raise `errors.LedgerBroken` unless the members of a `ChainRow` and its (address, attribute) pairs were written together with this key."""
    if keyed_hash(key, row[_PREVIOUS], row[:_BODY], pairs, row[_BODY]) != row[_HASH] or row[0] != VERSION:
        found = ChainRow._make(row)
        raise LedgerBroken(_fault(found, found.seq, found.previous))


def _verified(
    records: Iterator[tuple[Any, ...]], resources: Iterator[tuple[Any, ...]], key: bytes, after: ChainEndRow
) -> Iterator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    # No function calls that can be avoided: the loop runs 100,000 times a second.
    previous, expected = after.hash, after.seq + 1
    resource = next(resources, _NO_RESOURCE)
    for row in records:
        version, seq = row[0], row[1]
        pairs = []
        while resource[_RESOURCE_SEQ] == seq:
            pairs.append(resource[:_RESOURCE_SEQ])
            resource = next(resources, _NO_RESOURCE)
        if not row[_PREVIOUS]:
            row = (*row[:_PREVIOUS], previous, row[_HASH])  # noqa: PLW2901  it is the same row
        said = keyed_hash(key, row[_PREVIOUS], row[:_BODY], pairs, row[_BODY])
        if seq != expected or row[_PREVIOUS] != previous or said != row[_HASH] or version != VERSION:
            raise LedgerBroken(_fault(ChainRow._make(row), expected, previous))
        yield row, pairs
        previous, expected = row[_HASH], seq + 1
    if resource is not _NO_RESOURCE:
        raise LedgerBroken(_orphan(resource[_RESOURCE_SEQ], expected - 1))


def _orphan(seq: int, last: int) -> str:
    if seq > last:
        return f"Record {last + 1} is missing from the ledger: it ends at {last}, yet record_resources names record {seq}. Compare with a backup."
    return f"Record {seq} is missing from the ledger, yet record_resources names it. Compare with a backup."


def _fault(row: ChainRow, expected: int, previous: str) -> str:
    seq = row.seq
    if seq > expected:
        return f"Record {expected} is missing from the ledger: the next one found is {seq}. Compare with a backup."
    if seq < expected:
        return f"Record {seq} is before the beginning of the ledger: it was inserted. Compare with a backup."
    if row.previous != previous:
        return f"Record {seq} does not follow the one before it: it was inserted, moved or rewritten. Compare with a backup."
    if row.version != VERSION:
        return f"Record {seq} has version {row.version}, which this Sentinel cannot check. Use a newer one, or compare with a backup."
    # The hash of the record before is stored with few records, so a record in another's place is told by its own hash.
    return (
        f"Record {seq} or its list of resources was changed after it was written, it does not follow the one before it, or it was written "
        "without the master key. Compare with a backup."
    )
