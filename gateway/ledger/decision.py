"""Records a decision: the DECIDED record and its claims, approval, attempt or hold, in one transaction.

`write_set` prepares everything outside the transaction, so that the single writer thread only runs statements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, insert, select, update

from gateway.errors import ApprovalSpent, AttemptInFlight, CallTooLarge, ClaimTaken, PolicyInvalid
from gateway.ledger.claims import end_expired, open_claims
from gateway.ledger.decided_body import carried_out_body, decided_body
from gateway.ledger.rows import ClaimRow
from gateway.ledger.serialize import canonical_text, claim_to_row
from gateway.ledger.signatures import spend_signature
from gateway.ledger.statements import INTEGRITY_ERRORS, Among, Query, SqlValue, Statement, columns
from gateway.ledger.states import ApprovalState, AttemptState
from gateway.ledger.summary import refused_body
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, HOLDS, UNUSED
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.binding import binding_to_json
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.facts import Facts, Subject
from gateway.model.hold import HoldState
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.overlap import Overlaps
from gateway.model.record import Record, Stage
from gateway.model.verdict import Decision, Mode, Verdict

_LONGEST_CLAIM: Final = 1e12
"""Seconds; some 30,000 years."""
MAX_NAME: Final = 2_000
"""Longest address and attribute together that can be recorded, in bytes."""

_SUMMARY: Final = ("caller", "call", "motive", "effects", "decision", "cut")
"""Members of the DECIDED record that its approver reads."""

_STANDING: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(Among(CLAIMS.c.address, "addresses"), CLAIMS.c.ended_at.is_(None)),
    ClaimRow,
)
_BY_ID: Final = Query(
    select(*columns(CLAIMS, ClaimRow)).where(Among(CLAIMS.c.id, "ids"), CLAIMS.c.ended_at.is_(None)),
    ClaimRow,
)
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
_INSERT_CLAIM: Final = Statement(insert(CLAIMS))
_INSERT_ATTEMPT: Final = Statement(insert(ATTEMPTS))
_INSERT_HOLD: Final = Statement(insert(HOLDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSet:
    """One decision, ready to be stored."""

    mutation: Mutation
    facts: Facts
    decision: Decision
    claims: tuple[Claim, ...]
    """The claims to take; empty if the mutation is not carried out."""
    record: Record
    call_digest: str
    owner: str = ""
    """The gateway that will send it."""

    @property
    def setting(self) -> list[Effect]:
        """The effects that set something. Invoking a resource as a whole sets nothing."""
        effects = self.mutation.effects
        return [each for each in effects if each.action is not EffectAction.INVOKE or each.attribute != WHOLE]

    @property
    def resources(self) -> list[tuple[str, str]]:
        """The (address, attribute) pairs that the record is about: those of the effects that it holds."""
        effects: Any = self.record.body["effects"]
        return [(effect["address"], effect["attribute"]) for effect in effects]


def write_set(mutation: Mutation, facts: Facts, decision: Decision, *, owner: str = "") -> WriteSet:
    """Everything that a decision stores; `owner` is the gateway that will send the call.

    Raises `errors.PolicyInvalid` for an invalid obligation, `errors.CallTooLarge` for a name that no index can hold.
    """
    _check_names(mutation)
    subjects: Sequence[Subject | None] = facts.subjects
    if len(subjects) != len(mutation.effects):
        subjects = [None] * len(mutation.effects)
    claims = _claims(mutation, facts, decision, subjects) if decision.carried_out else ()
    digest = mutation.call.digest
    body = decided_body(mutation, decision, subjects, claims, digest)
    record = Record(
        stage=Stage.DECIDED,
        at=facts.now,
        mutation_id=mutation.id,
        actor=mutation.caller.actor,
        stack=facts.stack,
        body=carried_out_body(body, mutation, owner) if decision.carried_out else refused_body(body, decision.verdict),
    )
    return WriteSet(
        mutation=mutation,
        facts=facts,
        decision=decision,
        claims=claims,
        record=record,
        call_digest=digest,
        owner=owner,
    )


def _check_names(mutation: Mutation) -> None:
    """PostgreSQL refuses an index entry of more than 2,700 bytes, in which address and attribute stand together."""
    if any(len(f"{effect.address}.{effect.attribute}".encode()) > MAX_NAME for effect in mutation.effects):
        raise CallTooLarge(f"names a resource or an attribute in more than {MAX_NAME} bytes")


def _claims(
    mutation: Mutation, facts: Facts, decision: Decision, subjects: Sequence[Subject | None]
) -> tuple[Claim, ...]:
    """One claim for each attribute that is set, and one on the whole of each deleted resource.

    A claim on an attribute that is only restated ends as soon as the outcome is known (`restated.py`): it keeps others from
    setting the attribute while this call is under way, and nobody from it afterwards.
    """
    until = _until(mutation, facts.now, decision)
    wanted: dict[tuple[str, str], tuple[Effect, datetime | None]] = {}
    for effect, subject in zip(mutation.effects, subjects, strict=True):
        if effect.action is EffectAction.DELETE:
            wanted[effect.address, WHOLE] = effect, until
        elif effect.action is EffectAction.SET:
            changes = subject is None or subject.changes
            wanted[effect.address, effect.attribute] = effect, until if changes else facts.now
    return tuple(
        Claim(
            id=new_id("clm"),
            mutation_id=mutation.id,
            address=address,
            attribute=attribute,
            value=effect.value,
            actor=mutation.caller.actor,
            kind=mutation.caller.kind,
            motive=mutation.motive,
            since=facts.now,
            until=ends,
        )
        for (address, attribute), (effect, ends) in wanted.items()
    )


def _until(mutation: Mutation, now: datetime, decision: Decision) -> datetime | None:
    """When the claims end: the earlier of what policy grants and what the caller wants; None if neither sets a time."""
    spans = [mutation.motive.wanted_for] if mutation.motive and mutation.motive.wanted_for is not None else []
    granted = decision.obligations.get("claim_seconds")
    if granted is not None:
        spans.append(_granted(granted))
    try:
        return now + min(spans) if spans else None
    except OverflowError:
        # Later than a datetime can be: the claim does not end.
        return None


def _granted(seconds: Json) -> timedelta:
    if not isinstance(seconds, bool) and isinstance(seconds, int | float) and 0 < seconds < _LONGEST_CLAIM:
        return timedelta(seconds=seconds)
    message = f"The policy's obligation claim_seconds must be a positive number of seconds, not {seconds!r}. Nothing was sent."
    raise PolicyInvalid(message)


def decide(transaction: Transaction, write: WriteSet) -> tuple[Claim, ...]:
    """Store a decision; the claims taken.

    Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, `errors.SignatureSpent`; the caller must then roll back.
    """
    if not write.decision.carried_out:
        _append(transaction, write)
        if write.decision.verdict is Verdict.HOLD:
            _open_hold(transaction, write)
        return ()
    spend_signature(transaction, write.mutation, write.facts.now)
    _end_replaced(transaction, write)
    _use_approval(transaction, write)
    seq = _append(transaction, write)
    _take_claims(transaction, write.claims)
    _refuse_too_many(transaction, write)
    _insert_attempt(transaction, write, seq)
    return write.claims


def _append(transaction: Transaction, write: WriteSet) -> int:
    return transaction.append(
        write.record, motive=write.mutation.motive, verdict=write.decision.verdict.value, resources=write.resources
    )


def _end_replaced(transaction: Transaction, write: WriteSet) -> None:
    """End the claims that the decision supersedes and those that have expired. Raises `errors.ClaimTaken` for any other in the way."""
    superseded = _superseded(transaction, write)
    addresses = sorted({effect.address for effect in write.setting})
    if addresses:
        now = to_text(write.facts.now)
        standing = transaction.rows(_STANDING, {"addresses": canonical_text(addresses)})
        expired = [
            row for row in standing if row.until and row.until <= now and not row.unsettled and row.id not in superseded
        ]
        ending = superseded | {row.id for row in expired}
        _refuse_taken(write, [row for row in standing if row.id not in ending])
        end_expired(transaction, expired, write.facts.now)
    for claim in sorted(superseded):
        values = {"claim": claim, "at": to_text(write.facts.now), "by": write.mutation.id}
        if transaction.change(_SUPERSEDE, values) != 1:
            raise ClaimTaken(f"Claim {claim}, which this change would supersede, ended meanwhile. Nothing was sent.")


def _superseded(transaction: Transaction, write: WriteSet) -> set[str]:
    """The ids of the claims to supersede. Raises `errors.ClaimTaken` if one has ended, or is unsettled outside observe mode."""
    wanted = set(write.decision.supersedes)
    if not wanted:
        return wanted
    rows = transaction.rows(_BY_ID, {"ids": canonical_text(sorted(wanted))})
    if missing := wanted - {row.id for row in rows}:
        raise ClaimTaken(f"Claim {min(missing)}, which this change would supersede, ended meanwhile. Nothing was sent.")
    unsettled = next((row for row in rows if row.unsettled), None)
    if unsettled is not None and write.decision.mode is Mode.ENFORCE:
        raise ClaimTaken(_busy(unsettled))
    return wanted


def _refuse_taken(write: WriteSet, standing: Sequence[ClaimRow]) -> None:
    """Raise `errors.ClaimTaken` if a standing claim is in the way of an attribute that the mutation sets, whatever the value.

    A claim on the same attribute always is, and so is one whose outcome is not known (except in observe mode). A claim on a part
    of the attribute, or around it, is if the checks did not see it: then another actor took it between the survey and this transaction.
    """
    seen = {known.claim.id for known in write.facts.claims}
    taking = {(claim.address, claim.attribute) for claim in write.claims}
    enforced = write.decision.mode is Mode.ENFORCE
    on = Overlaps((row.address, row.attribute, row) for row in standing)
    for effect in write.setting:
        for row in on.of(effect.address, effect.attribute):
            same = (row.address, row.attribute) in taking
            unseen = row.id not in seen and row.actor != write.mutation.caller.actor
            if same or unseen or (row.unsettled and enforced):
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


def _take_claims(transaction: Transaction, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    try:
        transaction.change_each(_INSERT_CLAIM, [claim_to_row(claim) for claim in claims])
    except INTEGRITY_ERRORS as error:
        # The unique index decides, whatever was read before.
        raise ClaimTaken("Another mutation took the same attribute first. Nothing was sent; try again.") from error


def _refuse_too_many(transaction: Transaction, write: WriteSet) -> None:
    """Raise `errors.ClaimTaken` if the actor now holds more claims than the policy lets it: another call of it was faster."""
    limit = write.decision.obligations.get("claims_limit")
    if not isinstance(limit, int) or not write.claims or write.decision.mode is not Mode.ENFORCE:
        return
    actor = write.mutation.caller.actor
    if open_claims(transaction, actor, write.facts.now) > limit:
        raise ClaimTaken(
            f"{actor} may hold no more than {limit} claims, and took that many meanwhile. Nothing was sent."
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
        "state": AttemptState.IN_FLIGHT.value,
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
    except INTEGRITY_ERRORS as error:
        message = "Another request with the same idempotency key started just before. Nothing was sent again; ask for its outcome."
        raise AttemptInFlight(message) from error


def _open_hold(transaction: Transaction, write: WriteSet) -> None:
    mutation = write.mutation
    body = write.record.body
    transaction.change(
        _INSERT_HOLD,
        {
            "mutation_id": mutation.id,
            "at": to_text(write.facts.now),
            "actor": mutation.caller.actor,
            "on_behalf_of": mutation.caller.on_behalf_of,
            "stack": write.facts.stack,
            "call_digest": write.call_digest,
            "summary": canonical_text({name: body[name] for name in _SUMMARY if name in body}),
            "binding": canonical_text(binding_to_json(write.decision.binding)),
            "state": HoldState.OPEN.value,
        },
    )
