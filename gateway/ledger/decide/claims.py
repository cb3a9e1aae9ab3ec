"""The states of a claim, every transition between them in one table, and what time, the code and live values do to claims."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec
from sqlalchemy import Select, Subquery, bindparam, func, literal_column, or_, select, update

from gateway.core.errors import ImpossibleTransition
from gateway.core.model.claim import ClaimEnd, ConflictClass, SeenValue, undone_by_to_json
from gateway.core.model.json import canonical_text
from gateway.core.ports import MOST_CLAIMS
from gateway.core.records.claims import ExpiredBody, RecordedUndoneBy, UndoneBody, UnneededBody
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from gateway.ledger.store.rows import ClaimRow
from gateway.ledger.store.statements import Among, Query, Session, Statement
from gateway.ledger.store.tables import ATTEMPTS, BODY, CLAIMS, RECORDS
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import Transaction


class ClaimState(StrEnum):
    """What a claim means for others. Those after STANDING are ends."""

    UNSETTLED = "unsettled"
    """Its mutation is in flight or in doubt: nobody sets the attribute, and the claim does not expire."""
    STANDING = "standing"
    """It keeps out who does not outrank it."""
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    """A mutation that outranked it took its place. If that one fails or changes nothing, the claim is reopened."""
    RELEASED = "released"
    MERGED = "merged"
    FAILED = "failed"
    UNNEEDED = "unneeded"
    RESTATED = "restated"


class ClaimEvent(StrEnum):
    """What happens to a claim."""

    TAKEN = "taken"
    APPLIED = "applied"
    RESTATED = "restated"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    RELEASED = "released"
    MERGED = "merged"
    UNNEEDED = "unneeded"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTransition:
    """One line of the table."""

    before: ClaimState | None
    """None for a claim that there was not."""
    event: ClaimEvent
    after: ClaimState
    cause: str
    """When it happens, as half a sentence."""
    record: str
    """The stage of the record that tells of it."""


def _line(
    before: ClaimState | None, event: ClaimEvent, after: ClaimState, cause: str, *, record: str
) -> ClaimTransition:
    return ClaimTransition(before=before, event=event, after=after, cause=cause, record=record)


_S, _E = ClaimState, ClaimEvent
TRANSITIONS: Final[tuple[ClaimTransition, ...]] = (
    _line(None, _E.TAKEN, _S.UNSETTLED, "a mutation that sets or deletes is carried out", record="decided"),
    _line(None, _E.TAKEN, _S.STANDING, "a plan that sets or deletes opens its session", record="decided"),
    _line(_S.UNSETTLED, _E.APPLIED, _S.STANDING, "AWS applied the mutation", record="settled"),
    _line(_S.UNSETTLED, _E.RESTATED, _S.RESTATED, "it was applied, and set the value that was there", record="settled"),
    _line(_S.UNSETTLED, _E.FAILED, _S.FAILED, "AWS refused the mutation, or never carried it out", record="settled"),
    _line(_S.UNSETTLED, _E.RELEASED, _S.RELEASED, "an approver ends a claim in doubt", record="released"),
    _line(_S.UNSETTLED, _E.SUPERSEDED, _S.SUPERSEDED, "in observe mode only: another change is applied", record="decided"),
    _line(_S.STANDING, _E.SUPERSEDED, _S.SUPERSEDED, "a mutation that outranks or agrees with it, or its own actor's, is carried out", record="decided"),
    _line(_S.STANDING, _E.EXPIRED, _S.EXPIRED, "its time is up", record="expired"),
    _line(_S.STANDING, _E.RELEASED, _S.RELEASED, "its holder or an approver ends it early", record="released"),
    _line(_S.STANDING, _E.RELEASED, _S.RELEASED, "its plan's session ends without a call for it", record="plan_ended"),
    _line(_S.STANDING, _E.FAILED, _S.FAILED, "it came back after an approver had ended its mutation's claims, which then proved failed", record="settled"),
    _line(_S.STANDING, _E.MERGED, _S.MERGED, "the code declares the value", record="reconciled"),
    _line(_S.STANDING, _E.UNNEEDED, _S.UNNEEDED, "the code came to declare the value by itself", record="unneeded"),
    _line(_S.SUPERSEDED, _E.REOPENED, _S.STANDING, "what superseded it failed, or only restated its value", record="settled"),
    _line(_S.SUPERSEDED, _E.REOPENED, _S.UNSETTLED, "the same, while its own outcome is not known", record="settled"),
)  # fmt: skip
"""Every transition that there is."""

_ALLOWED: Final = frozenset((line.before, line.event) for line in TRANSITIONS)


def state_of(row: ClaimRow) -> ClaimState:
    """The state that a row says. An end counts whatever else the row says."""
    if row.ended_at is not None:
        return ClaimState(row.end or "")
    return ClaimState.UNSETTLED if row.unsettled else ClaimState.STANDING


def require(rows: Iterable[ClaimRow], event: ClaimEvent) -> None:
    """Raise `errors.ImpossibleTransition` unless the event can happen to each of these claims, as they are now."""
    for row in rows:
        if (state_of(row), event) not in _ALLOWED:
            raise ImpossibleTransition(
                f"Claim {row.id} on {row.attribute} of {row.address} is {state_of(row).value}, so it cannot be {event.value}. "
                "Nothing was stored; read the claim again."
            )


def table_text() -> str:
    """The table in Markdown, for `docs/investigators.md`."""
    lines = [
        f"| {line.before.value if line.before else '–'} | {line.event.value} | {line.after.value} | {line.cause} | `{line.record}` |"
        for line in TRANSITIONS
    ]
    return "\n".join(["| State | Event | Next state | When | Record |", "|---|---|---|---|---|", *lines])


def _counted(open_claims: Subquery) -> Select[Any]:
    """How many of these rows there are of each motivation."""
    return select(open_claims.c.motivation, func.count().label("held")).group_by(open_claims.c.motivation)


_END: Final = Statement(
    update(CLAIMS)
    .where(CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), end=bindparam("how"))
)
_SETTLE: Final = Statement(update(CLAIMS).where(CLAIMS.c.mutation_id == bindparam("mutation")).values(unsettled=0))
_OPEN_OF_MUTATION: Final = Query.of(
    CLAIMS, ClaimRow, CLAIMS.c.mutation_id == bindparam("mutation"), CLAIMS.c.ended_at.is_(None)
)
_EXPIRED: Final = Query.of(
    CLAIMS,
    ClaimRow,
    CLAIMS.c.ended_at.is_(None),
    CLAIMS.c.until <= bindparam("at"),
    CLAIMS.c.unsettled == 0,
    order_by=(CLAIMS.c.until,),
    limit=bindparam("most"),
)
HELD: Final = _counted(
    select(CLAIMS.c.motivation)
    .where(
        CLAIMS.c.actor == bindparam("who"),
        CLAIMS.c.ended_at.is_(None),
        or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now")),
    )
    .limit(literal_column(str(MOST_CLAIMS + 1)))
    .subquery()
)
"""What `open_claims` asks, of the actor `who` at the time `now`: the columns `motivation` and `held`."""
_HELD: Final = Statement(HELD)


_HELD_BY_ALL: Final = Statement(
    select(CLAIMS.c.actor, CLAIMS.c.motivation, func.count())
    .where(CLAIMS.c.ended_at.is_(None), or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now")))
    .group_by(CLAIMS.c.actor, CLAIMS.c.motivation)
)


def open_claims(session: Session, actor: str, now: datetime) -> dict[str, int]:
    """How many claims an actor holds for each motivation (empty: without a motive), counted up to one more than `ports.MOST_CLAIMS`. Those that only stand because their outcome
    is not known, and those on restated attributes, do not count.
    """
    return {str(name): int(count) for name, count in session.fetch(_HELD, {"who": actor, "now": to_text(now)})}


def open_claims_of_all(session: Session, now: datetime) -> dict[str, dict[str, int]]:
    """How many claims every actor holds for each motivation, by actor."""
    found: dict[str, dict[str, int]] = {}
    for actor, motivation, count in session.fetch(_HELD_BY_ALL, {"now": to_text(now)}):
        found.setdefault(str(actor), {})[str(motivation)] = int(count)
    return found


def open_claims_of(transaction: Transaction, mutation_id: str) -> Sequence[ClaimRow]:
    """The open claims of a mutation."""
    return transaction.rows(_OPEN_OF_MUTATION, {"mutation": mutation_id})


def settle_claims(transaction: Transaction, mutation_id: str, rows: Sequence[ClaimRow] = ()) -> None:
    """Mark a mutation's claims as settled: from now on they expire and can be superseded. `rows` are those that stand afterwards."""
    require(rows, ClaimEvent.APPLIED)
    transaction.change(_SETTLE, {"mutation": mutation_id})


