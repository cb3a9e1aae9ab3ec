"""Records a decision: the DECIDED record and its claims, approval, attempt or hold, in one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import structs
from sqlalchemy import bindparam, exists, func, insert, or_, select, update

from gateway.core.errors import ApprovalSpent, AttemptInFlight, ClaimTaken, TooManyHeld
from gateway.core.failpoints import Point, failpoint
from gateway.core.model.approval import HoldState
from gateway.core.model.budget import Used
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.json import canonical_text
from gateway.core.model.path import WHOLE, Overlaps
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.records.decided import SUMMARY
from gateway.core.records.record import unpacked
from gateway.ledger.decide.budgets import BudgetRow, account_decision, used_from_join
from gateway.ledger.decide.claims import ClaimEvent, end_expired, open_claims, require
from gateway.ledger.decide.plan_sessions import open_session, use_changes
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.signals import confirm_proof
from gateway.ledger.decide.signatures import spend_signature
from gateway.ledger.decide.stops import refuse_stopped
from gateway.ledger.decide.time_boxes import begin_put_back, begin_time_box
from gateway.ledger.decide.write_set import WriteSet
from gateway.ledger.store.rows import ChainEndRow, ClaimRow
from gateway.ledger.store.serialize import binding_text, claim_to_row, motivation_of
from gateway.ledger.store.statements import Among, Query, SqlValue, Statement, columns, integrity_errors
from gateway.ledger.store.states import ApprovalState, AttemptState
from gateway.ledger.store.tables import APPROVALS, ATTEMPTS, BUDGETS, CLAIMS, HOLDS, KEYS, STOPS, UNUSED
from gateway.ledger.store.timestamps import to_text
from gateway.ledger.store.transaction import END, IS_END, Transaction

# In this order, SQLite takes the index of open claims; in none, that of all claims, which has every earlier change of a resource.
_STANDING: Final = Query.of(
    CLAIMS,
    ClaimRow,
    Among(CLAIMS.c.address, "addresses"),
    CLAIMS.c.ended_at.is_(None),
    order_by=(CLAIMS.c.since, CLAIMS.c.id),
)
"""The claims on `addresses` that have not ended, also those whose time is over."""
_BY_ID: Final = Query.of(CLAIMS, ClaimRow, Among(CLAIMS.c.id, "ids"), CLAIMS.c.ended_at.is_(None))
_SUPERSEDE: Final = Statement(
    update(CLAIMS)
    .where(CLAIMS.c.id == bindparam("claim"), CLAIMS.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), end=ClaimEnd.SUPERSEDED.value, ended_by=bindparam("by"))
)
_USE_APPROVAL: Final = Statement(
    update(APPROVALS)
    .where(
        APPROVALS.c.id == bindparam("approval"),
        APPROVALS.c.state == UNUSED,
        APPROVALS.c.until > bindparam("now"),
        APPROVALS.c.actor == bindparam("who"),
        APPROVALS.c.call_digest == bindparam("digest"),
    )
    .values(state=ApprovalState.USED.value, used_by=bindparam("by"))
)


class BeforeRow(NamedTuple):
    """What every decision asks of the ledger first, by one statement: to run one takes longer than to read these rows."""

    seq: int
    """Of the chain's last record."""
    hash: str
    looks: int
    """Whether any stop stands, or the caller's key was revoked. Most often neither, so there is nothing more to look at."""
    actor: str | None
    """None, as what follows, if the actor has used nothing."""
    levels: str
    in_a_row: int
    state: str
    until: str
    trial: str


