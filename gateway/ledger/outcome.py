"""Records an outcome: the SETTLED record, and what it means for claims, applied values and the attempt, in one transaction."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update

from gateway.errors import NotAllowed, NotFound
from gateway.ledger.claims import end_claims, open_claims_of, settle_claims
from gateway.ledger.rows import AttemptRow, ClaimRow
from gateway.ledger.serialize import canonical_text, ids, reply_digest
from gateway.ledger.statements import Query, Statement, columns
from gateway.ledger.states import AttemptState
from gateway.ledger.tables import ATTEMPTS, CLAIMS, IN_FLIGHT, RECORDS, VALUES
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, CallClass, Mutation
from gateway.model.outcome import Applied, Failed, InDoubt, Reply, Sent
from gateway.model.record import Record, Stage

MAX_REPLY: Final = 256 * 1024
"""Largest reply body kept for a repeat with the same idempotency key, in bytes."""
MAX_MESSAGE: Final = 2_000
"""Longest error message kept, in characters."""

WITHHELD: Final = "Not kept: AWS's message might repeat a secret that the call held. The caller received it."
STOPPED: Final = "The gateway stopped between recording the decision and recording the outcome."

_CLOSING: Final = (
    "state",
    "request_id",
    "reason",
    "idempotency_key",
    "reply_status",
    "reply_headers",
    "reply_body",
)
_ATTEMPT: Final = Query(
    select(*columns(ATTEMPTS, AttemptRow)).where(ATTEMPTS.c.mutation_id == bindparam("mutation")),
    AttemptRow,
)
_IN_FLIGHT: Final = Query(
    select(*columns(ATTEMPTS, AttemptRow)).where(ATTEMPTS.c.state == IN_FLIGHT).order_by(ATTEMPTS.c.decided_at),
    AttemptRow,
)
_CLOSE_ATTEMPT: Final = Statement(
    update(ATTEMPTS)
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
    .values({name: bindparam(f"new_{name}") for name in _CLOSING})
)
_SUPERSEDED: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(
        CLAIMS.c.ended_by == bindparam("mutation"), CLAIMS.c.end == ClaimEnd.SUPERSEDED.value
    ),
    ClaimRow,
)
_HOLDER: Final = Statement(
    select(CLAIMS.c.id).where(
        CLAIMS.c.address == bindparam("where"), CLAIMS.c.attribute == bindparam("what"), CLAIMS.c.ended_at.is_(None)
    )
)
_REOPEN: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(ended_at=None, end=None, ended_by=None)
)
_FORGET_RESOURCE: Final = Statement(delete(VALUES).where(VALUES.c.address == bindparam("where")))
_FORGET_VALUE: Final = Statement(
    delete(VALUES).where(VALUES.c.address == bindparam("where"), VALUES.c.attribute == bindparam("what"))
)
_INSERT_VALUE: Final = Statement(insert(VALUES))
_DECIDED_BODY: Final = Statement(select(RECORDS.c.body).where(RECORDS.c.seq == bindparam("seq")))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEffect:
    """What a mutation does to one attribute, as far as the applied values need it."""

    address: str
    attribute: str
    action: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The outcome of one mutation, ready to be stored."""

    mutation_id: str
    at: datetime
    outcome: Sent
    effects: tuple[AppliedEffect, ...] | None = None
    """None: to be read from the DECIDED record."""
    harmless: bool = False
    """Whether AWS's reply cannot hold a secret, so that it may be stored."""


def settlement(mutation: Mutation, outcome: Sent, at: datetime) -> Settlement:
    """The settlement of a mutation that was just sent.

    AWS's reply is harmless only if the effects of the call are known, none of them is sensitive, and the call's class
    does not return secrets.
    """
    harmless = mutation.understood and not any(effect.sensitive for effect in mutation.effects)
    return Settlement(
        mutation_id=mutation.id,
        at=at,
        outcome=outcome,
        effects=tuple(
            AppliedEffect(
                address=effect.address, attribute=effect.attribute, action=effect.action.value, value=effect.value
            )
            for effect in mutation.effects
        ),
        harmless=harmless and mutation.call_class in (CallClass.MUTATION, CallClass.EXECUTE),
    )


def attempt_of_mutation(transaction: Transaction, mutation_id: str) -> AttemptRow | None:
    """The attempt of a mutation; None if it was not carried out."""
    return transaction.row(_ATTEMPT, {"mutation": mutation_id})


def settle(transaction: Transaction, given: Settlement) -> None:
    """Store an outcome. Raises `errors.NotFound` for a mutation that was not carried out, `errors.NotAllowed` if it was applied or failed already."""
    attempt = attempt_of_mutation(transaction, given.mutation_id)
    if attempt is None:
        raise NotFound(f"Mutation {given.mutation_id} was never carried out, so it has no outcome to record.")
    if attempt.state in (AttemptState.APPLIED, AttemptState.FAILED):
        raise NotAllowed(
            f"The outcome of mutation {given.mutation_id} is recorded already ({attempt.state}) and stays."
        )
    match given.outcome:
        case Applied():
            _applied(transaction, given, given.outcome, attempt)
        case Failed():
            _failed(transaction, given, given.outcome, attempt)
        case InDoubt():
            _in_doubt(transaction, given.at, given.outcome.reason, attempt)


def recover(transaction: Transaction, at: datetime) -> int:
    """Mark every attempt that an earlier process left in flight as in doubt; the number of them. Their claims stay."""
    attempts = transaction.rows(_IN_FLIGHT, {})
    for attempt in attempts:
        _in_doubt(transaction, at, STOPPED, attempt)
    return len(attempts)


