"""Charges what a decision costs its actor, and counts refusals and failures, in the transaction of the decision or of its outcome.

So no two gateways on a ledger spend the same budget twice, and what fails with the transaction costs nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, insert, literal_column, or_, select, update

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.budget import Used, charged, fair_share_from_json, refuse_if_spent
from gateway.core.model.caller import Caller
from gateway.core.model.circuit_breaker import Breaker, BreakerState, refuse_if_shut
from gateway.core.model.json import from_canonical
from gateway.core.model.verdict import Decision, Mode, Verdict
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody
from gateway.core.records.operators import BreakerBody
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody
from gateway.ledger.decide.claims import open_claims_of_all
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.stops import require_operator
from gateway.ledger.decide.write_set import WriteSet
from gateway.ledger.store.rows import AttemptRow
from gateway.ledger.store.serialize import levels_text
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import BODY, BUDGETS, RECORDS
from gateway.ledger.store.timestamps import from_text, to_text
from gateway.ledger.store.transaction import Transaction


class BudgetRow(NamedTuple):
    """What an actor has used, and its breaker."""

    actor: str
    levels: str
    in_a_row: int
    state: str
    until: str
    trial: str


_CLOSED: Final = (0, BreakerState.CLOSED.value, "", "")
"""The breaker in the row of an actor of whom nothing was refused in a row."""
IS_COUNTED: Final = or_(
    BUDGETS.c.in_a_row != literal_column("0"),
    BUDGETS.c.state != literal_column(f"'{BreakerState.CLOSED}'"),
    BUDGETS.c.until != literal_column("''"),
    BUDGETS.c.trial != literal_column("''"),
)
"""Whether a row is not `_CLOSED`, in SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """What a decision or an outcome meant for its actor."""

    refused_in_a_row: int | None = None
    """How many refusals and failures there are in a row after it, if it changes that count: a member of its record."""
    refusals_until: str | None = None
    """When that row ends by itself, if it does: a member of its record too."""
    transition: Record | None = None
    """To be appended after it, if the breaker's state changed."""

    @property
    def counts(self) -> bool:
        """Whether its record says anything of a row of refusals; most do not."""
        return self.refused_in_a_row is not None or self.refusals_until is not None


_ROW: Final = Query.of(BUDGETS, BudgetRow, BUDGETS.c.actor == bindparam("who"))
_ROWS: Final = Query.of(BUDGETS, BudgetRow, order_by=(BUDGETS.c.actor,))
_SET: Final[Mapping[str, Any]] = {
    name: bindparam(f"new_{name}") for name in ("levels", "in_a_row", "state", "until", "trial")
}
_CHANGE: Final = Statement(update(BUDGETS).where(BUDGETS.c.actor == bindparam("who")).values(_SET))
_INSERT: Final = Statement(insert(BUDGETS).values(actor=bindparam("who"), **_SET))
_DECIDED: Final = Statement(select(BODY).where(RECORDS.c.seq == bindparam("seq")))


def used_by(session: Session, actor: str) -> Used:
    """What the actor has used, and its breaker."""
    row = session.row(_ROW, {"who": actor})
    return used_from_row(row) if row is not None else Used()


def used_by_all(session: Session, at: datetime) -> dict[str, Used]:
    """What every actor has used that ever asked for a change or holds a claim."""
    found = {row.actor: used_from_row(row) for row in session.rows(_ROWS, {})}
    for actor, claims in open_claims_of_all(session, at).items():
        found[actor] = replace(found.get(actor, Used()), claims=claims)
    return found


def account_decision(transaction: Transaction, write: WriteSet, before: Used) -> Accounted:
    """Charge a decision to its actor, who has used so much, and count a refusal; not that of a put-back, which is due to whose change it was.

    Raises `errors.BudgetSpent`, `errors.BreakerOpen`; the caller must then roll back.
    """
    decision, actor, at = write.decision, write.mutation.caller.actor, write.facts.now
    share = fair_share_from_json(decision.obligations)
    sent = decision.carried_out
    if decision.mode is Mode.ENFORCE:
        if sent and share.breaker is not None:
            refuse_if_shut(before.breaker, write.mutation, at)
        refuse_if_spent(before.levels, share.charges, actor, at, sent=sent)
    breaker, count = before.breaker, None
    if sent and share.breaker is not None and decision.mode is Mode.ENFORCE:
        breaker = breaker.tried_by(write.mutation.id)
    elif not sent and counts(decision) and write.mutation.puts_back is None:
        breaker = breaker.refused(at, share.breaker)
        count = breaker.in_a_row
    # A decision that no check of budgets was asked about, such as that of a plan without changes, charges nothing and forgets nothing.
    levels = charged(before.levels, share.charges, at, sent=sent) if share.charges else before.levels
    after = Used(levels=levels, breaker=breaker)
    _store(transaction, actor, before, after)
    return Accounted(
        refused_in_a_row=count,
        refusals_until=_row_until(breaker) if count is not None else None,
        transition=_transition(actor, before, after, at, write.mutation.id, stack=write.facts.stack),
    )