_BEFORE: Final = Query(
    select(
        END.c.seq,
        END.c.hash,
        or_(
            exists().where(STOPS.c.ended_at.is_(None)),
            exists().where(KEYS.c.id == bindparam("key"), KEYS.c.revoked_at.is_not(None)),
        ).label("looks"),
        *columns(BUDGETS, BudgetRow),
    )
    .select_from(END.outerjoin(BUDGETS, BUDGETS.c.actor == bindparam("who")))
    .where(IS_END),
    BeforeRow,
)
_INSERT_CLAIM: Final = Statement(insert(CLAIMS))
_INSERT_ATTEMPT: Final = Statement(insert(ATTEMPTS))
_INSERT_HOLD: Final = Statement(insert(HOLDS))
_OPEN_HOLDS: Final = Statement(
    select(func.count())
    .select_from(HOLDS)
    .where(HOLDS.c.actor == bindparam("who"), HOLDS.c.at > bindparam("since"), HOLDS.c.state == HoldState.OPEN.value)
)
_WAITING: Final = timedelta(days=1)
"""A hold that nobody has answered for so long takes no more of people's attention, and no longer counts."""


def decide(transaction: Transaction, write: WriteSet) -> tuple[Claim, ...]:
    """Store a decision and charge it to its actor; the claims taken.

    Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, `errors.SignatureSpent`, `errors.Stopped`,
    `errors.NotAllowed` for a key that was revoked meanwhile, `errors.BudgetSpent`, `errors.BreakerOpen`, `errors.TooManyHeld`; the caller must then roll back.
    """
    used, looks = _before(transaction, write.mutation.caller)
    accounted = account_decision(transaction, write, used)
    if accounted.counts:
        body = structs.replace(
            write.body, refused_in_a_row=accounted.refused_in_a_row, refusals_until=accounted.refusals_until
        )
        write = replace(write, body=body)
    claims = _store(transaction, write, looks=looks)
    if accounted.transition is not None:
        transaction.append(accounted.transition)
    failpoint(Point.INTENT_WRITTEN)
    return claims


def _before(transaction: Transaction, caller: Caller) -> tuple[Used, bool]:
    """What the actor has used, and whether a stop may be about it or its key may be revoked."""
    row = transaction.row(_BEFORE, {"who": caller.actor, "key": caller.key_id})
    if row is None:  # there is no record yet
        return Used(), True
    transaction.found_end(ChainEndRow(row.seq, row.hash))
    return used_from_join(row), bool(row.looks)


def _store(transaction: Transaction, write: WriteSet, *, looks: bool) -> tuple[Claim, ...]:
    """Store it; with `looks` a stop may be about it, or its key may be revoked."""
    if not write.decision.carried_out:
        _append(transaction, write)
        if write.decision.verdict is Verdict.HOLD and not write.decision.attached:
            _open_hold(transaction, write)
        return ()
    if looks:
        refuse_stopped(transaction, write.reach)
    use_changes(transaction, write)
    if looks:
        refuse_revoked(transaction, write.mutation.caller)
    spend_signature(transaction, write.mutation, write.facts.now)
    confirm_proof(transaction, write.claims, write.facts)
    begin_put_back(transaction, write)
    given_up = _end_replaced(transaction, write)
    _use_approval(transaction, write)
    seq = _append(transaction, write)
    _take_claims(transaction, write.claims, unsettled=write.mutation.opens is None)
    _refuse_too_many(transaction, write, given_up)
    if write.mutation.opens is not None:
        open_session(transaction, write, seq)
        return write.claims
    _insert_attempt(transaction, write, seq)
    begin_time_box(transaction, write, seq)
    return write.claims


def _append(transaction: Transaction, write: WriteSet) -> int:
    return transaction.append(
        write.record, motive=write.mutation.motive, verdict=str(write.decision.verdict), resources=write.resources
    )


