"""Which old records stay in the database although an archive has them: those that a later decision, the reconciler or a person may still need.

What is not known here to be needless stays.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any, Final

import msgspec
from sqlalchemy import Select, bindparam, or_, select

from gateway.core.model.approval import HoldState
from gateway.core.model.json import canonical_text
from gateway.core.model.mutation import EffectAction
from gateway.core.records.decided import DecidedBody, RecordedDecision, RecordedSession
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.chain.derive.narrowed import FOLLOWED_EFFECT, narrowed
from gateway.ledger.store.statements import Among, Session, Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import (
    APPROVALS,
    ATTEMPTS,
    BODY,
    CLAIMS,
    HOLDS,
    IN_DOUBT,
    IN_FLIGHT,
    LISTED,
    PARTIAL,
    PLAN_SESSIONS,
    PLAN_USES,
    RECORDS,
    RESOURCES,
    SIGNATURES,
    TIME_BOXES,
    UNUSED,
    VALUES,
)

LEAVES: Final = frozenset(
    {
        Stage.TURNED_AWAY,
        Stage.DECIDED,
        Stage.SETTLED,
        Stage.APPROVED,
        Stage.BROKE_GLASS,
        Stage.WITHDRAWN,
        Stage.RELEASED,
        Stage.EXPIRED,
        Stage.RECONCILED,
        Stage.PASSED,
        Stage.KEY_ISSUED,
        Stage.KEY_REVOKED,
        Stage.SIGNALLED,
        Stage.DOWNGRADED,
        Stage.UNDONE,
        Stage.RESCHEDULED,
        Stage.NOT_PUT_BACK,
        Stage.UNNEEDED,
        Stage.BREAKER,
        Stage.PLAN_CHECKED,
        Stage.PLAN_ENDED,
        Stage.NOTIFIED,
    }
)
"""The stages whose records leave once their mutation is closed: what lasts of them is in the other tables. Records of all other stages stay:
rejections and stops, drift, pull requests, links of a chat, staged policies."""

_OPEN_SESSIONS: Final = select(PLAN_SESSIONS.c.mutation_id).where(PLAN_SESSIONS.c.ended_at.is_(None))
_OPEN: Final[Sequence[Select[Any]]] = (
    # Their outcome, or their claims, are still to be settled.
    select(ATTEMPTS.c.mutation_id).where(ATTEMPTS.c.state == IN_FLIGHT),
    select(ATTEMPTS.c.mutation_id).where(ATTEMPTS.c.state == IN_DOUBT),
    # A rival for the attribute is told why it is claimed; what the code declared then decides whether the claim is still needed.
    select(CLAIMS.c.mutation_id).where(CLAIMS.c.ended_at.is_(None)),
    # An open claim's mutation may still fail, which opens these again.
    select(CLAIMS.c.mutation_id).where(
        CLAIMS.c.ended_by.in_(select(ATTEMPTS.c.mutation_id).where(or_(ATTEMPTS.c.state == IN_FLIGHT, ATTEMPTS.c.state == IN_DOUBT)))
    ),
    # Its value is not in the code yet.
    select(VALUES.c.mutation_id),
    # They are still to be put back.
    select(TIME_BOXES.c.mutation_id).where(LISTED),
    select(TIME_BOXES.c.root).where(LISTED),
    select(TIME_BOXES.c.ended_by).where(LISTED),
    # The plan is being applied, and its calls are held against what it says.
    _OPEN_SESSIONS,
    select(PLAN_USES.c.mutation_id).where(PLAN_USES.c.plan.in_(_OPEN_SESSIONS)),
    # A person decides on it, or has.
    select(HOLDS.c.mutation_id).where(or_(HOLDS.c.state == HoldState.OPEN.value, HOLDS.c.state == HoldState.APPROVED.value)),
    select(APPROVALS.c.mutation_id).where(APPROVALS.c.state == UNUSED),
    select(APPROVALS.c.mutation_id).where(APPROVALS.c.state == PARTIAL),
    # Whether its signature is spent follows from how it ended.
    select(SIGNATURES.c.mutation_id),
)  # fmt: skip
"""The mutations that are not closed."""
_OPEN_STATEMENTS: Final = tuple(Statement(each) for each in _OPEN)
_CONSENTS: Final = Statement(select(APPROVALS.c.mutation_id).where(Among(APPROVALS.c.used_by, "mutations")))
_OF_INTEREST: Final = Statement(
    select(RECORDS.c.seq, RECORDS.c.stage, RECORDS.c.mutation_id, BODY)
    .where(or_(*(RECORDS.c.stage == stage.value for stage in (Stage.DECIDED, Stage.SETTLED, Stage.RECONCILED))))
    .order_by(RECORDS.c.seq)
)
_ADDRESSES_OF: Final = Statement(
    select(RESOURCES.c.address)
    .select_from(RECORDS.join(RESOURCES, RESOURCES.c.seq == RECORDS.c.seq))
    .where(Among(RECORDS.c.mutation_id, "mutations"))
    .distinct()
)
_ABOUT: Final = Statement(
    select(RECORDS.c.mutation_id)
    .select_from(RESOURCES.join(RECORDS, RECORDS.c.seq == RESOURCES.c.seq))
    .where(Among(RESOURCES.c.address, "addresses"))
    .distinct()
)
_BRIEF: Final = Statement(
    select(RECORDS.c.seq, RECORDS.c.stage, RECORDS.c.mutation_id)
    .where(RECORDS.c.seq <= bindparam("last"))
    .order_by(RECORDS.c.seq)
)
_PAGE: Final = 2_000
_CHUNK: Final = 500
_CHANGING: Final = frozenset({EffectAction.SET, EffectAction.CREATE, EffectAction.DELETE})
_decided: Final[Callable[[str], Any]] = msgspec.json.Decoder(
    narrowed(
        DecidedBody[msgspec.Raw],
        decision=narrowed(RecordedDecision, "carried_out"),
        effects=tuple[FOLLOWED_EFFECT, ...],  # type: ignore[valid-type]
        plan=narrowed(RecordedSession, "key") | None,
    )
).decode
_settled: Final[Callable[[str], Any]] = msgspec.json.Decoder(narrowed(SettledBody, "outcome")).decode
_reconciled: Final[Callable[[str], Any]] = msgspec.json.Decoder(
    narrowed(ReconciledBody, "left", "merged", "nothing_to_do")
).decode


def staying(session: Session, last: int) -> list[int]:
    """The numbers of the records up to `last` that stay, ascending. Its memory grows with what is open, not with the ledger."""
    open_mutations = _open_mutations(session, last)
    lasting: list[int] = []
    newest: dict[str, int] = {}
    """Of these the newest stays: the last word to each receiver of notices, and the last about signals."""
    oldest_hold = 0
    with closing(session.stream(_BRIEF, _PAGE, {"last": last})) as rows:
        for seq, stage, mutation_id in rows:
            if stage not in LEAVES or mutation_id in open_mutations:
                lasting.append(seq)
                oldest_hold = oldest_hold or (seq if stage == Stage.DECIDED else 0)
            elif stage == Stage.NOTIFIED and oldest_hold:
                lasting.append(seq)  # it may say where the card of an open hold is
            elif stage in (Stage.NOTIFIED, Stage.SIGNALLED):
                newest[mutation_id if stage == Stage.NOTIFIED else stage] = seq
    return sorted({*lasting, *newest.values()})


def _open_mutations(session: Session, last: int) -> set[str]:
    found = {mutation for each in _OPEN_STATEMENTS for mutation in session.column(each, {})}
    found |= _not_written(session, last)
    # Which value of an attribute came last is told from every change of it, so changes of what is open stay together.
    addresses = set(_among(session, _ADDRESSES_OF, "mutations", found))
    found |= set(_among(session, _ABOUT, "addresses", addresses))
    found |= set(_among(session, _CONSENTS, "mutations", found))
    return found - {""}


def _not_written(session: Session, last: int) -> set[str]:
    """The mutations up to `last` that changed something declared, and of which no report says that all of it is in the code."""
    waiting: set[str] = set()
    with closing(session.stream(_OF_INTEREST, _PAGE)) as rows:
        for seq, stage, mutation_id, body in rows:
            if stage == Stage.DECIDED:
                if seq <= last and '"carried_out":true' in body and _changes(_decided(body)):
                    waiting.add(mutation_id)
            elif mutation_id in waiting and _is_done(stage, body):
                waiting.discard(mutation_id)
    return waiting


def _changes(body: Any) -> bool:
    # A plan is not sent itself: its calls are.
    return body.decision.carried_out and body.plan is None and any(each.action in _CHANGING for each in body.effects)


def _is_done(stage: str, body: str) -> bool:
    if stage == Stage.SETTLED:
        return bool(_settled(body).outcome == AttemptState.FAILED)
    report = _reconciled(body)
    return not report.left and bool(report.merged or report.nothing_to_do)


def _among(session: Session, statement: Statement, name: str, values: Iterable[str]) -> Iterable[str]:
    given = sorted(values)
    for start in range(0, len(given), _CHUNK):
        yield from session.column(statement, {name: canonical_text(given[start : start + _CHUNK])})
