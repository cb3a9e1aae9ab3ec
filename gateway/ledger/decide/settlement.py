"""Records an outcome: the SETTLED record, and what it means for claims, time-boxed changes, applied values and the attempt, in one transaction."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import structs
from sqlalchemy import and_, bindparam, delete, exists, insert, select, update

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.failpoints import Point, failpoint
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.mutation import CallClass, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Resolution, Sent
from gateway.core.model.path import WHOLE, Overlaps
from gateway.core.model.time_box import TimeBoxState
from gateway.core.quick_init import quick_init
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody, asked_effects
from gateway.core.records.record import Record
from gateway.core.records.settled import RecordedResolution, SettledBody
from gateway.effects.sensitive_members import reply_may_hold_secret
from gateway.ledger.decide.budgets import IS_COUNTED, Accounted, account_outcome
from gateway.ledger.decide.claims import ClaimEvent, end_claims, open_claims_of, require, settle_claims
from gateway.ledger.store.rows import AttemptRow, ChainEndRow, ClaimRow
from gateway.ledger.store.serialize import ids, reply_digest
from gateway.ledger.store.statements import Query, SqlValue, Statement, columns
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, BODY, BUDGETS, CLAIMS, RECORDS, TIME_BOXES, VALUES
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import END, IS_END, Transaction

_SUPERSEDED: Final = Query.of(
    CLAIMS, ClaimRow, CLAIMS.c.ended_by == bindparam("mutation"), CLAIMS.c.end == ClaimEnd.SUPERSEDED.value
)
_HOLDER: Final = Statement(
    select(CLAIMS.c.id).where(
        CLAIMS.c.address == bindparam("where"), CLAIMS.c.attribute == bindparam("what"), CLAIMS.c.ended_at.is_(None)
    )
)
_ATTEMPT_STATE: Final = Statement(select(ATTEMPTS.c.state).where(ATTEMPTS.c.mutation_id == bindparam("mutation")))
_REOPEN: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(ended_at=None, end=None, ended_by=None)
)


def end_restated(
    transaction: Transaction,
    mutation_id: str,
    now: str,
    effects: Iterable[tuple[str, str]],
    restated: Sequence[ClaimRow],
) -> tuple[list[str], list[str]]:
    """End the claims of an applied mutation on values that it only restated, and reopen those they stood in for; the ids of both.

    `effects` are the (address, attribute) pairs that it set. A claim on anything that it changed stays superseded.
    """
    if not restated:
        return [], []
    end_claims(transaction, restated, from_text(now), ClaimEnd.RESTATED)
    kept = {(row.address, row.attribute) for row in restated}
    changed = Overlaps((*each, None) for each in effects if each not in kept)
    unchanged = Overlaps((*each, None) for each in kept)
    stood_in = [
        row
        for row in transaction.rows(_SUPERSEDED, {"mutation": mutation_id})
        if unchanged.of(row.address, row.attribute) and not changed.of(row.address, row.attribute)
    ]
    return [row.id for row in restated], _reopen(transaction, stood_in, now)


def is_restated(row: ClaimRow) -> bool:
    """Whether the claim is on a value that its mutation only restates: it ends with the outcome."""
    return row.until is not None and row.until <= row.since


def reopen_superseded(transaction: Transaction, mutation_id: str, now: str) -> list[str]:
    """Reopen the claims that a failed mutation superseded; their ids."""
    return _reopen(transaction, transaction.rows(_SUPERSEDED, {"mutation": mutation_id}), now)


def reopen_on(transaction: Transaction, mutation_id: str, now: str, addresses: Container[str]) -> list[str]:
    """Reopen the claims on these resources that a mutation superseded; their ids."""
    rows = transaction.rows(_SUPERSEDED, {"mutation": mutation_id})
    return _reopen(transaction, [row for row in rows if row.address in addresses], now)


def _reopen(transaction: Transaction, rows: Iterable[ClaimRow], now: str) -> list[str]:
    """Reopen claims, except those that have expired, whose attribute has another claim, or whose own mutation failed meanwhile; the ids of
    those reopened.
    """
    reopened = []
    for row in rows:
        require((row,), ClaimEvent.REOPENED)
        holder = transaction.scalar(_HOLDER, {"where": row.address, "what": row.attribute})
        failed = transaction.scalar(_ATTEMPT_STATE, {"mutation": row.mutation_id}) == AttemptState.FAILED
        if holder is None and not failed and (row.until is None or row.until > now):
            transaction.change(_REOPEN, {"claim": row.id})
            reopened.append(row.id)
    return reopened


_FAILED: Final = Statement(
    update(TIME_BOXES)
    .where(TIME_BOXES.c.mutation_id == bindparam("mutation"), TIME_BOXES.c.state == TimeBoxState.STANDING.value)
    .values(state=TimeBoxState.FAILED.value)
)
_PUT_BACK: Final = Statement(
    update(TIME_BOXES)
    .where(
        TIME_BOXES.c.mutation_id == bindparam("boxed"),
        TIME_BOXES.c.ended_by == bindparam("mutation"),
        TIME_BOXES.c.state == TimeBoxState.PUTTING_BACK.value,
    )
    .values(state=bindparam("new_state"), ended_by=bindparam("by"))
)


def follow_outcome(transaction: Transaction, mutation_id: str, state: AttemptState, puts_back: str) -> None:
    """What a time-boxed change failed to do is over; what a mutation put back is, and what it failed to put back waits again.

    `puts_back` is the time-boxed change that the mutation puts back; empty for any other.
    """
    if state is AttemptState.FAILED:
        transaction.change(_FAILED, {"mutation": mutation_id})
    if puts_back and state in (AttemptState.APPLIED, AttemptState.FAILED):
        applied = state is AttemptState.APPLIED
        values = {
            "boxed": puts_back,
            "mutation": mutation_id,
            "new_state": (TimeBoxState.PUT_BACK if applied else TimeBoxState.STANDING).value,
            "by": mutation_id if applied else "",
        }
        transaction.change(_PUT_BACK, values)


MAX_REPLY: Final = 256 * 1024
"""Largest reply body kept for a repeat with the same idempotency key, in bytes."""
MAX_MESSAGE: Final = 2_000
"""Longest error message kept, in characters."""

WITHHELD: Final = "Not kept: AWS's message might repeat a secret that the call held. The caller received it."
STOPPED: Final = "The gateway that was to send it stopped, or was not heard of in time, before it recorded the outcome."
NOT_CARRIED_OUT: Final = "NotCarriedOut"
"""The code of a failure that was found out after the mutation had been in doubt."""

_CLOSING: Final = (
    "state",
    "request_id",
    "reason",
    "reply_status",
    "reply_headers",
    "reply_body",
    "owner",
)
_FINAL: Final = (AttemptState.APPLIED, AttemptState.FAILED)
_ATTEMPT: Final = Query.of(ATTEMPTS, AttemptRow, ATTEMPTS.c.mutation_id == bindparam("mutation"))


class SettlingRow(NamedTuple):
    """What an outcome asks of the ledger beside the attempt and its claims."""

    counted: int
    """Whether a row of refusals of the actor is counted, which the outcome may end."""
    seq: int
    """Of the chain's last record."""
    hash: str