def _end_replaced(transaction: Transaction, write: WriteSet) -> int:
    """End the claims that the decision supersedes and those that have expired; how many of the actor's own it gave up before their time was over.

    Raises `errors.ClaimTaken` for any other in the way.
    """
    addresses = sorted({effect.address for effect in write.setting} | {address for address, _ in write.facts.coupled})
    standing = transaction.rows(_STANDING, {"addresses": canonical_text(addresses)}) if addresses else []
    superseded = _superseded(transaction, write, standing)
    now = to_text(write.facts.now)
    if standing:
        expired = [
            row for row in standing if row.until and row.until <= now and not row.unsettled and row.id not in superseded
        ]
        ending = superseded | {row.id for row in expired}
        _refuse_taken(write, [row for row in standing if row.id not in ending])
        end_expired(transaction, expired, write.facts.now)
    for claim in sorted(superseded):
        if transaction.change(_SUPERSEDE, {"claim": claim, "at": now, "by": write.mutation.id}) != 1:
            raise ClaimTaken(f"Claim {claim}, which this change would supersede, ended meanwhile. Nothing was sent.")
    actor = write.mutation.caller.actor
    own = [row for row in standing if row.id in superseded and row.actor == actor]
    return len([row for row in own if row.until is None or row.until > now])


def _superseded(transaction: Transaction, write: WriteSet, standing: Sequence[ClaimRow]) -> set[str]:
    """The ids of the claims to supersede, most of which are among these, that were read before.

    Raises `errors.ClaimTaken` if one has ended, or is unsettled outside observe mode.
    """
    wanted = set(write.decision.supersedes)
    if not wanted:
        return wanted
    rows = [row for row in standing if row.id in wanted]
    if elsewhere := wanted - {row.id for row in rows}:
        rows += transaction.rows(_BY_ID, {"ids": canonical_text(sorted(elsewhere))})
    if missing := wanted - {row.id for row in rows}:
        raise ClaimTaken(f"Claim {min(missing)}, which this change would supersede, ended meanwhile. Nothing was sent.")
    unsettled = next((row for row in rows if row.unsettled), None)
    if unsettled is not None and write.decision.mode is Mode.ENFORCE:
        raise ClaimTaken(_busy(unsettled))
    require(rows, ClaimEvent.SUPERSEDED)
    return wanted


def _refuse_taken(write: WriteSet, standing: Sequence[ClaimRow]) -> None:
    """Raise `errors.ClaimTaken` if a standing claim is in the way of an attribute that the mutation sets, whatever the value.

    A claim on the same attribute always is, and so is one whose outcome is not known (except in observe mode). A claim on a part
    of the attribute, around it, or on what belongs together with it, is if the checks did not see it: then another actor took it between
    the survey and this transaction.
    """
    if not standing:
        return
    seen = {known.claim.id for known in write.facts.claims}
    taking = {(claim.address, claim.attribute) for claim in write.claims}
    enforced = write.decision.mode is Mode.ENFORCE
    on = Overlaps((row.address, row.attribute, row) for row in standing)
    unseen = {row.id for row in standing if row.id not in seen and row.actor != write.mutation.caller.actor}
    for effect in write.setting:
        for row in on.of(effect.address, effect.attribute):
            same = (row.address, row.attribute) in taking
            if same or row.id in unseen or (row.unsettled and enforced):
                raise ClaimTaken(_busy(row))
    for address, attribute in write.facts.coupled:
        for row in on.of(address, attribute):
            if row.id in unseen:
                raise ClaimTaken(_busy(row))


def _busy(row: ClaimRow) -> str:
    resource = row.address if row.attribute == WHOLE else f"{row.address}.{row.attribute}"
    state = "is being changed, or is in doubt," if row.unsettled else "is held"
    return f"{resource} {state} by {row.actor} (mutation {row.mutation_id}). Nothing was sent; read the claim and try again."


def _use_approval(transaction: Transaction, write: WriteSet) -> None:
    if not write.decision.approval:
        return
    values = {
        "approval": write.decision.approval,
        "now": to_text(write.facts.now),
        "who": write.mutation.caller.actor,
        "digest": write.call_digest,
        "by": write.mutation.id,
    }
    if transaction.change(_USE_APPROVAL, values) != 1:
        message = f"Approval {write.decision.approval} was used by another attempt, or has ended. Nothing was sent; ask for a new one."
        raise ApprovalSpent(message)


