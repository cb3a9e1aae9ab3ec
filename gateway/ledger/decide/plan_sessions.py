"""Opens the session of a plan with its decision, counts what its calls use of the planned changes, and ends it."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, func, insert, select, update

from gateway.core.errors import NotFound, Overloaded, PlanUsed
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.json import canonical_text
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan_session import PlanSessionEnd, UsedChange
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody
from gateway.core.records.plans import PlanEndedBody
from gateway.core.records.record import Record, Stage
from gateway.core.records.settled import SettledBody
from gateway.ledger.decide.claims import end_claims, open_claims_of
from gateway.ledger.decide.settlement import reopen_on
from gateway.ledger.decide.write_set import WriteSet, is_routine_apply
from gateway.ledger.store.rows import PlanSessionRow, PlanUseRow
from gateway.ledger.store.serialize import ids
from gateway.ledger.store.statements import Among, Query, Session, SqlValue, Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, BODY, KEYS, PLAN_SESSIONS, PLAN_USES, RECORDS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction

MOST_SESSIONS: Final = 100
"""Sessions of plans that one actor may have open at once."""
MOST_NAMED: Final = 50
"""Planned changes without a call that the record of a session's end names."""
_AT_ONCE: Final = 100
"""Expired sessions that are ended in one transaction."""

_INSERT: Final = Statement(insert(PLAN_SESSIONS))
_USE: Final = Statement(insert(PLAN_USES))
_OPEN_OF: Final = Query.of(
    PLAN_SESSIONS, PlanSessionRow, PLAN_SESSIONS.c.actor == bindparam("who"), PLAN_SESSIONS.c.ended_at.is_(None)
)
_BY_ID: Final = Query.of(PLAN_SESSIONS, PlanSessionRow, PLAN_SESSIONS.c.mutation_id == bindparam("plan"))
_BY_KEYS: Final = Query.of(
    PLAN_SESSIONS, PlanSessionRow, Among(PLAN_SESSIONS.c.key_id, "keys"), PLAN_SESSIONS.c.ended_at.is_(None)
)
_EXPIRED: Final = Query.of(
    PLAN_SESSIONS,
    PlanSessionRow,
    PLAN_SESSIONS.c.ended_at.is_(None),
    PLAN_SESSIONS.c.until <= bindparam("now"),
    order_by=(PLAN_SESSIONS.c.until,),
    limit=_AT_ONCE,
)
_END: Final = Statement(
    update(PLAN_SESSIONS)
    .where(PLAN_SESSIONS.c.mutation_id == bindparam("plan"))
    .values(ended_at=bindparam("at"), end=bindparam("how"))
)
_KEY_STANDS: Final = Statement(select(KEYS.c.id).where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_(None)))
_BODY: Final = Statement(select(BODY).where(RECORDS.c.seq == bindparam("seq")))
_STATES: Final = Statement(
    select(PLAN_USES.c.address, ATTEMPTS.c.state, PLAN_USES.c.mutation_id)
    .select_from(PLAN_USES.join(ATTEMPTS, ATTEMPTS.c.mutation_id == PLAN_USES.c.mutation_id))
    .where(PLAN_USES.c.plan == bindparam("plan"))
)
_MADE: Final = Statement(
    select(PLAN_USES.c.address, BODY)
    .select_from(PLAN_USES.join(RECORDS, RECORDS.c.mutation_id == PLAN_USES.c.mutation_id))
    .where(
        PLAN_USES.c.plan == bindparam("plan"),
        PLAN_USES.c.action == EffectAction.CREATE.value,
        RECORDS.c.stage == Stage.SETTLED.value,
    )
    .order_by(RECORDS.c.seq)
)
_CREATED: Final = Statement(
    select(PLAN_USES.c.address)
    .distinct()
    .select_from(PLAN_USES.join(ATTEMPTS, ATTEMPTS.c.mutation_id == PLAN_USES.c.mutation_id))
    .where(
        PLAN_USES.c.plan == bindparam("plan"),
        PLAN_USES.c.action == EffectAction.CREATE.value,
        ATTEMPTS.c.state != AttemptState.FAILED.value,
        ATTEMPTS.c.state != AttemptState.IN_FLIGHT.value,
    )
)
"""What calls that are under way would create is not there yet: AWS may refuse them, because the name is another's."""
_USED: Final = Query(
    select(PLAN_USES.c.address, PLAN_USES.c.action, PLAN_USES.c.operation, func.count().label("times"))
    .select_from(PLAN_USES.join(ATTEMPTS, ATTEMPTS.c.mutation_id == PLAN_USES.c.mutation_id))
    .where(PLAN_USES.c.plan == bindparam("plan"), ATTEMPTS.c.state != AttemptState.FAILED.value)
    .group_by(PLAN_USES.c.address, PLAN_USES.c.action, PLAN_USES.c.operation),
    PlanUseRow,
)
"""What was used by calls that AWS did not refuse: a provider sends a refused call again."""