_SETTLING: Final = Statement(
    select(
        *columns(ATTEMPTS, AttemptRow),
        exists().where(BUDGETS.c.actor == ATTEMPTS.c.actor, IS_COUNTED),
        END.c.seq,
        END.c.hash,
        *columns(CLAIMS, ClaimRow),
    )
    .select_from(
        ATTEMPTS.join(END, IS_END).outerjoin(
            CLAIMS, and_(CLAIMS.c.mutation_id == bindparam("mutation"), CLAIMS.c.ended_at.is_(None))
        )
    )
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
)
"""What every outcome asks first, by one statement: to run one takes longer than to read these rows. There is one for each open claim of the mutation, or
one whose claim is all null; `_settling` takes them apart.
"""


class _Settling(NamedTuple):
    """An attempt that is to be settled."""

    attempt: AttemptRow
    beside: SettlingRow
    claims: Sequence[ClaimRow]
    """Its open claims."""


def _settling(transaction: Transaction, mutation_id: str) -> _Settling | None:
    rows = transaction.fetch(_SETTLING, {"mutation": mutation_id})
    if not rows:
        return None
    attempt, beside = len(AttemptRow._fields), len(AttemptRow._fields) + len(SettlingRow._fields)
    first = rows[0]
    claims = [ClaimRow(*row[beside:]) for row in rows if row[beside] is not None]
    return _Settling(AttemptRow(*first[:attempt]), SettlingRow(*first[attempt:beside]), claims)


