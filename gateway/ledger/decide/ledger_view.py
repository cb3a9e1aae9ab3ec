"""What the ledger tells a decision: claims, values and approvals on the addresses of a mutation, earlier attempts, and what people said about the same call."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import CTE, ColumnElement, Select, and_, bindparam, exists, func, literal_column, or_, select, true

from gateway.core.model.approval import Answered, Binding, HoldState, Rejection, binding_from_json
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.facts import Approval
from gateway.core.model.json import Json, canonical_text, from_canonical
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Applied, Attempt, InDoubt, Outcome, Reply
from gateway.core.ports import LedgerView
from gateway.core.records.approvals import RejectedBody
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.ledger.ask.change_history import commits_of
from gateway.ledger.decide.budgets import BudgetRow, used_from_join
from gateway.ledger.decide.claims import HELD
from gateway.ledger.decide.handovers import Handovers
from gateway.ledger.decide.stops import standing_stops
from gateway.ledger.store.rows import ApprovalRow, AttemptOutcomeRow, ClaimRow, HolderRow, ValueRow
from gateway.ledger.store.serialize import claim_from_row, reply_parts
from gateway.ledger.store.statements import Among, FoundBy, Query, Session, Statement, columns
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import (
    APPROVALS,
    ATTEMPTS,
    BODY,
    BUDGETS,
    CLAIMS,
    HOLDS,
    IN_DOUBT,
    IN_FLIGHT,
    RECORDS,
    STOPS,
    UNUSED,
    VALUES,
)
from gateway.ledger.store.timestamps import from_text, to_text

FLIP_CLAIMS: Final = 40
"""Flips are counted among at most this many of an attribute's latest claims, so a busy attribute costs no more than a quiet one."""

_PAGE: Final = 500

OPEN_CLAIMS: Final = Query.of(
    CLAIMS,
    ClaimRow,
    Among(CLAIMS.c.address, "addresses"),
    CLAIMS.c.ended_at.is_(None),
    or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > bindparam("now"), CLAIMS.c.unsettled == 1),
    order_by=(CLAIMS.c.since, CLAIMS.c.id),
)
"""The open claims on `addresses` at the time `now`."""
_VALUES: Final = Query.of(VALUES, ValueRow, Among(VALUES.c.address, "addresses"), order_by=(VALUES.c.seq,))
_WITH: Final = Query.of(VALUES, ValueRow, VALUES.c.attribute == bindparam("what"), Among(VALUES.c.value, "values"))
_DECIDED: Final = select(BODY).select_from(ATTEMPTS.join(RECORDS, RECORDS.c.seq == ATTEMPTS.c.seq))
# Two queries, because an index of the open attempts serves one state each. Few are open at a time.
_IN_FLIGHT_BODIES: Final = Statement(_DECIDED.where(ATTEMPTS.c.state == IN_FLIGHT))
_IN_DOUBT_BODIES: Final = Statement(_DECIDED.where(ATTEMPTS.c.state == IN_DOUBT))
_IS_APPROVED: Final = and_(
    APPROVALS.c.actor == bindparam("who"),
    APPROVALS.c.call_digest == bindparam("digest"),
    APPROVALS.c.state == UNUSED,
    APPROVALS.c.until > bindparam("now"),
)
_IS_ATTEMPT: Final = and_(ATTEMPTS.c.actor == bindparam("who"), ATTEMPTS.c.idempotency_key == bindparam("key"))
_APPROVAL: Final = Query.of(APPROVALS, ApprovalRow, _IS_APPROVED)


class BesideRow(NamedTuple):
    """What stands beside the claims, asked by one statement: to run one takes longer than to find out that there is nothing."""

    stopped: int
    """Whether any stop stands."""
    approved: int
    """Whether the call has an unused approval."""
    attempted: int
    """Whether the actor has made an attempt with the idempotency key."""
    motivation: str | None
    held: int | None
    """How many claims the actor holds for the motivation: one row for each, or one of nulls; see `claims.open_claims`."""
    actor: str | None
    """None, as what follows, if the actor has used nothing."""
    levels: str
    in_a_row: int
    state: str
    until: str
    trial: str


