"""What the ledger says about the records that left its database: the archives, each under a MAC, and what the last one left behind."""

import hmac
import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import delete, insert, select, update

from gateway.core.errors import LedgerBroken
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Query, Session, Statement
from gateway.ledger.store.tables import ARCHIVE_PARTS, ARCHIVES


class Archive(NamedTuple):
    """A range of records that were written to files."""

    last: int
    first: int
    hash: str
    until: str
    at: str
    place: str
    manifest: str
    parts: int
    mac: str

    @property
    def end(self) -> ChainEndRow:
        """Its last record, which the next one names."""
        return ChainEndRow(self.last, self.hash)


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive leaves behind in the database."""

    stayed: tuple[int, ...]
    """The archived records that stayed, because something later needs them, ascending."""
    derived: bytes
    """What the other tables must hold as far as the archived records say; see `derive/saved.py`."""


_ALL: Final = Query.of(ARCHIVES, Archive, order_by=(ARCHIVES.c.last,))
_PARTS: Final = Statement(select(ARCHIVE_PARTS.c.content).order_by(ARCHIVE_PARTS.c.part))
_FORGET_PARTS: Final = Statement(delete(ARCHIVE_PARTS))
_RETIRE: Final = Statement(update(ARCHIVES).values(parts=0))
_INSERT: Final = Statement(insert(ARCHIVES))
_INSERT_PART: Final = Statement(insert(ARCHIVE_PARTS))
_PART_BYTES: Final = 1024 * 1024
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Rest).decode


def archives(session: Session) -> Sequence[Archive]:
    """The archives as the rows say, oldest first, without a check."""
    return session.rows(_ALL, {})


def last_archive(session: Session, key: bytes) -> Archive | None:
    """The last archive; None if no record ever left. Raises `errors.LedgerBroken` if a row was written without the key."""
    found = archives(session)
    following = 1
    for row in found:
        if row.first != following or not hmac.compare_digest(row.mac, _row_mac(key, row)):
            raise LedgerBroken(
                f"The row {row.last} of archives was changed past Sentinel: it was not written with this master key. Compare with a backup."
            )
        following = row.last + 1
    return found[-1] if found else None


def rest_of(session: Session, key: bytes, archive: Archive) -> Rest:
    """What this archive, the last one, left behind. Raises `errors.LedgerBroken` if it was changed."""
    parts = session.column(_PARTS, {})
    content = b"".join(bytes(part) for part in parts)
    head, body = content[:_MAC_BYTES], content[_MAC_BYTES:]
    if len(parts) != archive.parts or not hmac.compare_digest(head, _rest_mac(key, archive, body)):
        raise LedgerBroken(
            f"The rows of archive_parts are not those of the archive that ends at record {archive.last}: they were changed past Sentinel. "
            "Compare with a backup."
        )
    return _decode(zlib.decompress(body))


def store_archive(session: Session, key: bytes, archive: Archive, rest: Rest) -> None:
    """Store the next archive and what it leaves behind, instead of what the one before left. Call it under the store's write lock."""
    body = zlib.compress(_encode(rest))
    content = _rest_mac(key, archive, body) + body
    parts = [content[start : start + _PART_BYTES] for start in range(0, len(content), _PART_BYTES)]
    session.change(_FORGET_PARTS, {})
    session.change(_RETIRE, {})
    row = archive._replace(parts=len(parts), mac=_row_mac(key, archive))
    session.change(_INSERT, row._asdict())
    session.change_each(_INSERT_PART, [{"part": number, "content": part} for number, part in enumerate(parts)])


_MAC_BYTES: Final = 32


def _row_mac(key: bytes, archive: Archive) -> str:
    """The MAC of the row's facts. `parts` is not one: it becomes 0 once there is a later archive."""
    facts: tuple[Any, ...] = archive._replace(parts=0, mac="")
    return hmac.digest(key, b"sentinel/archive\n" + _encode(facts), "sha256").hex()


def _rest_mac(key: bytes, archive: Archive, body: bytes) -> bytes:
    return hmac.digest(
        key, b"sentinel/archive-rest\n" + _encode((archive.last, archive.hash, archive.manifest)) + body, "sha256"
    )