_CLOSED: Final = (
    update(ATTEMPTS)
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
    .values({name: bindparam(f"new_{name}") for name in _CLOSING})
)
_CLOSE_ATTEMPT: Final = Statement(_CLOSED)
"""Leaves the idempotency key as it is: SQLite would write its index again though the key is the same."""
_CLOSE_AND_FREE: Final = Statement(_CLOSED.values(idempotency_key=None))
_FORGET_RESOURCE: Final = Statement(delete(VALUES).where(VALUES.c.address == bindparam("where")))
_FORGET_VALUE: Final = Statement(
    delete(VALUES).where(VALUES.c.address == bindparam("where"), VALUES.c.attribute == bindparam("what"))
)
_VALUE_SET: Final[Mapping[str, Any]] = {
    "value": bindparam("new_value"),
    "mutation_id": bindparam("new_mutation"),
    "at": bindparam("new_at"),
    "seq": bindparam("new_seq"),
}
_CHANGE_VALUE: Final = Statement(
    update(VALUES)
    .where(VALUES.c.address == bindparam("where"), VALUES.c.attribute == bindparam("what"))
    .values(_VALUE_SET)
)
_INSERT_VALUE: Final = Statement(
    insert(VALUES).values({"address": bindparam("where"), "attribute": bindparam("what"), **_VALUE_SET})
)
_DECIDED_BODY: Final = Statement(select(BODY).where(RECORDS.c.seq == bindparam("seq")))


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEffect:
    """What a mutation does to one attribute, as far as the applied values need it."""

    address: str
    attribute: str
    action: str
    value: Json


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The outcome of one mutation, ready to be stored."""

    mutation_id: str
    at: datetime
    outcome: Sent
    effects: tuple[AppliedEffect, ...] | None = None
    """None: to be read from the DECIDED record."""
    puts_back: str = ""
    """The time-boxed change that it puts back; empty if none."""
    harmless: bool = False
    """Whether AWS's reply cannot hold a secret, so that it may be stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _EndedClaims:
    """What an outcome means for claims: the ids of those that end, and of those that stand again."""

    ended: Sequence[str]
    reopened: Sequence[str]

    def added_to(self, body: SettledBody) -> SettledBody:
        """The body with both."""
        return structs.replace(body, claims_ended=tuple(self.ended), claims_reopened=tuple(self.reopened))


def settlement(mutation: Mutation, outcome: Sent, at: datetime) -> Settlement:
    """The settlement of a mutation that was just sent.

    AWS's reply is harmless only if the effects of the call are known, none of them is sensitive, and neither the call's class
    nor its operation returns secrets or data (messages, items). A change of one value may be answered with all values, secrets included.
    """
    harmless = mutation.understood and not any(effect.sensitive for effect in mutation.effects)
    harmless = harmless and not reply_may_hold_secret(mutation.call.service, mutation.call.operation)
    # On another resource than those it asks for, what a call implies happens later, e.g. when the time of a scheduled action comes.
    asked = {effect.address for effect in mutation.effects if not effect.implied}
    return Settlement(
        mutation_id=mutation.id,
        at=at,
        outcome=outcome,
        effects=tuple(
            AppliedEffect(
                address=effect.address, attribute=effect.attribute, action=str(effect.action), value=effect.value
            )
            for effect in mutation.effects
            if not effect.implied or effect.address in asked
        ),
        puts_back=mutation.puts_back.mutation_id if mutation.puts_back else "",
        harmless=harmless and mutation.call_class in (CallClass.MUTATION, CallClass.EXECUTE),
    )


def attempt_of_mutation(transaction: Transaction, mutation_id: str) -> AttemptRow | None:
    """The attempt of a mutation; None if it was not carried out."""
    return transaction.row(_ATTEMPT, {"mutation": mutation_id})


def settle(transaction: Transaction, given: Settlement) -> None:
    """Store an outcome. Raises `errors.NotFound` for a mutation that was not carried out, `errors.NotAllowed` if it was applied or failed already."""
    found = _settling(transaction, given.mutation_id)
    if found is None:
        raise NotFound(f"Mutation {given.mutation_id} was never carried out, so it has no outcome to record.")
    attempt, beside, claims = found
    transaction.found_end(ChainEndRow(beside.seq, beside.hash))
    if attempt.state in (AttemptState.APPLIED, AttemptState.FAILED):
        raise NotAllowed(
            f"The outcome of mutation {given.mutation_id} is recorded already ({attempt.state}) and stays."
        )
    match given.outcome:
        case Applied():
            _applied(transaction, given, given.outcome, attempt, claims, counted=bool(beside.counted))
            follow_outcome(transaction, given.mutation_id, AttemptState.APPLIED, given.puts_back)
        case Failed():
            _failed(transaction, given, given.outcome, attempt, claims)
            follow_outcome(transaction, given.mutation_id, AttemptState.FAILED, given.puts_back)
        case InDoubt():
            doubt(transaction, given.at, given.outcome.reason, attempt)
    failpoint(Point.OUTCOME_WRITTEN)