_HELD: Final = HELD.subquery()
_BESIDE: Final = Query(
    select(
        exists().where(STOPS.c.ended_at.is_(None)).label("stopped"),
        exists().where(_IS_APPROVED).label("approved"),
        exists().where(_IS_ATTEMPT).label("attempted"),
        *_HELD.c,
        *columns(BUDGETS, BudgetRow),
    ).select_from(
        select(literal_column("1"))
        .subquery()
        .outerjoin(BUDGETS, BUDGETS.c.actor == bindparam("who"))
        .outerjoin(_HELD, true())
    ),
    BesideRow,
)


def claimed_attributes() -> CTE:
    """Every attribute ever claimed on the addresses, by a loose index scan, so the cost does not grow with the number of claims."""
    first, later = CLAIMS.alias(), CLAIMS.alias()
    given = func.each_text(bindparam("addresses")).table_valued("value")
    least = select(func.min(first.c.attribute)).where(first.c.address == given.c.value).scalar_subquery()
    found = select(given.c.value.label("address"), least.label("attribute")).cte("attributes", recursive=True)
    following = (
        select(func.min(later.c.attribute))
        .where(later.c.address == found.c.address, later.c.attribute > found.c.attribute)
        .scalar_subquery()
    )
    return found.union_all(select(found.c.address, following).where(found.c.attribute.is_not(None)))


def _latest(*selected: ColumnElement[Any]) -> Select[Any]:
    """These columns of each attribute's latest claims since `from`. Claims of failed mutations do not count."""
    about, older = claimed_attributes(), CLAIMS.alias()
    newest_excluded = (
        select(older.c.since)
        .where(
            older.c.address == about.c.address,
            older.c.attribute == about.c.attribute,
            older.c.since > bindparam("from"),
        )
        .order_by(older.c.since.desc())
        .offset(literal_column(str(FLIP_CLAIMS)))
        .limit(literal_column("1"))
        .scalar_subquery()
    )
    return (
        select(*selected)
        .select_from(CLAIMS)
        .join(
            about,
            and_(FoundBy(CLAIMS.c.address, about.c.address), FoundBy(CLAIMS.c.attribute, about.c.attribute)),
        )
        .where(
            CLAIMS.c.since > func.coalesce(newest_excluded, bindparam("from")),
            # Restating a value changes nothing, so it is no flip.
            or_(CLAIMS.c.until.is_(None), CLAIMS.c.until > CLAIMS.c.since),
            or_(CLAIMS.c.end.is_(None), CLAIMS.c.end != ClaimEnd.FAILED.value),
        )
    )


LATEST_HOLDERS: Final = Query(
    _latest(*columns(CLAIMS, HolderRow)).order_by(CLAIMS.c.address, CLAIMS.c.attribute, CLAIMS.c.since, CLAIMS.c.id),
    HolderRow,
)
"""Who held each attribute of `addresses` since `from`, oldest first."""
_SEVERAL_HOLDERS: Final = Statement(
    _latest(CLAIMS.c.address).group_by(CLAIMS.c.address).having(func.min(CLAIMS.c.actor) != func.max(CLAIMS.c.actor))
)
"""Those of `addresses` that more than one actor held since `from`: on no other one an attribute changed hands. To ask that first costs a mutation of
a resource with one actor a twentieth less in all, as most are; its latest claims need not be read and put in order.
"""
_BY_KEY: Final = Query.of(ATTEMPTS, AttemptOutcomeRow, _IS_ATTEMPT)


