"""What decisions, outcomes and people do to time-boxed changes. Each function runs in the transaction of its record."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, func, insert, select, update

from gateway.core.errors import ClaimTaken, NotAllowed, NotFound
from gateway.core.model.approval import is_approver, objection, own_objection
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.json import canonical_text
from gateway.core.model.time_box import NO_SPANS, OPEN, TO_HUMAN, ClaimSpans, TimeBoxPart, TimeBoxState
from gateway.core.ports import MOST_MOVES
from gateway.core.records.record import Body, Record, Stage
from gateway.core.records.time_boxes import AttributeKey, MovedClaim, NotPutBackBody, RescheduledBody
from gateway.ledger.ask.time_box_queries import Fates, decision_of, granted_seconds, part_of, rows_of_mutation
from gateway.ledger.decide.claims import open_claims_of
from gateway.ledger.decide.commands import release
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.settlement import attempt_of_mutation
from gateway.ledger.decide.stops import refuse_stopped_actor
from gateway.ledger.decide.write_set import WriteSet
from gateway.ledger.store.rows import AttemptRow, TimeBoxRow
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import CLAIMS, RECORDS, TIME_BOXES
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction

_MAX_REASON: Final = 2_000
_INSERT: Final = Statement(insert(TIME_BOXES))
_CHANGE: Final = Statement(
    update(TIME_BOXES)
    .where(
        TIME_BOXES.c.mutation_id == bindparam("mutation"),
        TIME_BOXES.c.address == bindparam("where"),
        TIME_BOXES.c.attribute == bindparam("what"),
    )
    .values(state=bindparam("new_state"), ended_by=bindparam("by"), until=bindparam("new_until"))
)
_MOVE_CLAIM: Final = Statement(
    update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(until=bindparam("new_until"))
)
_MOVES: Final = Statement(
    select(func.count())
    .select_from(RECORDS)
    .where(RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.RESCHEDULED.value)
)


def begin_put_back(transaction: Transaction, write: WriteSet) -> None:
    """Mark what the mutation puts back as under way.

    Raises `errors.ClaimTaken` if any of it is not due, is under way already, or has another holder: so it is put back once, and only as
    long as nobody else has it.
    """
    puts = write.mutation.puts_back
    if puts is None:
        return
    rows = {(row.address, row.attribute): row for row in rows_of_mutation(transaction, puts.mutation_id)}
    now, fates = to_text(write.facts.now), Fates(transaction)
    for key in puts.bases:
        row = rows.get(key)
        if row is None or row.state != TimeBoxState.STANDING or row.until > now:
            raise ClaimTaken(f"{_name(key)} is not to be put back now. Nothing was sent.")
        fate, by = fates.of(row, write.facts.now)
        if fate is not TimeBoxState.STANDING:
            raise ClaimTaken(f"{_name(key)} has another holder since (mutation {by or 'unknown'}). Nothing was sent.")
        _set(transaction, row, TimeBoxState.PUTTING_BACK, by=write.mutation.id)


def begin_time_box(transaction: Transaction, write: WriteSet, seq: int) -> None:
    """Store what is put back at the end of a time-boxed change."""
    box = write.facts.time_box
    if box is None or box.until is None or not box.bases:
        return
    values = {(effect.address, effect.attribute): effect.value for effect in write.mutation.effects}
    transaction.change_each(
        _INSERT,
        [
            {
                "mutation_id": write.mutation.id,
                "address": address,
                "attribute": attribute,
                "value": canonical_text(values[address, attribute]),
                "base": canonical_text(base),
                "root": box.roots.get((address, attribute), write.mutation.id),
                "actor": write.mutation.caller.actor,
                "stack": write.facts.stack,
                "seq": seq,
                "since": to_text(write.facts.now),
                "until": to_text(box.until),
                "state": TimeBoxState.STANDING.value,
                "ended_by": "",
            }
            for (address, attribute), base in box.bases.items()
        ],
    )


def extend(
    transaction: Transaction,
    mutation_id: str,
    until: datetime,
    *,
    caller: Caller,
    reason: str,
    at: datetime,
    spans: ClaimSpans = NO_SPANS,
) -> Sequence[TimeBoxPart]:
    """Move the end; the parts. A claim moves with it, but lasts no longer than policy grants. Who is stopped prolongs nothing."""
    attempt, rows = _of_caller(transaction, mutation_id, caller)
    refuse_stopped_actor(transaction, caller, consequence="The end was not moved.")
    rows = [row for row in rows if row.state == TimeBoxState.STANDING]
    if not rows or rows[0].until <= to_text(at):
        raise NotAllowed(f"The change {mutation_id} is over, so its end cannot be moved. Make the change again.")
    fates = Fates(transaction)
    found = [fates.of(row, at) for row in rows]
    if all(fate is TimeBoxState.SUPERSEDED for fate, _ in found):
        raise NotAllowed(
            f"{found[0][1] or 'A later change'} has what {mutation_id} changed, so its end changes nothing. Make the change again."
        )
    if until <= at:
        raise NotAllowed("The new end has passed already. To let it end now, end it.")
    _refuse_more_than_approved(transaction, attempt, rows[0], until, caller)
    if int(transaction.scalar(_MOVES, {"mutation": mutation_id})) >= MOST_MOVES:
        raise NotAllowed(
            f"The end of {mutation_id} was moved {MOST_MOVES} times, which is the most. Make the change again."
        )
    moved = _move_claims(transaction, attempt, until, at, spans)
    for row in rows:
        _set(transaction, row, TimeBoxState.STANDING, until=until)
    _record_move(transaction, attempt, rows, until, caller=caller, reason=reason, at=at, claims=moved)
    return _parts(transaction, mutation_id)


def _refuse_more_than_approved(
    transaction: Transaction, attempt: AttemptRow, row: TimeBoxRow, until: datetime, caller: Caller
) -> None:
    """Raise `errors.NotAllowed` if people approved the change for a shorter time, unless the caller may give the same consent alone."""
    body = decision_of(transaction, attempt.seq)
    if body is None or body.decision.consent is None:
        return
    wanted = timedelta(seconds=(body.motive.wanted_seconds if body.motive else None) or 0)
    if until <= from_text(row.since) + wanted:
        return
    rule, requesters = body.decision.rule, (attempt.actor, body.caller.on_behalf_of)
    refused = rule.reason if rule.people > 1 else objection(caller, rule)
    if refused := refused or own_objection(caller, attempt.mutation_id, requesters):
        raise NotAllowed(
            f"{attempt.mutation_id} was approved for {wanted}, and its end was not moved. {refused} Make the change again with the longer "
            "time: then people are asked about that."
        )


def end(
    transaction: Transaction, mutation_id: str, *, caller: Caller, reason: str, at: datetime
) -> Sequence[TimeBoxPart]:
    """Let the end come now, also once more for what was left to a human, if a human asks; the parts. Its claims end.

    Where the end has come already nothing is moved or recorded: how long it is overdue decides when a human is asked.
    """
    attempt, rows = _of_caller(transaction, mutation_id, caller)
    if attempt.state in (AttemptState.IN_FLIGHT, AttemptState.IN_DOUBT):
        raise NotAllowed(
            f"The outcome of mutation {mutation_id} is not known yet, so it cannot be ended. Try again then."
        )
    again = TO_HUMAN if caller.kind is ActorKind.HUMAN else frozenset[TimeBoxState]()
    rows = [row for row in rows if row.state == TimeBoxState.STANDING or row.state in again]
    if not rows:
        raise NotAllowed(f"The change {mutation_id} is being put back, is left to a human, or is over already.")
    if open_claims_of(transaction, mutation_id):
        release(transaction, mutation_id, caller=caller, at=at)
    rows = [row for row in rows if row.state in TO_HUMAN or row.until > to_text(at)]
    if not rows:
        return _parts(transaction, mutation_id)
    for row in rows:
        _set(transaction, row, TimeBoxState.STANDING, until=at)
    _record_move(transaction, attempt, rows, at, caller=caller, reason=reason, at=at, claims=[])
    return _parts(transaction, mutation_id)


def leave(
    transaction: Transaction,
    mutation_id: str,
    left: Sequence[TimeBoxPart],
    state: TimeBoxState,
    *,
    by: str,
    reason: str,
    at: datetime,
) -> bool:
    """Record that parts are not put back, and why; False if none of them is standing any more."""
    keys = {part.key for part in left}
    rows = [
        row
        for row in rows_of_mutation(transaction, mutation_id)
        if (row.address, row.attribute) in keys and row.state == TimeBoxState.STANDING and row.until <= to_text(at)
    ]
    if not rows:
        return False
    for row in rows:
        _set(transaction, row, state, by=by)
    body = NotPutBackBody(state=state, by=by, reason=reason[:_MAX_REASON], attributes=_attributes(rows))
    _append(transaction, rows, actor=rows[0].actor, body=body, at=at)
    return True


def _of_caller(transaction: Transaction, mutation_id: str, caller: Caller) -> tuple[AttemptRow, Sequence[TimeBoxRow]]:
    """The change and its parts. Raises `errors.NotFound` unless it is the caller's own, or the caller is an approver."""
    refuse_revoked(transaction, caller)
    attempt = attempt_of_mutation(transaction, mutation_id)
    rows = rows_of_mutation(transaction, mutation_id)
    if attempt is None or not rows or (attempt.actor != caller.actor and not is_approver(caller)):
        raise NotFound(f"You hold no change for a time with the id {mutation_id}.")
    return attempt, rows


