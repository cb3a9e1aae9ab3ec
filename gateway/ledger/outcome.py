"""The transaction of SETTLED: what came of sending, and what that means for claims, values and the attempt."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from gateway.errors import NotAllowed, NotFound
from gateway.ledger.claims import end_claims, open_claims_of
from gateway.ledger.serialize import ids, text_of
from gateway.ledger.statements import Statement
from gateway.ledger.tables import ATTEMPTS, CLAIMS, IN_FLIGHT, RECORDS, VALUES
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import ClaimEnd
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, CallClass, Mutation
from gateway.model.outcome import Applied, Failed, InDoubt, Reply, Sent
from gateway.model.record import Record, Stage

MAX_REPLY: Final = 256 * 1024
"""Largest reply body that is kept for a repeated attempt, in bytes."""
MAX_MESSAGE: Final = 2_000
"""Most characters kept of AWS's error message."""

WITHHELD: Final = "Not kept: AWS's message might repeat a secret that the call held. The caller was told."
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
_ATTEMPT: Final = Statement(
    select(
        ATTEMPTS.c.mutation_id,
        ATTEMPTS.c.seq,
        ATTEMPTS.c.actor,
        ATTEMPTS.c.stack,
        ATTEMPTS.c.idempotency_key,
        ATTEMPTS.c.state,
    ).where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
)
_IN_FLIGHT: Final = Statement(select(ATTEMPTS).where(ATTEMPTS.c.state == IN_FLIGHT).order_by(ATTEMPTS.c.decided_at))
_CLOSE_ATTEMPT: Final = Statement(
    update(ATTEMPTS)
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
    .values({name: bindparam(f"new_{name}") for name in _CLOSING})
)
_SETTLE_CLAIMS: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.mutation_id == bindparam("mutation")).values(unsettled=0)
)
_SUPERSEDED: Final = Statement(
    select(CLAIMS).where(CLAIMS.c.ended_by == bindparam("mutation"), CLAIMS.c.end == ClaimEnd.SUPERSEDED.value)
)
_HOLDER: Final = Statement(
    select(CLAIMS.c.id).where(
        CLAIMS.c.address == bindparam("where"), CLAIMS.c.attribute == bindparam("what"), CLAIMS.c.ended_at.is_(None)
    )
)
_REOPEN: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(ended_at=None, end=None, ended_by=None)
)
_FORGET_THING: Final = Statement(delete(VALUES).where(VALUES.c.address == bindparam("where")))
_FORGET_VALUE: Final = Statement(
    delete(VALUES).where(VALUES.c.address == bindparam("where"), VALUES.c.attribute == bindparam("what"))
)
_INSERT_VALUE: Final = Statement(insert(VALUES))
_DECIDED_BODY: Final = Statement(select(RECORDS.c.body).where(RECORDS.c.seq == bindparam("seq")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a mutation does to one attribute, as much of it as settling needs."""

    address: str
    attribute: str
    action: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What is known when a mutation is to be settled."""

    mutation_id: str
    at: datetime
    outcome: Sent
    deeds: tuple[Deed, ...] | None = None
    """None: read them from the DECIDED record."""
    harmless: bool = False
    """Whether AWS's answer cannot hold a secret, and may be kept."""


def settlement(mutation: Mutation, outcome: Sent, at: datetime) -> Settlement:
    """The settlement of a mutation that was just sent. What AWS says, well or badly, is kept only where it cannot hold a secret:
    where we know what the call does, that is no secret, and reading secrets is not its purpose.
    """
    harmless = mutation.understood and not any(effect.sensitive for effect in mutation.effects)
    return Settlement(
        mutation_id=mutation.id,
        at=at,
        outcome=outcome,
        deeds=tuple(
            Deed(address=effect.address, attribute=effect.attribute, action=effect.action.value, value=effect.value)
            for effect in mutation.effects
        ),
        harmless=harmless and mutation.call_class in (CallClass.MUTATION, CallClass.EXECUTE),
    )


def settle(transaction: Transaction, given: Settlement) -> None:
    """Write the outcome. Raises `errors.NotFound` for a mutation never carried out, `errors.NotAllowed` for one settled for good."""
    attempt = transaction.row(_ATTEMPT, {"mutation": given.mutation_id})
    if attempt is None:
        raise NotFound(f"Mutation {given.mutation_id} was never carried out, so it has no outcome to record.")
    if attempt.state in ("applied", "failed"):
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
    """Put in doubt what an earlier process left in flight; how many. Its claims stay."""
    attempts = transaction.rows(_IN_FLIGHT, {})
    for attempt in attempts:
        _in_doubt(transaction, at, STOPPED, attempt)
    return len(attempts)


def _applied(transaction: Transaction, given: Settlement, outcome: Applied, attempt: Any) -> None:
    body: dict[str, Json] = {
        "outcome": "applied",
        "request_id": outcome.request_id,
        "status": outcome.reply.status,
    }
    seq = _append(transaction, given.at, attempt, body)
    keeps = given.harmless and attempt.idempotency_key and len(outcome.reply.body) <= MAX_REPLY
    _close(transaction, attempt, "applied", request_id=outcome.request_id, reply=outcome.reply if keeps else None)
    transaction.change(_SETTLE_CLAIMS, {"mutation": attempt.mutation_id})
    deeds = given.deeds if given.deeds is not None else _deeds_decided(transaction, attempt)
    _remember(transaction, deeds, attempt.mutation_id, given.at, seq)


def _failed(transaction: Transaction, given: Settlement, outcome: Failed, attempt: Any) -> None:
    rows = open_claims_of(transaction, attempt.mutation_id)
    end_claims(transaction, rows, given.at, ClaimEnd.FAILED)
    transaction.change(_SETTLE_CLAIMS, {"mutation": attempt.mutation_id})
    reopened = _reopen_superseded(transaction, attempt.mutation_id, to_text(given.at))
    body: dict[str, Json] = {
        "outcome": "failed",
        "request_id": outcome.request_id,
        "code": outcome.code[:MAX_MESSAGE],
        # AWS's messages repeat the values that they complain about. Where no byte was sent, the message is ours.
        "message": outcome.message[:MAX_MESSAGE] if given.harmless or outcome.reply is None else WITHHELD,
        "sent": outcome.reply is not None,
        "claims_ended": ids(rows),
        "claims_reopened": reopened,
    }
    _append(transaction, given.at, attempt, body)
    _close(transaction, attempt, "failed", request_id=outcome.request_id, reason=outcome.code[:MAX_MESSAGE])


def _in_doubt(transaction: Transaction, at: datetime, reason: str, attempt: Any) -> None:
    _append(transaction, at, attempt, {"outcome": "in_doubt", "reason": reason[:MAX_MESSAGE]})
    _close(transaction, attempt, "in_doubt", reason=reason[:MAX_MESSAGE])


def _append(transaction: Transaction, at: datetime, attempt: Any, body: dict[str, Json]) -> int:
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
    attempt: Any,
    state: str,
    *,
    request_id: str = "",
    reason: str = "",
    reply: Reply | None = None,
) -> None:
    """Set how far the attempt came. One that failed gives its idempotency key back."""
    values = {
        "mutation": attempt.mutation_id,
        "new_state": state,
        "new_request_id": request_id,
        "new_reason": reason,
        "new_idempotency_key": None if state == "failed" else attempt.idempotency_key,
        "new_reply_status": reply.status if reply else None,
        "new_reply_headers": text_of(reply.headers) if reply else None,
        "new_reply_body": reply.body if reply else None,
    }
    transaction.change(_CLOSE_ATTEMPT, values)


def _reopen_superseded(transaction: Transaction, mutation_id: str, now: str) -> list[str]:
    """Give back what the failed mutation had superseded, unless its time is up or somebody else holds the attribute; the ids."""
    reopened = []
    for row in transaction.rows(_SUPERSEDED, {"mutation": mutation_id}):
        holder = transaction.row(_HOLDER, {"where": row.address, "what": row.attribute})
        if holder is None and (row.until is None or row.until > now):
            transaction.change(_REOPEN, {"claim": row.id})
            reopened.append(row.id)
    return reopened


def _deeds_decided(transaction: Transaction, attempt: Any) -> tuple[Deed, ...]:
    body = json.loads(transaction.row(_DECIDED_BODY, {"seq": attempt.seq}).body)
    return tuple(
        Deed(**{name: effect[name] for name in ("address", "attribute", "action", "value")})
        for effect in body["effects"]
    )


def _remember(transaction: Transaction, deeds: Sequence[Deed], mutation_id: str, at: datetime, seq: int) -> None:
    """Keep the values set. What was deleted, or made anew, has none from before, and what AWS moved has none that we know."""
    for deed in deeds:
        if deed.attribute == WHOLE and deed.action in ("create", "delete"):
            transaction.change(_FORGET_THING, {"where": deed.address})
        elif deed.attribute != WHOLE and deed.action == "invoke":
            transaction.change(_FORGET_VALUE, {"where": deed.address, "what": deed.attribute})
    latest = {
        (deed.address, deed.attribute): deed
        for deed in deeds
        if deed.attribute != WHOLE and deed.action in ("set", "create")
    }
    for (address, attribute), deed in latest.items():
        transaction.change(_FORGET_VALUE, {"where": address, "what": attribute})
        row = {"address": address, "attribute": attribute, "value": text_of(deed.value)}
        transaction.change(_INSERT_VALUE, {**row, "mutation_id": mutation_id, "at": to_text(at), "seq": seq})