def _take_claims(transaction: Transaction, claims: Sequence[Claim], *, unsettled: bool) -> None:
    if not claims:
        return
    try:
        transaction.change_each(_INSERT_CLAIM, [claim_to_row(claim, unsettled=unsettled) for claim in claims])
    except integrity_errors() as error:
        # The unique index decides, whatever was read before.
        raise ClaimTaken("Another mutation took the same attribute first. Nothing was sent; try again.") from error


def _refuse_too_many(transaction: Transaction, write: WriteSet, given_up: int) -> None:
    """Raise `errors.ClaimTaken` if the actor now holds more claims than the policy lets it: another call of it was faster.

    Who takes no more than it has `given_up` holds no more than before, when the call that was faster was held against the limit.
    """
    limits = [write.decision.obligations.get(name) for name in ("claims_limit", "claims_of_motivation")]
    if limits == [None, None] or not write.claims or write.decision.mode is not Mode.ENFORCE:
        return
    if limits[1] is None and len(write.claims) <= given_up:
        return
    actor, motivation = write.mutation.caller.actor, motivation_of(write.mutation.motive)
    held = open_claims(transaction, actor, write.facts.now)
    for limit, count in zip(limits, (sum(held.values()), held.get(motivation, 0)), strict=True):
        if isinstance(limit, int) and count > limit:
            said = f"{motivation} claims" if limit is limits[1] and motivation else "claims"
            raise ClaimTaken(
                f"{actor} may hold no more than {limit} {said}, and took that many meanwhile. Nothing was sent."
            )


def _insert_attempt(transaction: Transaction, write: WriteSet, seq: int) -> None:
    mutation = write.mutation
    row: dict[str, SqlValue] = {
        "mutation_id": mutation.id,
        "seq": seq,
        "actor": mutation.caller.actor,
        "stack": write.facts.stack,
        "idempotency_key": mutation.idempotency_key or None,
        "call_digest": write.call_digest,
        "decided_at": to_text(write.facts.now),
        "state": str(AttemptState.IN_FLIGHT),
        "request_id": "",
        "reason": "",
        "reply_status": None,
        "reply_headers": None,
        "reply_body": None,
        "owner": write.owner,
        "left_at": "",
    }
    try:
        transaction.change(_INSERT_ATTEMPT, row)
    except integrity_errors() as error:
        message = "Another request with the same idempotency key started just before. Nothing was sent again; ask for its outcome."
        raise AttemptInFlight(message) from error


def _open_hold(transaction: Transaction, write: WriteSet) -> None:
    """Raises `errors.TooManyHeld` if as many calls of the actor wait for people as the policies let it."""
    mutation = write.mutation
    most = write.decision.obligations.get("open_holds")
    if isinstance(most, int) and mutation.puts_back is None:
        actor, since = mutation.caller.actor, to_text(write.facts.now - _WAITING)
        if transaction.scalar(_OPEN_HOLDS, {"who": actor, "since": since}) >= most:
            raise TooManyHeld(
                f"{most} calls of {actor} wait for people already, as many as its kind may have, and this call would be held too. It was "
                "neither sent nor held, and the calls that wait still do (`sentinel holds`). Ask again when people have answered one "
                "of them; a call no longer counts after a day.",
                seconds=300,
            )
    members = unpacked(write.body)
    transaction.change(
        _INSERT_HOLD,
        {
            "mutation_id": mutation.id,
            "at": to_text(write.facts.now),
            "actor": mutation.caller.actor,
            "on_behalf_of": mutation.caller.on_behalf_of,
            "stack": write.facts.stack,
            "call_digest": write.call_digest,
            "summary": canonical_text({name: members[name] for name in SUMMARY if name in members}),
            "binding": binding_text(write.decision.binding),
            "state": HoldState.OPEN.value,
        },
    )
