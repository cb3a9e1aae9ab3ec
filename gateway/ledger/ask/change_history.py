"""The history of a resource: every mutation that changed it and that AWS did not refuse, newest first, and where it was written into the code."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from gateway.context.ports import HistoryQuery, SentChange
from gateway.core.model.json import canonical_text
from gateway.core.model.mutation import Basis, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.record import Stage, to_members
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.store.statements import Among, FoundBy, Query, Session, SqlValue, unindexed
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import APPROVALS, ATTEMPTS, BODY, RECORDS, RESOURCES
from gateway.ledger.store.timestamps import from_text

_LAST_SEQ: Final = 2**63 - 1


class ChangeRow(NamedTuple):
    """The DECIDED record of a mutation, and the state of its attempt."""

    seq: int
    at: str
    mutation_id: str
    actor: str
    body: str
    state: str


class ReconciledRow(NamedTuple):
    """The record of a write-back."""

    mutation_id: str
    body: str


class ApproverRow(NamedTuple):
    """Who gave an approval."""

    id: str
    approver: str


def _changes(*, of_attribute: bool) -> Select[Any]:
    """The newest mutations of one address between two records. One that touches several attributes is found once.

    An index has those of one address in order. Of several at once, PostgreSQL would look for them among all records from the newest back; and
    for a DISTINCT in place of the GROUP BY, it would read all of the address.
    """
    about: list[ColumnElement[bool]] = [RESOURCES.c.address == bindparam("where")]
    if of_attribute:
        part = and_(RESOURCES.c.attribute > bindparam("from"), RESOURCES.c.attribute < bindparam("to"))
        about.append(or_(Among(RESOURCES.c.attribute, "attributes"), part))
    found = (
        select(RESOURCES.c.seq, func.min(ATTEMPTS.c.state).label("state"))
        .select_from(RESOURCES.join(ATTEMPTS, FoundBy(ATTEMPTS.c.seq, RESOURCES.c.seq)))
        .where(
            *about,
            RESOURCES.c.seq > bindparam("after"),
            RESOURCES.c.seq < bindparam("before"),
            ATTEMPTS.c.state != AttemptState.FAILED.value,
        )
        .group_by(RESOURCES.c.seq)
        .order_by(RESOURCES.c.seq.desc())
        .limit(bindparam("most"))
        .subquery()
    )
    decided = [RECORDS.c.seq, RECORDS.c.at, RECORDS.c.mutation_id, RECORDS.c.actor, BODY]
    return select(*decided, found.c.state).select_from(found.join(RECORDS, RECORDS.c.seq == found.c.seq))


_OF_RESOURCE: Final = Query(_changes(of_attribute=False), ChangeRow)
_OF_ATTRIBUTE: Final = Query(_changes(of_attribute=True), ChangeRow)
_RECONCILED: Final = Query.of(
    RECORDS,
    ReconciledRow,
    Among(RECORDS.c.mutation_id, "mutations"),
    unindexed(RECORDS.c.stage) == Stage.RECONCILED.value,
    order_by=(RECORDS.c.seq,),
)
_APPROVERS: Final = Query.of(APPROVALS, ApproverRow, Among(APPROVALS.c.id, "ids"))


def changes_of(session: Session, query: HistoryQuery) -> list[SentChange]:
    """The changes of a resource that AWS did not refuse, newest first. Calls that only set again what was there are none."""
    found: list[tuple[ChangeRow, DecidedBody[Any]]] = []
    before = query.before_seq
    while len(found) < query.limit:
        rows = _rows(session, replace(query, before_seq=before))
        bodies = ((row, decode_as(DecidedBody, row.body)) for row in rows)
        found += [(row, body) for row, body in bodies if _shown_effects(body, query)]
        if len(rows) < query.limit:
            break
        before = rows[-1].seq
    found = found[: query.limit]
    commits = commits_of(session, [row.mutation_id for row, _ in found])
    approvers = _approvers(session, [body.decision.approval for _, body in found])
    return [
        _change(row, body, query, approvers.get(body.decision.approval, ""), commits.get(row.mutation_id))
        for row, body in found
    ]


def _rows(session: Session, query: HistoryQuery) -> list[ChangeRow]:
    """The records of the mutations of the query's resource, newest first; as many as one page has."""
    values: dict[str, SqlValue] = {
        "after": query.after_seq,
        "before": query.before_seq or _LAST_SEQ,
        "most": query.limit,
    }
    if query.attribute:
        # The parts of `tags` lie between `tags.` and `tags/`: `/` follows `.` in the order of characters.
        inside = {"from": f"{query.attribute}.", "to": f"{query.attribute}/"}
        values |= {"attributes": canonical_text(_around(query.attribute)), **inside}
    changes = _OF_ATTRIBUTE if query.attribute else _OF_RESOURCE
    rows = {row.seq: row for where in query.addresses for row in session.rows(changes, {**values, "where": where})}
    return [rows[seq] for seq in sorted(rows, reverse=True)[: query.limit]]


def changes_it(effect: RecordedEffect[Any], attribute: str) -> bool:
    """Whether an effect on the attribute, or on what is around it, may have changed its value. To do something with the resource does not,
    unless nobody knows what that changes.
    """
    does_only = (
        effect.action is EffectAction.INVOKE and effect.attribute == WHOLE and effect.basis is not Basis.RESOURCE
    )
    return effect.changes and not (does_only and attribute)


def _shown_effects(body: DecidedBody[Any], query: HistoryQuery) -> list[RecordedEffect[Any]]:
    return [
        effect
        for effect in body.effects
        if effect.address in query.addresses
        and _is_about(effect.attribute, query.attribute)
        and changes_it(effect, query.attribute)
    ]


def commits_of(session: Session, mutations: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Branch and commit with which each of the mutations was written into the code last; absent where it was not."""
    found: dict[str, tuple[str, str]] = {}
    if mutations:
        for row in session.rows(_RECONCILED, {"mutations": canonical_text(sorted(set(mutations)))}):
            body = decode_as(ReconciledBody, row.body)
            found[row.mutation_id] = body.branch, body.commit
    return found


def _change(
    row: ChangeRow, body: DecidedBody[Any], query: HistoryQuery, approver: str, written: tuple[str, str] | None
) -> SentChange:
    branch, commit = written or ("", "")
    return SentChange(
        seq=row.seq,
        at=from_text(row.at),
        mutation_id=row.mutation_id,
        actor=row.actor,
        kind=body.caller.kind.value,
        on_behalf_of=body.caller.on_behalf_of,
        outcome=row.state,
        operation=body.call.name,
        motive=to_members(body.motive),
        changes=tuple(
            {name: to_members(getattr(effect, name)) for name in ("attribute", "action", "value", "before")}
            for effect in _shown_effects(body, query)
        ),
        approver=approver,
        branch=branch,
        commit=commit,
    )


def _approvers(session: Session, approvals: Sequence[str]) -> Mapping[str, str]:
    wanted = sorted({each for each in approvals if each})
    rows = session.rows(_APPROVERS, {"ids": canonical_text(wanted)}) if wanted else []
    return {row.id: row.approver for row in rows}


def _around(attribute: str) -> list[str]:
    """The attribute, those around it (`tags` for `tags.owner`) and the whole resource."""
    return [*AttributePath(attribute).enclosing, WHOLE]


def _is_about(changed: str, attribute: str) -> bool:
    return not attribute or changed in _around(attribute) or AttributePath(attribute).covers(changed)