def settle_resolved(transaction: Transaction, attempt: AttemptRow, given: Resolution, at: datetime) -> None:
    """Store what was found out about a mutation in doubt. AWS's reply stays unknown."""
    found_out = AttemptState.APPLIED if given.carried_out else AttemptState.FAILED
    follow_outcome(transaction, attempt.mutation_id, found_out, _puts_back(transaction, attempt))
    body = SettledBody(
        outcome=found_out,
        request_id=given.request_id,
        settled_by=RecordedResolution(means=given.by, actor=given.actor),
        why=given.reason[:MAX_MESSAGE],
        reply="",
    )
    if given.carried_out:
        effects = _effects_decided(transaction, attempt)
        claims = _settle_applied_claims(
            transaction, attempt, effects, at, open_claims_of(transaction, attempt.mutation_id)
        )
        seq = append_settled(transaction, at, attempt, claims.added_to(body))
        reason = given.reason[:MAX_MESSAGE]
        _close(transaction, attempt, AttemptState.APPLIED, request_id=given.request_id, reason=reason)
        _store_values(transaction, effects, attempt.mutation_id, at, seq)
        return
    failed = structs.replace(body, code=NOT_CARRIED_OUT, message="", sent=None)
    ended = _end_failed_claims(transaction, attempt, at, open_claims_of(transaction, attempt.mutation_id))
    append_settled(transaction, at, attempt, ended.added_to(failed))
    # The idempotency key stays taken: the one who settled it may be wrong, so a repeat is not sent.
    _close(transaction, attempt, AttemptState.FAILED, reason=given.reason[:MAX_MESSAGE])


def _applied(
    transaction: Transaction,
    given: Settlement,
    outcome: Applied,
    attempt: AttemptRow,
    open_claims: Sequence[ClaimRow],
    *,
    counted: bool,
) -> None:
    effects = given.effects if given.effects is not None else _effects_decided(transaction, attempt)
    claims = _settle_applied_claims(transaction, attempt, effects, given.at, open_claims)
    keeps = given.harmless and attempt.idempotency_key and len(outcome.reply.body) <= MAX_REPLY
    reply = outcome.reply if keeps else None
    headers = canonical_text(reply.headers) if reply else ""
    body = SettledBody(
        outcome=AttemptState.APPLIED,
        request_id=outcome.request_id,
        status=outcome.reply.status,
        reply=reply_digest(reply.status, headers, reply.body) if reply else "",
        made=outcome.made,
    )
    seq = append_settled(transaction, given.at, attempt, claims.added_to(body), counted=counted)
    _close(transaction, attempt, AttemptState.APPLIED, request_id=outcome.request_id, reply=reply, headers=headers)
    _store_values(transaction, effects, attempt.mutation_id, given.at, seq)


def _failed(
    transaction: Transaction,
    given: Settlement,
    outcome: Failed,
    attempt: AttemptRow,
    open_claims: Sequence[ClaimRow],
) -> None:
    claims = _end_failed_claims(transaction, attempt, given.at, open_claims)
    body = SettledBody(
        outcome=AttemptState.FAILED,
        request_id=outcome.request_id,
        code=outcome.code[:MAX_MESSAGE],
        # AWS's messages repeat the values that they reject. If no byte was sent, the message is our own.
        message=outcome.message[:MAX_MESSAGE] if given.harmless or outcome.reply is None else WITHHELD,
        sent=outcome.reply is not None,
    )
    append_settled(transaction, given.at, attempt, claims.added_to(body))
    code = outcome.code[:MAX_MESSAGE]
    _close(transaction, attempt, AttemptState.FAILED, request_id=outcome.request_id, reason=code, frees_key=True)