def end_claims(transaction: Transaction, rows: Sequence[ClaimRow], at: datetime, how: ClaimEnd) -> None:
    """End open claims, without a record. Raises `errors.ImpossibleTransition` if one cannot end so in its state."""
    if not rows:
        return
    require(rows, ClaimEvent(how.value))
    transaction.change_each(_END, [{"claim": row.id, "at": to_text(at), "how": how.value} for row in rows])


def end_expired(transaction: Transaction, rows: Sequence[ClaimRow], at: datetime) -> None:
    """End expired claims, with one EXPIRED record for each."""
    end_claims(transaction, rows, at, ClaimEnd.EXPIRED)
    for row in rows:
        body = ExpiredBody(claim=row.id, address=row.address, attribute=row.attribute, until=row.until)
        record = Record(at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
        transaction.append(record, resources=[(row.address, row.attribute)])


def expire(transaction: Transaction, at: datetime, most: int) -> int:
    """End up to `most` expired claims; the number ended."""
    rows = transaction.rows(_EXPIRED, {"at": to_text(at), "most": most})
    end_expired(transaction, rows, at)
    return len(rows)


_OPEN: Final = Query.of(
    CLAIMS,
    ClaimRow,
    Among(CLAIMS.c.id, "ids"),
    CLAIMS.c.ended_at.is_(None),
    CLAIMS.c.unsettled == 0,
    order_by=(CLAIMS.c.id,),
)
_DECIDED: Final = Statement(
    select(BODY)
    .select_from(ATTEMPTS.join(RECORDS, RECORDS.c.seq == ATTEMPTS.c.seq))
    .where(ATTEMPTS.c.mutation_id == bindparam("mutation"))
)


def end_unneeded(transaction: Transaction, claims: Sequence[str], at: datetime) -> int:
    """End those of these claims that still stand and whose value was not in the code when they were taken; the number ended.

    A claim on a value that the code declared already defends it, for instance in an incident: it stands for its time.
    """
    rows = transaction.rows(_OPEN, {"ids": canonical_text(sorted(claims))})
    ended = [row for row in rows if not _was_declared(transaction, row)]
    end_claims(transaction, ended, at, ClaimEnd.UNNEEDED)
    for row in ended:
        body = UnneededBody(
            claim=row.id, address=row.address, attribute=row.attribute, reason="The code declares the value now."
        )
        record = Record(at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
        transaction.append(record, resources=[(row.address, row.attribute)])
    return len(ended)


def _was_declared(transaction: Transaction, row: ClaimRow) -> bool:
    """Whether the code declared the claimed value when the claim was taken; true if that cannot be told."""
    body = transaction.scalar(_DECIDED, {"mutation": row.mutation_id})
    if body is None:
        return True
    value = json.loads(row.value)
    effects = decode_as(DecidedBody, body).effects
    declared = [effect.declared for effect in effects if effect.key == (row.address, row.attribute)]
    return not declared or value in declared


_STANDING: Final = Query.of(
    CLAIMS, ClaimRow, CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None), CLAIMS.c.unsettled == 0
)
_MARK: Final = Statement(update(CLAIMS).where(CLAIMS.c.id == bindparam("claim")).values(undone=bindparam("seen")))


def record_seen(transaction: Transaction, seen: Iterable[SeenValue], at: datetime) -> list[str]:
    """Mark the claims whose live value changed from the claimed one, or back to it; their ids.

    A claim that ended meanwhile or is unsettled again, or of which the same is known already, is left as it is.
    """
    changed = []
    for value in seen:
        row = transaction.row(_STANDING, {"claim": value.claim})
        if row is not None and _known(row) != _live(value):
            _mark(transaction, row, value, at)
            changed.append(row.id)
    return changed


def _mark(transaction: Transaction, row: ClaimRow, value: SeenValue, at: datetime) -> None:
    by = undone_by_to_json(value.by)
    body = UndoneBody(
        claim=row.id,
        address=row.address,
        attribute=row.attribute,
        conflict=ConflictClass.IMPLICIT,
        stands=value.stands,
        live=None if value.stands else value.live,
        by=None if value.stands or value.by is None else msgspec.convert(by, RecordedUndoneBy),
    )
    marked = "" if value.stands else canonical_text({"at": to_text(at), "by": by, "live": value.live})
    transaction.change(_MARK, {"claim": row.id, "seen": marked})
    record = Record(at=at, mutation_id=row.mutation_id, actor=row.actor, body=body)
    transaction.append(record, resources=[(row.address, row.attribute)])


def _known(row: ClaimRow) -> str:
    return canonical_text(json.loads(row.undone)["live"]) if row.undone else ""


def _live(value: SeenValue) -> str:
    """The live value as the row holds it; empty while the claimed one stands."""
    return "" if value.stands else canonical_text(value.live)