class SessionRow(NamedTuple):
    """A session with the decision that opened it."""

    mutation_id: str
    key_id: str
    actor: str
    stack: str
    digest: str
    until: str
    opened_at: str
    body: str


_SESSION_OF: Final = Query(
    select(
        PLAN_SESSIONS.c.mutation_id,
        PLAN_SESSIONS.c.key_id,
        PLAN_SESSIONS.c.actor,
        PLAN_SESSIONS.c.stack,
        PLAN_SESSIONS.c.digest,
        PLAN_SESSIONS.c.until,
        RECORDS.c.at.label("opened_at"),
        BODY,
    )
    .select_from(PLAN_SESSIONS.join(RECORDS, RECORDS.c.seq == PLAN_SESSIONS.c.seq))
    .where(PLAN_SESSIONS.c.key_id == bindparam("key")),
    SessionRow,
)


def session_row(session: Session, key_id: str) -> SessionRow | None:
    """The session of a key, open or ended; None if the key is no plan's."""
    return session.row(_SESSION_OF, {"key": key_id})


def session_of_plan(session: Session, plan: str) -> PlanSessionRow | None:
    """The session that a plan's mutation opened, open or ended; None for any other mutation."""
    return session.row(_BY_ID, {"plan": plan})


def used_changes(session: Session, plan: str) -> dict[UsedChange, int]:
    """How often calls of a session used each of its changes."""
    return {(row.address, row.action, row.operation): row.times for row in session.rows(_USED, {"plan": plan})}


def created_addresses(session: Session, plan: str) -> frozenset[str]:
    """The planned resources that calls of a session created, as far as AWS has answered."""
    return frozenset(map(str, session.column(_CREATED, {"plan": plan})))


def made_ids(session: Session, plan: str) -> dict[str, str]:
    """The id that AWS chose for each planned resource that calls of a session created, by its address."""
    found: dict[str, str] = {}
    for address, body in session.fetch(_MADE, {"plan": plan}):
        made = decode_as(SettledBody, body).made
        if made:
            found[str(address)] = made
    return found


def open_session(transaction: Transaction, write: WriteSet, seq: int) -> None:
    """Store the session that a plan's mutation opens. An open one of the same plan and actor ends.

    Raises `errors.Overloaded` if the actor has too many.
    """
    opening = write.mutation.opens
    if opening is None:
        return
    actor, digest = write.mutation.caller.actor, write.call_digest
    standing = transaction.rows(_OPEN_OF, {"who": actor})
    for row in standing:
        if row.digest == digest:
            end_session(transaction, row, PlanSessionEnd.REPLACED, by=actor, at=write.facts.now)
    if sum(row.digest != digest for row in standing) >= MOST_SESSIONS:
        raise Overloaded(
            f"{actor} has {MOST_SESSIONS} sessions of plans open, and no more may be open at once. Nothing was opened; end one first."
        )
    values: dict[str, SqlValue] = {
        "mutation_id": write.mutation.id,
        "key_id": opening.key_id,
        "seq": seq,
        "actor": actor,
        "stack": write.facts.stack,
        "digest": digest,
        "until": to_text(opening.until),
        "ended_at": None,
        "end": "",
    }
    transaction.change(_INSERT, values)