def account_outcome(transaction: Transaction, attempt: AttemptRow, body: SettledBody, at: datetime) -> Accounted:
    """Count a failure, or a success that ends a row of refusals. What is found out after a doubt is no second failure, and a put-back that
    fails is none of the reconciler's.
    """
    row = transaction.row(_ROW, {"who": attempt.actor})
    if body.outcome == AttemptState.APPLIED and (
        row is None or (row.in_a_row, row.state, row.until, row.trial) == _CLOSED
    ):
        return Accounted()  # as most: there is no row of refusals that it ends
    before = used_from_row(row) if row is not None else Used()
    breaker, mutation = before.breaker, attempt.mutation_id
    if body.outcome == AttemptState.APPLIED:
        breaker = breaker.succeeded(mutation)
    elif body.settled_by is None and not body.left_to_human:
        decided = decode_as(DecidedBody, transaction.scalar(_DECIDED, {"seq": attempt.seq}))
        if decided.puts_back is None:
            breaker = breaker.failed(at, mutation, fair_share_from_json(decided.decision.obligations).breaker)
    after = replace(before, breaker=breaker)
    _store(transaction, attempt.actor, before, after)
    counted = (breaker.in_a_row, breaker.row_until) != (before.breaker.in_a_row, before.breaker.row_until)
    return Accounted(
        refused_in_a_row=breaker.in_a_row if counted else None,
        refusals_until=_row_until(breaker) if counted else None,
        transition=_transition(attempt.actor, before, after, at, mutation, stack=attempt.stack),
    )


def reset_breaker(transaction: Transaction, actor: str, *, by: Caller, reason: str, at: datetime) -> None:
    """Close the breaker of an actor and forget its refusals. Raises `errors.NotAllowed`, and `errors.NotFound` if there is nothing to reset."""
    require_operator(by, "reset a breaker")
    refuse_revoked(transaction, by)
    if actor in {by.actor, by.on_behalf_of}:
        raise NotAllowed("Another person must reset your own breaker. Nothing was changed.")
    before = used_by(transaction, actor)
    if before.breaker == Breaker():
        raise NotFound(
            f"The breaker of {actor[:200]} is closed, and nothing was refused in a row. Nothing was changed."
        )
    after = replace(before, breaker=Breaker())
    _store(transaction, actor, before, after)
    transaction.append(_record(actor, after.breaker, at, by=by.actor, reason=reason))


def counts(decision: Decision) -> bool:
    """Whether a denial counts as a refusal in a row. One that only another actor's claim or a person's stop caused does not: else those
    who hold what an actor asks for could have its breaker opened.
    """
    if decision.verdict is not Verdict.DENY:
        return False
    return any(
        finding.check != "stops" and not (finding.check == "arbitration" and finding.offer and finding.offer.holder)
        for finding in decision.findings
        if finding.verdict is Verdict.DENY
    )


def used_from_join(row: tuple[Any, ...]) -> Used:
    """What a row says whose last columns are those of a `BudgetRow`: all null for an actor that has none."""
    last = row[-len(BudgetRow._fields) :]
    return Used() if last[0] is None else used_from_row(BudgetRow(*last))


@lru_cache(maxsize=256)  # a decision reads a row again that its facts were read from
def used_from_row(row: BudgetRow) -> Used:
    """What a row says."""
    return Used(
        levels={name: from_text(full) for name, full in from_canonical(row.levels).items()},
        breaker=Breaker(
            state=BreakerState(row.state),
            in_a_row=row.in_a_row,
            until=from_text(row.until) if row.until else None,
            trial=row.trial,
        ),
    )


def _store(transaction: Transaction, actor: str, before: Used, after: Used) -> None:
    if after == before:
        return
    breaker = after.breaker
    row: dict[str, SqlValue] = {
        "who": actor,
        "new_levels": levels_text(after.levels),
        "new_in_a_row": breaker.in_a_row,
        "new_state": str(breaker.state),
        "new_until": to_text(breaker.until) if breaker.until else "",
        "new_trial": breaker.trial,
    }
    if transaction.change(_CHANGE, row) == 0:  # only an actor's first one is new
        transaction.change(_INSERT, row)


def _row_until(breaker: Breaker) -> str | None:
    return to_text(breaker.row_until) if breaker.row_until is not None else None


def _transition(actor: str, before: Used, after: Used, at: datetime, mutation: str, *, stack: str) -> Record | None:
    was, now = before.breaker, after.breaker
    if (was.state, was.open_until, was.trial) == (now.state, now.open_until, now.trial):
        return None
    return _record(actor, now, at, mutation=mutation, stack=stack)


def _record(
    actor: str, breaker: Breaker, at: datetime, *, mutation: str = "", stack: str = "", by: str = "", reason: str = ""
) -> Record:
    """The record of a breaker's new state: after a decision or an outcome of `mutation`, or by a person."""
    body = BreakerBody(
        of=actor,
        state=breaker.state,
        refused_in_a_row=breaker.in_a_row,
        until=to_text(breaker.until) if breaker.until else None,
        trial=breaker.trial,
        reason=reason,
    )
    return Record(at=at, mutation_id=mutation, actor=by or actor, stack=stack, body=body)