def view_of(
    session: Session,
    *,
    addresses: Sequence[str],
    actor: str,
    call_digest: str,
    now: datetime,
    flip_window: timedelta,
    changing: Collection[tuple[str, str]] = (),
    idempotency_key: str = "",
) -> LedgerView:
    """What the ledger knows about the addresses, the actor's unused approval for the call, and its earlier attempt with the key. Flips are those of
    the attributes `changing`.
    """
    claims: list[ClaimRow] = []
    values: dict[tuple[str, str], Json] = {}
    flips: dict[str, int] = {}
    held: set[str] = set()
    asked = defaultdict(set)
    for address, attribute in changing:
        asked[address].add(attribute)
    moment, flips_from = to_text(now), to_text(now - flip_window)
    for start in range(0, len(addresses), _PAGE):
        page = canonical_text(addresses[start : start + _PAGE])
        claims += session.rows(OPEN_CLAIMS, {"addresses": page, "now": moment})
        for address, attribute, value in session.rows(_VALUES, {"addresses": page}):
            values[address, attribute] = from_canonical(value)
    for start in range(0, len(among := [each for each in addresses if each in asked]), _PAGE):
        page = canonical_text(among[start : start + _PAGE])
        contested = sorted(session.column(_SEVERAL_HOLDERS, {"addresses": page, "from": flips_from}))
        if not contested:
            continue
        # Counted here: SQLite's window functions take five times as long.
        page = canonical_text(contested)
        handovers = Handovers(session.rows(LATEST_HOLDERS, {"addresses": page, "from": flips_from}))
        for address, attribute in ((each, name) for each in contested for name in sorted(asked[each])):
            if count := handovers.flips(address, attribute):
                flips[f"{address}.{attribute}"] = count
                if handovers.had(actor, address, attribute):
                    held.add(f"{address}.{attribute}")
    asked_about = {"who": actor, "digest": call_digest, "now": moment}
    for_each = session.rows(_BESIDE, {**asked_about, "key": idempotency_key})
    beside = for_each[0]
    claims_held = {each.motivation: each.held for each in for_each if each.motivation is not None and each.held}
    approval = session.row(_APPROVAL, asked_about) if beside.approved else None
    return LedgerView(
        claims=_with_commits(session, claims, actor),
        values=values,
        approval=approval_from_row(approval) if approval else None,
        flips=flips,
        held_before=frozenset(held),
        open_claims=sum(claims_held.values()),
        used=replace(used_from_join(beside), claims=claims_held),
        stops=standing_stops(session) if beside.stopped else (),
        attempt=attempt_of(session, actor, idempotency_key) if beside.attempted else None,
    )


def _with_commits(session: Session, rows: Sequence[ClaimRow], actor: str) -> tuple[Claim, ...]:
    """The claims, those of others with the commit that proposes their value: to merge it is a way to end them."""
    commits = commits_of(session, [row.mutation_id for row in rows if row.actor != actor])
    claims = []
    for row in rows:
        claim, found = claim_from_row(row), commits.get(row.mutation_id)
        claims.append(replace(claim, branch=found[0], commit=found[1]) if found else claim)
    return tuple(claims)


def applied_with(session: Session, attribute: str, values: Sequence[str]) -> Mapping[str, Mapping[str, Json]]:
    """Address → attribute → last applied value, of every resource whose `attribute` was applied with one of these texts.

    What is in flight or in doubt counts as applied.
    """
    texts = canonical_text([canonical_text(value) for value in values])
    addresses = [row.address for row in session.rows(_WITH, {"what": attribute, "values": texts})]
    found: dict[str, dict[str, Json]] = {}
    for start in range(0, len(addresses), _PAGE):
        page = canonical_text(addresses[start : start + _PAGE])
        for address, name, value in session.rows(_VALUES, {"addresses": page}):
            found.setdefault(address, {})[name] = json.loads(value)
    for body in (*session.column(_IN_FLIGHT_BODIES, {}), *session.column(_IN_DOUBT_BODIES, {})):
        for address, given in _asked(decode_as(DecidedBody, body)).items():
            if given.get(attribute) in values:
                found[address] = {**found.get(address, {}), **given}
    return found


def _asked(decided: DecidedBody[Any]) -> Mapping[str, Mapping[str, Json]]:
    """Address → attribute → value that the call of a DECIDED record asks for."""
    asked: dict[str, dict[str, Json]] = {}
    for effect in decided.effects:
        if effect.action in (EffectAction.SET, EffectAction.CREATE):
            asked.setdefault(effect.address, {})[effect.attribute] = effect.value
    return asked


