"""The stored forms of the model's nouns: JSON in records, and rows of tables."""

import hashlib
from collections.abc import Iterable

import structlog

from gateway.core.model.approval import Binding, binding_to_json
from gateway.core.model.budget import Levels
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim, ClaimEnd, Undone, undone_from_json
from gateway.core.model.json import canonical_text, from_canonical
from gateway.core.model.motive import Motive, motive_from_json, motive_to_json
from gateway.core.records.codec import decode_tolerantly
from gateway.core.records.record import Record, UnreadableBody
from gateway.ledger.store.rows import ClaimRow, RecordRow
from gateway.ledger.store.statements import SqlValue
from gateway.ledger.store.timestamps import from_text, to_text

log = structlog.get_logger()


def binding_text(binding: Binding | None) -> str:
    """What an approval is bound to, as the rows of holds and approvals hold it."""
    return canonical_text(binding_to_json(binding))


def levels_text(levels: Levels) -> str:
    """What an actor has used of its budgets, as its row holds it."""
    return canonical_text({name: to_text(full) for name, full in levels.items()})


def claim_to_row(claim: Claim, *, unsettled: bool = True) -> dict[str, SqlValue]:
    """The row of a new claim. It is unsettled if its mutation is about to be sent."""
    return {
        "id": claim.id,
        "mutation_id": claim.mutation_id,
        "address": claim.address,
        "attribute": claim.attribute,
        "value": canonical_text(claim.value),
        "actor": claim.actor,
        "kind": str(claim.kind),
        "motive": canonical_text(motive_to_json(claim.motive)) if claim.motive else None,
        "since": to_text(claim.since),
        "until": to_text(claim.until) if claim.until else None,
        "unsettled": int(unsettled),
        "ended_at": None,
        "end": None,
        "ended_by": None,
        "proof": canonical_text(claim.proof),
        "undone": "",
        "motivation": motivation_of(claim.motive),
    }


def motivation_of(motive: Motive | None) -> str:
    """The motivation; empty without a motive."""
    return str(motive.motivation) if motive is not None else ""


def claim_from_row(row: ClaimRow) -> Claim:
    """The claim of a row. `until` is None while its mutation is unsettled, because the claim does not expire meanwhile."""
    return Claim(
        id=row.id,
        mutation_id=row.mutation_id,
        address=row.address,
        attribute=row.attribute,
        value=from_canonical(row.value),
        actor=row.actor,
        kind=ActorKind(row.kind),
        motive=motive_from_json(from_canonical(row.motive)) if row.motive else None,
        since=from_text(row.since),
        until=from_text(row.until) if row.until and not (row.unsettled and row.ended_at is None) else None,
        ended_at=from_text(row.ended_at) if row.ended_at else None,
        end=ClaimEnd(row.end) if row.end else None,
        unsettled=bool(row.unsettled) and row.ended_at is None,
        proof=tuple(from_canonical(row.proof)),
        undone=_undone(row.undone),
    )


def _undone(text: str) -> Undone | None:
    if not text:
        return None
    form = from_canonical(text)
    return undone_from_json(form, from_text(form["at"]))


def reply_digest(status: object, headers: object, body: bytes | None) -> str:
    """The SHA-256 of a stored reply, 64 hex digits; empty if none was stored."""
    if status is headers is body is None:
        return ""
    told, content = reply_parts(str(headers), body)
    return hashlib.sha256(f"{status}\n{told}\n".encode() + content).hexdigest()


def reply_parts(headers: str, body: bytes | None) -> tuple[str, bytes]:
    """The headers of a stored reply as JSON text, and its body, which may be in a line below them. Canonical JSON has no newline in it."""
    if body is not None:
        return headers, bytes(body)
    told, _, below = headers.partition("\n")
    return told, below.encode()


def record_from_row(row: RecordRow) -> Record:
    """The record of a row. A body that cannot be read is logged. Raises `errors.LedgerBroken` for a stage that is not known."""
    body = decode_tolerantly(row.stage, row.body)
    if isinstance(body, UnreadableBody):
        log.error("record_unreadable", seq=row.seq, mutation=row.mutation_id, error=body.problem)
    return Record(
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        actor=row.actor,
        stack=row.stack,
        body=body,
        version=row.version,
        seq=row.seq,
        previous=row.previous,
        hash=row.hash,
    )


def ids(rows: Iterable[ClaimRow]) -> list[str]:
    """The ids of claims."""
    return [row.id for row in rows]