def use_changes(transaction: Transaction, write: WriteSet) -> None:
    """Store what a call uses of the planned changes.

    Raises `errors.PlanUsed` if its session ended, or other calls used a change up: then nothing may be sent.
    """
    part = write.mutation.part
    if part is None:
        return
    row = transaction.row(_BY_ID, {"plan": part.session.id})
    if row is None or row.ended_at is not None or row.until <= to_text(write.facts.now):
        raise PlanUsed(
            f"The session of plan {part.session.id} has ended. Nothing was sent; check the plan again to open another."
        )
    if transaction.scalar(_KEY_STANDS, {"key": row.key_id}) is None:
        raise PlanUsed(f"The key of plan {part.session.id} was revoked. Nothing was sent.")
    uses = (*part.uses, *part.makes)
    if not uses:
        return
    call = write.mutation.call
    operation = f"{call.service}:{call.operation}"
    used = used_changes(transaction, part.session.id)
    for use in uses:
        if used.get((use.address, use.action, operation), 0) >= use.most:
            raise PlanUsed(
                f"{operation} was sent for {use.address} as often as plan {part.session.id} has such changes. Nothing was sent."
            )
    rows = [
        {
            "mutation_id": write.mutation.id,
            "address": use.address,
            "action": use.action,
            "plan": part.session.id,
            "operation": operation,
        }
        for use in uses
    ]
    transaction.change_each(_USE, rows)


def end_plan(transaction: Transaction, plan: str, *, by: str, at: datetime, exit_code: int | None = None) -> str:
    """End a session that its actor does not need any more; its key. Ending it again changes nothing. Raises `errors.NotFound`."""
    row = transaction.row(_BY_ID, {"plan": plan})
    if row is None or row.actor != by:
        raise NotFound(f"You have no session of a plan {plan}.")
    if row.ended_at is None:
        end_session(transaction, row, PlanSessionEnd.ENDED, by=by, at=at, exit_code=exit_code)
    return row.key_id


def end_of_keys(transaction: Transaction, keys: Sequence[str], at: datetime) -> None:
    """End the sessions whose keys were revoked."""
    for row in transaction.rows(_BY_KEYS, {"keys": canonical_text(list(keys))}):
        end_session(transaction, row, PlanSessionEnd.REVOKED, by=row.actor, at=at)


def end_expired_sessions(transaction: Transaction, at: datetime) -> int:
    """End the sessions whose time is up; their number."""
    rows = transaction.rows(_EXPIRED, {"now": to_text(at)})
    for row in rows:
        end_session(transaction, row, PlanSessionEnd.EXPIRED, by=row.actor, at=at)
    return len(rows)


def end_session(
    transaction: Transaction,
    row: PlanSessionRow,
    end: PlanSessionEnd,
    *,
    by: str,
    at: datetime,
    exit_code: int | None = None,
) -> None:
    """End a session: what it planned and no call did is free again, and what the plan had ended there stands again.

    Of a routine apply by a pipeline, what was done is free again too.
    """
    done = transaction.fetch(_STATES, {"plan": row.mutation_id})
    touched = {str(address) for address, state, _ in done if state != AttemptState.FAILED}
    body = decode_as(DecidedBody, transaction.scalar(_BODY, {"seq": row.seq}))
    planned = [change.address for change in (body.plan.changes if body.plan else ())]
    unused = [address for address in planned if address not in touched]
    kept = touched
    if is_routine_apply(body.caller.kind, body.motive.motivation if body.motive else None):
        # What such an apply did is what the code declares. Where an outcome is not known, the claim stays.
        kept = {str(address) for address, state, _ in done if state not in (AttemptState.FAILED, AttemptState.APPLIED)}
    free = [claim for claim in open_claims_of(transaction, row.mutation_id) if claim.address not in kept]
    end_claims(transaction, free, at, ClaimEnd.RELEASED)
    reopened = reopen_on(transaction, row.mutation_id, to_text(at), set(unused))
    transaction.change(_END, {"plan": row.mutation_id, "at": to_text(at), "how": end.value})
    ended = PlanEndedBody(
        key=row.key_id,
        end=end,
        exit_code=exit_code,
        calls=dict(sorted(Counter({call: str(state) for _, state, call in done}.values()).items())),
        unused=tuple(unused[:MOST_NAMED]),
        unused_count=len(unused),
        claims_released=tuple(ids(free)),
        claims_reopened=tuple(reopened),
    )
    record = Record(at=at, mutation_id=row.mutation_id, actor=by, stack=row.stack, body=ended)
    transaction.append(record, resources=[(claim.address, claim.attribute) for claim in free])
