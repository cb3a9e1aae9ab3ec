"""The transaction of DECIDED: the record, and everything the decision means, together or not at all."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import bindparam, insert, select, update

from gateway.errors import ApprovalSpent, AttemptInFlight, ClaimTaken
from gateway.ledger.append import Transaction
from gateway.ledger.ending import end_expired
from gateway.ledger.forms import claim_row, text_of
from gateway.ledger.moment import stored
from gateway.ledger.plan import Plan
from gateway.ledger.statement import INTEGRITY_ERRORS, Among, Statement
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, HOLDS, UNUSED
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.mutation import WHOLE
from gateway.model.verdict import Mode, Verdict

_STANDING: Final = Statement(select(CLAIMS).where(Among(CLAIMS.c.address, "addresses"), CLAIMS.c.ended_at.is_(None)))
_NAMED: Final = Statement(select(CLAIMS).where(Among(CLAIMS.c.id, "ids"), CLAIMS.c.ended_at.is_(None)))
_SUPERSEDE: Final = Statement(
    update(CLAIMS)
    .where(CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), end=ClaimEnd.SUPERSEDED.value, ended_by=bindparam("by"))
)
_REDEEM: Final = Statement(
    update(APPROVALS)
    .where(
        APPROVALS.c.id == bindparam("approval"),
        APPROVALS.c.state == UNUSED,
        APPROVALS.c.until > bindparam("now"),
        APPROVALS.c.actor == bindparam("who"),
        APPROVALS.c.call_digest == bindparam("digest"),
    )
    .values(state="used", used_by=bindparam("by"))
)
_INSERT_CLAIM: Final = Statement(insert(CLAIMS))
_INSERT_ATTEMPT: Final = Statement(insert(ATTEMPTS))
_INSERT_HOLD: Final = Statement(insert(HOLDS))


def decide(transaction: Transaction, plan: Plan) -> tuple[Claim, ...]:
    """Write the plan; the claims taken.

    Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`; then the caller must roll back.
    """
    if not plan.decision.carried_out:
        _append(transaction, plan)
        if plan.decision.verdict is Verdict.HOLD:
            _hold(transaction, plan)
        return ()
    _make_room(transaction, plan)
    _redeem(transaction, plan)
    seq = _append(transaction, plan)
    _take(transaction, plan.claims)
    _keep_attempt(transaction, plan, seq)
    return plan.claims


def _append(transaction: Transaction, plan: Plan) -> int:
    return transaction.append(
        plan.record, motive=plan.mutation.motive, verdict=plan.decision.verdict.value, things=plan.things
    )


def _make_room(transaction: Transaction, plan: Plan) -> None:
    """End what the decision supersedes and what time has ended; whatever then still stands in the way was taken since we looked."""
    superseded = _superseded(transaction, plan)
    addresses = sorted({claim.address for claim in plan.claims})
    if addresses:
        now = stored(plan.facts.now)
        standing = transaction.rows(_STANDING, {"addresses": text_of(addresses)})
        expired = [
            row for row in standing if row.until and row.until <= now and not row.unsettled and row.id not in superseded
        ]
        gone = superseded | {row.id for row in expired}
        _refuse_taken(plan, [row for row in standing if row.id not in gone])
        end_expired(transaction, expired, plan.facts.now)
    for claim in sorted(superseded):
        values = {"claim": claim, "at": stored(plan.facts.now), "by": plan.mutation.id}
        if transaction.change(_SUPERSEDE, values) != 1:
            raise ClaimTaken(f"Claim {claim}, which this change would supersede, ended meanwhile. Nothing was sent.")


def _superseded(transaction: Transaction, plan: Plan) -> set[str]:
    """The ids to supersede, all of them still open, and none held by a mutation whose end is not known yet."""
    wanted = set(plan.decision.supersedes)
    if not wanted:
        return wanted
    rows = transaction.rows(_NAMED, {"ids": text_of(sorted(wanted))})
    if missing := wanted - {row.id for row in rows}:
        raise ClaimTaken(f"Claim {min(missing)}, which this change would supersede, ended meanwhile. Nothing was sent.")
    unsettled = next((row for row in rows if row.unsettled), None)
    if unsettled is not None and plan.decision.mode is Mode.ENFORCE:
        raise ClaimTaken(_busy(unsettled))
    return wanted


def _refuse_taken(plan: Plan, standing: Sequence[Any]) -> None:
    """A claim on the same attribute always stands in the way; one on the whole of it (or on a part, for a deletion)
    only where the checks were not shown it: then it was taken between our look and our commit.
    """
    seen = {meeting.claim.id for meeting in plan.facts.claims}
    for claim in plan.claims:
        for row in standing:
            if row.address != claim.address:
                continue
            same = row.attribute == claim.attribute
            whole = WHOLE in (row.attribute, claim.attribute) and row.id not in seen
            if same or whole:
                raise ClaimTaken(_busy(row))


def _busy(row: Any) -> str:
    thing = row.address if row.attribute == WHOLE else f"{row.address}.{row.attribute}"
    state = "is being changed, or is in doubt," if row.unsettled else "is held"
    return f"{thing} {state} by {row.actor} (mutation {row.mutation_id}). Nothing was sent; look at the claim and try again."


def _redeem(transaction: Transaction, plan: Plan) -> None:
    if not plan.decision.approval:
        return
    values = {
        "approval": plan.decision.approval,
        "now": stored(plan.facts.now),
        "who": plan.mutation.caller.actor,
        "digest": plan.call_digest,
        "by": plan.mutation.id,
    }
    if transaction.change(_REDEEM, values) != 1:
        message = f"Approval {plan.decision.approval} was redeemed by another attempt, or has ended. Nothing was sent; ask for a new one."
        raise ApprovalSpent(message)


def _take(transaction: Transaction, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    try:
        transaction.change_each(_INSERT_CLAIM, [claim_row(claim) for claim in claims])
    except INTEGRITY_ERRORS as error:
        # The unique index has the last word, whatever was read before.
        raise ClaimTaken("Another mutation took the same attribute first. Nothing was sent; try again.") from error


def _keep_attempt(transaction: Transaction, plan: Plan, seq: int) -> None:
    mutation = plan.mutation
    row = {
        "mutation_id": mutation.id,
        "seq": seq,
        "actor": mutation.caller.actor,
        "stack": plan.facts.stack,
        "idempotency_key": mutation.idempotency_key or None,
        "call_digest": plan.call_digest,
        "decided_at": stored(plan.facts.now),
        "state": "in_flight",
        "request_id": "",
        "reason": "",
        "reply_status": None,
        "reply_headers": None,
        "reply_body": None,
    }
    try:
        transaction.change(_INSERT_ATTEMPT, row)
    except INTEGRITY_ERRORS as error:
        message = (
            "The same attempt was begun by another request just before. Nothing was sent again; ask for its outcome."
        )
        raise AttemptInFlight(message) from error


def _hold(transaction: Transaction, plan: Plan) -> None:
    mutation = plan.mutation
    body = plan.record.body
    transaction.change(
        _INSERT_HOLD,
        {
            "mutation_id": mutation.id,
            "at": stored(plan.facts.now),
            "actor": mutation.caller.actor,
            "on_behalf_of": mutation.caller.on_behalf_of,
            "stack": plan.facts.stack,
            "call_digest": plan.call_digest,
            "summary": text_of({name: body[name] for name in ("caller", "call", "motive", "effects", "decision")}),
            "state": "open",
        },
    )