def _move_claims(
    transaction: Transaction, attempt: AttemptRow, until: datetime, at: datetime, spans: ClaimSpans
) -> list[MovedClaim]:
    """Move the ends of the open claims; what the record says about them.

    What the decision granted was no longer than the change was wanted then, so `spans` may grant more.
    """
    granted = granted_seconds(transaction, attempt.seq)
    moved: list[MovedClaim] = []
    for claim in open_claims_of(transaction, attempt.mutation_id):
        motivation = str(json.loads(claim.motive)["motivation"]) if claim.motive else ""
        span = max(granted or 0, spans.seconds(motivation, claim.kind))
        most = from_text(claim.since) + timedelta(seconds=span) if granted is not None else until
        ends = min(until, most)
        if claim.until is not None and (claim.until > to_text(at) or ends > at):
            transaction.change(_MOVE_CLAIM, {"claim": claim.id, "new_until": to_text(ends)})
            moved.append(MovedClaim(id=claim.id, until=to_text(ends)))
    return moved


def _record_move(
    transaction: Transaction,
    attempt: AttemptRow,
    rows: Sequence[TimeBoxRow],
    until: datetime,
    *,
    caller: Caller,
    reason: str,
    at: datetime,
    claims: Sequence[MovedClaim],
) -> None:
    body = RescheduledBody(
        until=to_text(until),
        was=rows[0].until,
        holder=attempt.actor,
        reason=reason[:_MAX_REASON],
        claims=tuple(claims),
        attributes=_attributes(rows),
    )
    _append(transaction, rows, actor=caller.actor, body=body, at=at)


def _append(transaction: Transaction, rows: Sequence[TimeBoxRow], *, actor: str, body: Body, at: datetime) -> None:
    record = Record(at=at, mutation_id=rows[0].mutation_id, actor=actor, stack=rows[0].stack, body=body)
    transaction.append(record, resources=[(row.address, row.attribute) for row in rows])


def _attributes(rows: Sequence[TimeBoxRow]) -> tuple[AttributeKey, ...]:
    return tuple(AttributeKey(address=row.address, attribute=row.attribute) for row in rows)


def _parts(transaction: Transaction, mutation_id: str) -> Sequence[TimeBoxPart]:
    return [part_of(row) for row in rows_of_mutation(transaction, mutation_id) if TimeBoxState(row.state) in OPEN]


def _set(
    transaction: Transaction, row: TimeBoxRow, state: TimeBoxState, *, by: str = "", until: datetime | None = None
) -> None:
    transaction.change(
        _CHANGE,
        {
            "mutation": row.mutation_id,
            "where": row.address,
            "what": row.attribute,
            "new_state": state.value,
            "by": by,
            "new_until": row.until if until is None else to_text(until),
        },
    )


def _name(key: tuple[str, str]) -> str:
    return ".".join(key)