def approval_from_row(row: ApprovalRow) -> Approval:
    """The approval of a row."""
    return Approval(
        id=row.id,
        mutation_id=row.mutation_id,
        approver=row.approver,
        until=from_text(row.until),
        binding=binding_from_json(json.loads(row.binding)) if row.binding else None,
        others=tuple(json.loads(row.others)),
        broke_glass=bool(row.broke_glass),
    )


def attempt_of(session: Session, actor: str, idempotency_key: str) -> Attempt | None:
    """The actor's attempt with this key, or None."""
    row = session.row(_BY_KEY, {"who": actor, "key": idempotency_key})
    if row is None:
        return None
    return Attempt(mutation_id=row.mutation_id, call_digest=row.call_digest, outcome=_outcome(row))


def _outcome(row: AttemptOutcomeRow) -> Outcome | None:
    if row.state == AttemptState.IN_FLIGHT:
        return None
    if row.state == AttemptState.IN_DOUBT:
        return InDoubt(reason=row.reason)
    if row.state == AttemptState.FAILED:
        return InDoubt(
            settled=True,
            reason=f"This attempt was in doubt, and was then settled as not carried out: {row.reason} Use a new idempotency key to "
            "send the call again.",
        )
    if row.reason:
        return InDoubt(
            settled=True,
            reason=f"This attempt was in doubt, and was then settled as applied: {row.reason} AWS's reply is lost.",
        )
    if row.reply_status is None or row.reply_headers is None:
        # A 409 that says so is safe. An invented reply would be taken for AWS's own.
        return InDoubt(
            settled=True,
            reason=f"This attempt was applied before (AWS request {row.request_id}), but its reply was not kept because it is "
            "large or may hold a secret. Read the resource itself.",
        )
    told, body = reply_parts(row.reply_headers, row.reply_body)
    headers = tuple((name, value) for name, value in json.loads(told))
    reply = Reply(status=row.reply_status, headers=headers, body=body)
    return Applied(reply=reply, request_id=row.request_id)


_LATEST: Final = 20
"""How many of a call's latest holds are looked at."""


class AlikeHoldRow(NamedTuple):
    """A hold of the same call."""

    mutation_id: str
    state: str
    binding: str


class RejectedRow(NamedTuple):
    """The record of a rejection."""

    at: str
    actor: str
    body: str


_ALIKE: Final = Query.of(
    HOLDS,
    AlikeHoldRow,
    HOLDS.c.actor == bindparam("who"),
    HOLDS.c.call_digest == bindparam("digest"),
    order_by=(HOLDS.c.at.desc(), HOLDS.c.mutation_id.desc()),
    limit=_LATEST,
)
_REJECTED: Final = Query.of(
    RECORDS, RejectedRow, RECORDS.c.mutation_id == bindparam("mutation"), RECORDS.c.stage == Stage.REJECTED.value
)


def answered(session: Session, actor: str, call_digest: str) -> Answered:
    """The open holds of the call, and its latest rejection."""
    rows = session.rows(_ALIKE, {"who": actor, "digest": call_digest})
    held = {row.mutation_id: _binding(row) for row in rows if row.state == HoldState.OPEN}
    rejections = [found for row in rows if row.state == HoldState.REJECTED and (found := _rejection(session, row))]
    return Answered(held=held, rejection=max(rejections, key=_moment, default=None))


def _rejection(session: Session, row: AlikeHoldRow) -> Rejection | None:
    """The rejection of this hold; None if it was rejected together with another one of the call."""
    record = session.row(_REJECTED, {"mutation": row.mutation_id})
    if record is None:
        return None
    return Rejection(
        mutation_id=row.mutation_id,
        by=record.actor,
        reason=decode_as(RejectedBody, record.body).reason,
        at=from_text(record.at),
        binding=_binding(row),
    )


def _moment(rejection: Rejection) -> datetime:
    return rejection.at


def _binding(row: AlikeHoldRow) -> Binding | None:
    return binding_from_json(json.loads(row.binding)) if row.binding else None
