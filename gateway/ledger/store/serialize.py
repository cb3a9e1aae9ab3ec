"""The stored forms of the model's nouns: JSON in records, and rows of tables."""

import hashlib
import json
from collections.abc import Iterable

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim, ClaimEnd, Undone, undone_from_json
from gateway.core.model.facts import Subject
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.motive import Motive, motive_from_json, motive_to_json
from gateway.core.model.mutation import Effect
from gateway.core.model.verdict import CounterOffer, Finding, finding_to_json
from gateway.core.records.record import Record, Stage
from gateway.ledger.store.rows import ClaimRow, RecordRow
from gateway.ledger.store.statements import SqlValue
from gateway.ledger.store.timestamps import from_text, to_text


def recorded_effect(effect: Effect, subject: Subject | None) -> Json:
    """An effect with the value it replaces (`before`) and the value in the code (`declared`). For a secret both are null."""
    known = subject if subject is not None and not effect.sensitive else None
    return {
        "address": effect.address,
        "attribute": effect.attribute,
        "action": effect.action.value,
        "value": effect.value,
        "before": known.before if known else None,
        "declared": known.declared if known else None,
        "changes": subject.changes if subject else True,
        "resource_type": effect.resource_type,
        "identity": dict(effect.identity),
        "in_code": effect.declared,
        "sensitive": effect.sensitive,
        "implied": effect.implied,
    }


def recorded_finding(finding: Finding) -> Json:
    """A finding with its whole counter-offer, or null."""
    return {**finding_to_json(finding), "offer": _offer_to_json(finding.offer) if finding.offer else None}


def _offer_to_json(offer: CounterOffer) -> Json:
    return {
        "address": offer.address,
        "attribute": offer.attribute,
        "nearest": offer.nearest,
        "holder": offer.holder,
        "retry_after": to_text(offer.retry_after) if offer.retry_after else None,
    }


def claim_to_row(claim: Claim) -> dict[str, SqlValue]:
    """The row of a new claim. It is unsettled: its mutation is about to be sent."""
    return {
        "id": claim.id,
        "mutation_id": claim.mutation_id,
        "address": claim.address,
        "attribute": claim.attribute,
        "value": canonical_text(claim.value),
        "actor": claim.actor,
        "kind": claim.kind.value,
        "motive": canonical_text(motive_to_json(claim.motive)) if claim.motive else None,
        "since": to_text(claim.since),
        "until": to_text(claim.until) if claim.until else None,
        "unsettled": 1,
        "ended_at": None,
        "end": None,
        "ended_by": None,
        "proof": canonical_text(claim.proof),
        "undone": "",
        "motivation": motivation_of(claim.motive),
    }


def motivation_of(motive: Motive | None) -> str:
    """The motivation; empty without a motive."""
    return motive.motivation.value if motive is not None else ""


def claim_from_row(row: ClaimRow) -> Claim:
    """The claim of a row. `until` is None while its mutation is unsettled, because the claim does not expire meanwhile."""
    return Claim(
        id=row.id,
        mutation_id=row.mutation_id,
        address=row.address,
        attribute=row.attribute,
        value=json.loads(row.value),
        actor=row.actor,
        kind=ActorKind(row.kind),
        motive=motive_from_json(json.loads(row.motive)) if row.motive else None,
        since=from_text(row.since),
        until=from_text(row.until) if row.until and not (row.unsettled and row.ended_at is None) else None,
        ended_at=from_text(row.ended_at) if row.ended_at else None,
        end=ClaimEnd(row.end) if row.end else None,
        unsettled=bool(row.unsettled) and row.ended_at is None,
        proof=tuple(json.loads(row.proof)),
        undone=_undone(row.undone),
    )


def _undone(text: str) -> Undone | None:
    if not text:
        return None
    form = json.loads(text)
    return undone_from_json(form, from_text(form["at"]))


def reply_digest(status: object, headers: object, body: bytes | None) -> str:
    """The SHA-256 of a stored reply, 64 hex digits; empty if none was stored. Headers are canonical JSON text, so no newline is in them."""
    if status is headers is body is None:
        return ""
    return hashlib.sha256(f"{status}\n{headers}\n".encode() + bytes(body or b"")).hexdigest()


def record_from_row(row: RecordRow) -> Record:
    """The record of a row."""
    return Record(
        stage=Stage(row.stage),
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        actor=row.actor,
        stack=row.stack,
        body=json.loads(row.body),
        version=row.version,
        seq=row.seq,
        previous=row.previous,
        hash=row.hash,
    )


def ids(rows: Iterable[ClaimRow]) -> list[str]:
    """The ids of claims."""
    return [row.id for row in rows]