def _settle_applied_claims(
    transaction: Transaction,
    attempt: AttemptRow,
    effects: Sequence[AppliedEffect],
    at: datetime,
    rows: Sequence[ClaimRow],
) -> _EndedClaims:
    """Settle the open claims of an applied mutation, which these rows are, and end those that only restated a value."""
    restated = [row for row in rows if is_restated(row)]
    settle_claims(transaction, attempt.mutation_id, [row for row in rows if row.unsettled and not is_restated(row)])
    if not restated:
        return _EndedClaims(ended=(), reopened=())
    setting = [(each.address, each.attribute) for each in effects if (each.action, each.attribute) != ("invoke", WHOLE)]
    ended, reopened = end_restated(transaction, attempt.mutation_id, to_text(at), setting, restated)
    return _EndedClaims(ended=ended, reopened=reopened)


def _end_failed_claims(
    transaction: Transaction, attempt: AttemptRow, at: datetime, rows: Sequence[ClaimRow]
) -> _EndedClaims:
    """End the open claims of a failed mutation, which these rows are, and reopen those that it superseded."""
    end_claims(transaction, rows, at, ClaimEnd.FAILED)
    settle_claims(transaction, attempt.mutation_id)
    reopened = reopen_superseded(transaction, attempt.mutation_id, to_text(at))
    return _EndedClaims(ended=ids(rows), reopened=reopened)


def doubt(transaction: Transaction, at: datetime, reason: str, attempt: AttemptRow) -> None:
    """Mark an attempt as in doubt. Its claims stay."""
    append_settled(transaction, at, attempt, SettledBody(outcome=AttemptState.IN_DOUBT, reason=reason[:MAX_MESSAGE]))
    _close(transaction, attempt, AttemptState.IN_DOUBT, reason=reason[:MAX_MESSAGE])


def append_settled(
    transaction: Transaction, at: datetime, attempt: AttemptRow, body: SettledBody, *, counted: bool = True
) -> int:
    """Append a SETTLED record of an attempt, and count it for its actor's circuit breaker; the number of the record.

    A success of an actor of whom nothing is `counted` needs no look at the breaker.
    """
    accounted = account_outcome(transaction, attempt, body, at) if counted else Accounted()
    if accounted.counts:
        body = structs.replace(
            body, refused_in_a_row=accounted.refused_in_a_row, refusals_until=accounted.refusals_until
        )
    record = Record(at=at, mutation_id=attempt.mutation_id, actor=attempt.actor, stack=attempt.stack, body=body)
    seq = transaction.append(record)
    if accounted.transition is not None:
        transaction.append(accounted.transition)
    return seq


def _close(
    transaction: Transaction,
    attempt: AttemptRow,
    state: AttemptState,
    *,
    request_id: str = "",
    reason: str = "",
    reply: Reply | None = None,
    headers: str = "",
    frees_key: bool = False,
) -> None:
    """Store the attempt's state and AWS's reply, whose `headers` are JSON text. Free its idempotency key for a new attempt if it `frees_key`."""
    stored, body = (None, None) if reply is None else transaction.stored_reply(headers, reply.body)
    values = {
        "mutation": attempt.mutation_id,
        "new_state": str(state),
        "new_request_id": request_id,
        "new_reason": reason,
        "new_reply_status": reply.status if reply else None,
        "new_reply_headers": stored,
        "new_reply_body": body,
        "new_owner": "" if state in _FINAL and transaction.forgets_owners else attempt.owner,
    }
    transaction.change(_CLOSE_AND_FREE if frees_key else _CLOSE_ATTEMPT, values)


def _puts_back(transaction: Transaction, attempt: AttemptRow) -> str:
    """The time-boxed change that the mutation puts back; empty if none."""
    puts_back = _decided(transaction, attempt).puts_back
    return puts_back.mutation if puts_back is not None else ""


def _effects_decided(transaction: Transaction, attempt: AttemptRow) -> tuple[AppliedEffect, ...]:
    return tuple(
        AppliedEffect(address=effect.address, attribute=effect.attribute, action=str(effect.action), value=effect.value)
        for effect in asked_effects(_decided(transaction, attempt))
    )


def _decided(transaction: Transaction, attempt: AttemptRow) -> DecidedBody[Any]:
    return decode_as(DecidedBody, transaction.scalar(_DECIDED_BODY, {"seq": attempt.seq}))


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
        row: dict[str, SqlValue] = {
            "where": address,
            "what": attribute,
            "new_value": canonical_text(effect.value),
            "new_mutation": mutation_id,
            "new_at": to_text(at),
            "new_seq": seq,
        }
        if transaction.change(_CHANGE_VALUE, row) == 0:  # most values replace an earlier one
            transaction.change(_INSERT_VALUE, row)
