"""Lists time-boxed changes, and says for each one whose end has come whether its values are put back."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, case, exists, func, or_, select

from gateway.core.errors import NotFound
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.mutation import Call
from gateway.core.model.path import Overlaps
from gateway.core.model.time_box import OPEN, TO_HUMAN, TimeBoxPart, TimeBoxState
from gateway.core.ports import DueChange
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody
from gateway.ledger.store.rows import AppliedValueRow, ClaimRow, TimeBoxRow
from gateway.ledger.store.statements import Among, Query, Session, Statement, columns
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import ATTEMPTS, BODY, CLAIMS, LISTED, RECORDS, TIME_BOXES, VALUES
from gateway.ledger.store.timestamps import from_text, to_text

MOST_LISTED: Final = 1_000
"""Most attributes in one answer, those with the soonest end."""
MOST_DUE: Final = 10_000
"""Most changes that are known to be due at once."""
_ALL: Final = columns(TIME_BOXES, TimeBoxRow)
_IS_LIVE = exists().where(
    VALUES.c.address == TIME_BOXES.c.address,
    VALUES.c.attribute == TIME_BOXES.c.attribute,
    VALUES.c.mutation_id == TIME_BOXES.c.mutation_id,
)
"""Whether the attribute still has the value that the change set, as far as Sentinel knows."""
_OF_MUTATION: Final = Query(select(*_ALL).where(TIME_BOXES.c.mutation_id == bindparam("mutation")), TimeBoxRow)
_STANDING: Final = Query(
    select(*_ALL).where(Among(TIME_BOXES.c.address, "addresses"), LISTED, _IS_LIVE).order_by(TIME_BOXES.c.seq),
    TimeBoxRow,
)
_LISTED_PARTS = (
    select(*_ALL)
    .where(LISTED, Among(TIME_BOXES.c.state, "states"), or_(Among(TIME_BOXES.c.state, "open"), _IS_LIVE))
    .order_by(TIME_BOXES.c.until, TIME_BOXES.c.mutation_id)
    .limit(MOST_LISTED)
)
_LISTING: Final = Query(_LISTED_PARTS, TimeBoxRow)
_LISTING_OF_ACTOR: Final = Query(_LISTED_PARTS.where(TIME_BOXES.c.actor == bindparam("who")), TimeBoxRow)
_IS_DUE = and_(LISTED, TIME_BOXES.c.until <= bindparam("now"), Among(TIME_BOXES.c.state, "open"))
_DUE: Final = Query(select(*_ALL).where(_IS_DUE, TIME_BOXES.c.mutation_id == bindparam("mutation")), TimeBoxRow)
_WAS_APPLIED = exists().where(
    ATTEMPTS.c.mutation_id == TIME_BOXES.c.mutation_id, ATTEMPTS.c.state == AttemptState.APPLIED.value
)
_IS_WAITING = case((TIME_BOXES.c.state == TimeBoxState.PUTTING_BACK.value, 1), (_WAS_APPLIED, 0), else_=1)
_DUE_MUTATIONS = (
    select(TIME_BOXES.c.mutation_id)
    .where(_IS_DUE)
    .group_by(TIME_BOXES.c.mutation_id)
    .order_by(func.max(_IS_WAITING), func.min(TIME_BOXES.c.until), func.min(TIME_BOXES.c.seq))
    .limit(MOST_DUE)
)
_DUE_OF_ALL: Final = Statement(_DUE_MUTATIONS)
_DUE_OF_STACK: Final = Statement(_DUE_MUTATIONS.where(TIME_BOXES.c.stack == bindparam("stack")))
_PART: Final = Query(
    select(*_ALL).where(
        TIME_BOXES.c.mutation_id == bindparam("mutation"),
        TIME_BOXES.c.address == bindparam("where"),
        TIME_BOXES.c.attribute == bindparam("what"),
    ),
    TimeBoxRow,
)
_OPEN_ON: Final = Query(
    select(*_ALL).where(TIME_BOXES.c.address == bindparam("where"), LISTED, Among(TIME_BOXES.c.state, "open")),
    TimeBoxRow,
)
_APPLIED: Final = Query.of(VALUES, AppliedValueRow, VALUES.c.address == bindparam("where"))
# A list of one: of an address that has a tenth of all claims, PostgreSQL would expect a tenth of the open ones, and read these all.
_UNSETTLED: Final = Query.of(
    CLAIMS, ClaimRow, Among(CLAIMS.c.address, "addresses"), CLAIMS.c.ended_at.is_(None), CLAIMS.c.unsettled == 1
)
_ATTEMPT_STATE: Final = Statement(select(ATTEMPTS.c.state).where(ATTEMPTS.c.mutation_id == bindparam("mutation")))
_BODY: Final = Statement(select(BODY).where(RECORDS.c.seq == bindparam("seq")))
_OPEN_STATES: Final = canonical_text(sorted(OPEN))


def part_of(row: TimeBoxRow) -> TimeBoxPart:
    """The part of a row."""
    return TimeBoxPart(
        mutation_id=row.mutation_id,
        address=row.address,
        attribute=row.attribute,
        value=json.loads(row.value),
        base=json.loads(row.base),
        root=row.root,
        actor=row.actor,
        stack=row.stack,
        since=from_text(row.since),
        until=from_text(row.until),
        state=TimeBoxState(row.state),
        ended_by=row.ended_by,
        seq=row.seq,
    )


def rows_of_mutation(session: Session, mutation_id: str) -> Sequence[TimeBoxRow]:
    """The attributes of one time-boxed change; none for any other mutation."""
    return session.rows(_OF_MUTATION, {"mutation": mutation_id})


def standing(session: Session, addresses: Sequence[str]) -> Sequence[TimeBoxPart]:
    """The parts whose values the attributes of these resources have now, as far as Sentinel knows, oldest first."""
    return [part_of(row) for row in session.rows(_STANDING, {"addresses": canonical_text(addresses)})]


def listed(
    session: Session, *, mutation_id: str = "", ended: bool = False, actor: str = "", left: bool = False
) -> Sequence[TimeBoxPart]:
    """The parts that are still to be put back or left to a human, soonest end first; with `ended` those of the mutation that ended too.

    `actor` and `left` restrict them before they are counted, so that no other's many changes hide them.
    Without a mutation, one that a later change has by now is SUPERSEDED already, though its end has not come.
    """
    if mutation_id:
        rows = rows_of_mutation(session, mutation_id)
        return [part_of(row) for row in rows if ended or TimeBoxState(row.state) in OPEN]
    states = canonical_text(sorted(TO_HUMAN if left else OPEN | TO_HUMAN))
    query, who = (_LISTING_OF_ACTOR, {"who": actor}) if actor else (_LISTING, {})
    fates = Fates(session)
    rows = session.rows(query, {"open": _OPEN_STATES, "states": states, **who})
    return [_foreseen(session, fates, row) for row in rows]


def _foreseen(session: Session, fates: "Fates", row: TimeBoxRow) -> TimeBoxPart:
    """The part as it would be at its end if nothing happened until then."""
    part = part_of(row)
    if part.state is not TimeBoxState.STANDING or not _is_carried_out(session, row.mutation_id):
        return part
    fate, by = fates.of(row, part.until)
    return replace(part, state=fate, ended_by=by) if fate is TimeBoxState.SUPERSEDED else part


def _is_carried_out(session: Session, mutation_id: str) -> bool:
    return bool(session.scalar(_ATTEMPT_STATE, {"mutation": mutation_id}) == AttemptState.APPLIED)


def due_mutations(session: Session, now: datetime, *, stack: str = "") -> Sequence[str]:
    """The time-boxed changes whose end has come, the earliest first, and those that wait for an outcome last; of all stacks if none is named."""
    values = {"now": to_text(now), "open": _OPEN_STATES}
    return session.column(_DUE_OF_STACK, {**values, "stack": stack}) if stack else session.column(_DUE_OF_ALL, values)


def due(session: Session, now: datetime, mutation_id: str) -> DueChange | None:
    """What is to become of each attribute of a time-boxed change; None if its end has not come, or all of it is over."""
    rows = session.rows(_DUE, {"now": to_text(now), "open": _OPEN_STATES, "mutation": mutation_id})
    return _due_change(session, sorted(rows, key=lambda row: (row.address, row.attribute)), now) if rows else None


def put_back_call(session: Session, mutation_id: str) -> Call:
    """The call that puts all of a time-boxed change back. Raises `errors.NotFound`."""
    rows = rows_of_mutation(session, mutation_id)
    body = decision_of(session, rows[0].seq) if rows else None
    if body is None or body.time_box is None:
        raise NotFound(f"Mutation {mutation_id} is not a change for a time.")
    return body.time_box.call.to_call()


def declared_before(session: Session, parts: Sequence[TimeBoxPart]) -> dict[tuple[str, str], Json]:
    """What the code declared when the first of the changes on top of each other was decided, by address and attribute; absent if that is not known."""
    found: dict[tuple[str, str], Json] = {}
    for part in parts:
        rows = rows_of_mutation(session, part.root)
        body = decision_of(session, rows[0].seq) if rows else None
        for effect in body.effects if body else ():
            if effect.key == part.key:
                found[part.key] = effect.declared
    return found


def granted_seconds(session: Session, seq: int) -> float | None:
    """How long policy granted the claims of a decision; None if without end."""
    body = decision_of(session, seq)
    granted = body.decision.obligations.get("claim_seconds") if body else None
    return granted if isinstance(granted, int | float) else None


def _due_change(session: Session, rows: Sequence[TimeBoxRow], now: datetime) -> DueChange:
    first = rows[0]
    waits = ""
    if not _is_carried_out(session, first.mutation_id):
        waits = f"Whether {first.mutation_id} was carried out is not known yet."
    back: list[TimeBoxPart] = []
    alone: list[tuple[TimeBoxPart, TimeBoxState, str]] = []
    fates = Fates(session)
    for row in rows:
        if row.state == TimeBoxState.PUTTING_BACK:
            waits = f"{row.ended_by} puts it back, and its outcome is not known yet."
            continue
        fate, by = fates.of(row, now)
        if fate is None:
            waits = f"{by} is changing {row.address}.{row.attribute}, and its outcome is not known yet."
        elif fate is TimeBoxState.STANDING:
            back.append(part_of(row))
        else:
            alone.append((part_of(row), fate, by))
    return DueChange(
        mutation_id=first.mutation_id,
        stack=first.stack,
        until=from_text(first.until),
        waits=waits,
        back=tuple(back),
        alone=tuple(alone),
    )


class _Resource:
    """What one resource has: the claims whose outcome is not known, the applied values, and the open parts, by attribute."""

    def __init__(self, session: Session, address: str) -> None:
        unsettled = session.rows(_UNSETTLED, {"addresses": canonical_text([address])})
        self.unsettled = Overlaps((address, claim.attribute, claim.mutation_id) for claim in unsettled)
        self.applied = {row.attribute: row for row in session.rows(_APPLIED, {"where": address})}
        self.around = Overlaps((address, row.attribute, row) for row in self.applied.values())
        self.open: dict[str, list[TimeBoxRow]] = defaultdict(list)
        for row in session.rows(_OPEN_ON, {"where": address, "open": _OPEN_STATES}):
            self.open[row.attribute].append(row)


class Fates:
    """What is to become of parts whose end has come. A resource is read once, however many of its attributes are asked for.

    So one is of use only as long as no claim, no applied value and no part of another change can change: in one transaction or snapshot.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._resources: dict[str, _Resource] = {}

    def of(self, row: TimeBoxRow, now: datetime) -> tuple[TimeBoxState | None, str]:
        """What is to become of a part whose end has come, and the mutation that has the attribute; empty if none is known.

        STANDING: it is put back. None: another mutation is changing the attribute now, and nobody knows the outcome.
        """
        address, attribute = row.address, row.attribute
        if address not in self._resources:
            self._resources[address] = _Resource(self._session, address)
        resource = self._resources[address]
        for mutation in resource.unsettled.of(address, attribute):
            if mutation != row.mutation_id:
                return None, mutation
        last = resource.applied.get(attribute)
        if last is None:
            return TimeBoxState.SUPERSEDED, ""  # deleted, created again, or set to what only AWS knows
        latest = max(resource.around.of(address, attribute), key=lambda each: each.seq)
        if latest.seq > last.seq:
            return TimeBoxState.SUPERSEDED, latest.mutation_id
        part = self._session.row(_PART, {"where": address, "what": attribute, "mutation": last.mutation_id})
        if part is None or part.root != row.root or last.value != row.value:
            return TimeBoxState.SUPERSEDED, last.mutation_id
        for other in resource.open[attribute]:
            lasts = other.seq > row.seq or other.until > to_text(now)
            if lasts and (other.root, other.value) == (row.root, row.value) and other.mutation_id != row.mutation_id:
                return TimeBoxState.STILL_WANTED, other.mutation_id
        return TimeBoxState.STANDING, ""


def decision_of(session: Session, seq: int) -> DecidedBody[Any] | None:
    """The DECIDED record with this number; None if there is none."""
    found = session.scalar(_BODY, {"seq": seq})
    return decode_as(DecidedBody, found) if found else None