def _applied(transaction: Transaction, given: Settlement, outcome: Applied, attempt: AttemptRow) -> None:
    keeps = given.harmless and attempt.idempotency_key and len(outcome.reply.body) <= MAX_REPLY
    reply = outcome.reply if keeps else None
    body: dict[str, Json] = {
        "outcome": AttemptState.APPLIED.value,
        "request_id": outcome.request_id,
        "status": outcome.reply.status,
        "reply": reply_digest(reply.status, canonical_text(reply.headers), reply.body) if reply else "",
    }
    seq = _append(transaction, given.at, attempt, body)
    _close(transaction, attempt, AttemptState.APPLIED, request_id=outcome.request_id, reply=reply)
    settle_claims(transaction, attempt.mutation_id)
    effects = given.effects if given.effects is not None else _effects_decided(transaction, attempt)
    _store_values(transaction, effects, attempt.mutation_id, given.at, seq)


def _failed(transaction: Transaction, given: Settlement, outcome: Failed, attempt: AttemptRow) -> None:
    rows = open_claims_of(transaction, attempt.mutation_id)
    end_claims(transaction, rows, given.at, ClaimEnd.FAILED)
    settle_claims(transaction, attempt.mutation_id)
    reopened = _reopen_superseded(transaction, attempt.mutation_id, to_text(given.at))
    body: dict[str, Json] = {
        "outcome": AttemptState.FAILED.value,
        "request_id": outcome.request_id,
        "code": outcome.code[:MAX_MESSAGE],
        # AWS's messages repeat the values that they reject. If no byte was sent, the message is our own.
        "message": outcome.message[:MAX_MESSAGE] if given.harmless or outcome.reply is None else WITHHELD,
        "sent": outcome.reply is not None,
        "claims_ended": ids(rows),
        "claims_reopened": reopened,
    }
    _append(transaction, given.at, attempt, body)
    _close(transaction, attempt, AttemptState.FAILED, request_id=outcome.request_id, reason=outcome.code[:MAX_MESSAGE])


def _in_doubt(transaction: Transaction, at: datetime, reason: str, attempt: AttemptRow) -> None:
    _append(transaction, at, attempt, {"outcome": AttemptState.IN_DOUBT.value, "reason": reason[:MAX_MESSAGE]})
    _close(transaction, attempt, AttemptState.IN_DOUBT, reason=reason[:MAX_MESSAGE])


def _append(transaction: Transaction, at: datetime, attempt: AttemptRow, body: dict[str, Json]) -> int:
    record = Record(
        stage=Stage.SETTLED,
        at=at,
        mutation_id=attempt.mutation_id,
        actor=attempt.actor,
        stack=attempt.stack,
        body=body,
    )
    return transaction.append(record)


def _close(
    transaction: Transaction,
    attempt: AttemptRow,
    state: AttemptState,
    *,
    request_id: str = "",
    reason: str = "",
    reply: Reply | None = None,
) -> None:
    """Store the attempt's state. A failed attempt frees its idempotency key."""
    values = {
        "mutation": attempt.mutation_id,
        "new_state": state.value,
        "new_request_id": request_id,
        "new_reason": reason,
        "new_idempotency_key": None if state is AttemptState.FAILED else attempt.idempotency_key,
        "new_reply_status": reply.status if reply else None,
        "new_reply_headers": canonical_text(reply.headers) if reply else None,
        "new_reply_body": reply.body if reply else None,
    }
    transaction.change(_CLOSE_ATTEMPT, values)


def _reopen_superseded(transaction: Transaction, mutation_id: str, now: str) -> list[str]:
    """Reopen the claims that the failed mutation superseded, unless they have expired or the attribute has another claim; their ids."""
    reopened = []
    for row in transaction.rows(_SUPERSEDED, {"mutation": mutation_id}):
        holder = transaction.scalar(_HOLDER, {"where": row.address, "what": row.attribute})
        if holder is None and (row.until is None or row.until > now):
            transaction.change(_REOPEN, {"claim": row.id})
            reopened.append(row.id)
    return reopened


def _effects_decided(transaction: Transaction, attempt: AttemptRow) -> tuple[AppliedEffect, ...]:
    body = json.loads(transaction.scalar(_DECIDED_BODY, {"seq": attempt.seq}))
    return tuple(
        AppliedEffect(**{name: effect[name] for name in ("address", "attribute", "action", "value")})
        for effect in body["effects"]
    )


def _store_values(
    transaction: Transaction, effects: Sequence[AppliedEffect], mutation_id: str, at: datetime, seq: int
) -> None:
    """Store the applied values. A deleted or recreated resource loses its stored values; an attribute whose new value only AWS
    knows loses that one.
    """
    for effect in effects:
        if effect.attribute == WHOLE and effect.action in ("create", "delete"):
            transaction.change(_FORGET_RESOURCE, {"where": effect.address})
        elif effect.attribute != WHOLE and effect.action == "invoke":
            transaction.change(_FORGET_VALUE, {"where": effect.address, "what": effect.attribute})
    latest = {
        (effect.address, effect.attribute): effect
        for effect in effects
        if effect.attribute != WHOLE and effect.action in ("set", "create")
    }
    for (address, attribute), effect in latest.items():
        transaction.change(_FORGET_VALUE, {"where": address, "what": attribute})
        row = {"address": address, "attribute": attribute, "value": canonical_text(effect.value)}
        transaction.change(_INSERT_VALUE, {**row, "mutation_id": mutation_id, "at": to_text(at), "seq": seq})
