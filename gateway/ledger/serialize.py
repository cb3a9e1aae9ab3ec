"""The ledger's JSON forms of the model's nouns, and the way back."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from gateway.ledger.timestamps import from_text, to_text
from gateway.model.caller import ActorKind
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.facts import Subject
from gateway.model.json import Json, to_json
from gateway.model.motive import Intent, Motivation, Motive, motive_to_json
from gateway.model.mutation import Effect
from gateway.model.record import Record, Stage
from gateway.model.verdict import CounterOffer, Finding

# The same text as `model.json.canonical` (a test says so) in a third of the time: it walks only what JSON does not know.
_encode: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=to_json
).encode


def text_of(value: object) -> str:
    """Canonical JSON text. Raises TypeError or ValueError for what has no JSON form, or that UTF-8 cannot carry."""
    text = _encode(value)
    text.encode()
    return text


def motive_of(form: Mapping[str, Any] | None) -> Motive | None:
    """The motive of its form."""
    if form is None:
        return None
    seconds = form["wanted_seconds"]
    return Motive(
        intent=Intent(form["intent"]),
        motivation=Motivation(form["motivation"]),
        text=form["text"],
        evidence=tuple(form["evidence"]),
        wanted_for=None if seconds is None else timedelta(seconds=seconds),
    )


def effect_body(effect: Effect, subject: Subject | None) -> Json:
    """An effect with the value it replaces and the one that the code declares. Of a secret, neither is kept."""
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
    }


def finding_body(finding: Finding) -> Json:
    """A finding, with its counter-offer where it makes one."""
    return {
        "check": finding.check,
        "verdict": finding.verdict.value,
        "rule": finding.rule,
        "reason": finding.reason,
        "address": finding.address,
        "attribute": finding.attribute,
        "source": finding.source,
        "offer": _offer_form(finding.offer) if finding.offer else None,
    }


def _offer_form(offer: CounterOffer) -> Json:
    return {
        "address": offer.address,
        "attribute": offer.attribute,
        "nearest": offer.nearest,
        "holder": offer.holder,
        "retry_after": to_text(offer.retry_after) if offer.retry_after else None,
    }


def claim_row(claim: Claim) -> dict[str, Any]:
    """The row of an open claim whose mutation is about to be sent."""
    return {
        "id": claim.id,
        "mutation_id": claim.mutation_id,
        "address": claim.address,
        "attribute": claim.attribute,
        "value": text_of(claim.value),
        "actor": claim.actor,
        "kind": claim.kind.value,
        "motive": text_of(motive_to_json(claim.motive)) if claim.motive else None,
        "since": to_text(claim.since),
        "until": to_text(claim.until) if claim.until else None,
        "unsettled": 1,
        "ended_at": None,
        "end": None,
        "ended_by": None,
    }


def claim_of(row: Any) -> Claim:
    """The claim of a row. One whose mutation is not settled has no end: time does not end it."""
    return Claim(
        id=row.id,
        mutation_id=row.mutation_id,
        address=row.address,
        attribute=row.attribute,
        value=json.loads(row.value),
        actor=row.actor,
        kind=ActorKind(row.kind),
        motive=motive_of(json.loads(row.motive)) if row.motive else None,
        since=from_text(row.since),
        until=from_text(row.until) if row.until and not (row.unsettled and row.ended_at is None) else None,
        ended_at=from_text(row.ended_at) if row.ended_at else None,
        end=ClaimEnd(row.end) if row.end else None,
    )


def record_of(row: Any) -> Record:
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


def ids(claims: Iterable[Any]) -> list[str]:
    """The ids of claims or their rows."""
    return [claim.id for claim in claims]
