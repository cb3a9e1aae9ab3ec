"""Records a decision: the DECIDED record and its claims, approval, attempt or hold, in one transaction.

`write_set` prepares everything outside the transaction, so that the single writer thread only runs statements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, insert, select, update

from gateway.errors import ApprovalSpent, AttemptInFlight, ClaimTaken, PolicyInvalid
from gateway.ledger.claims import end_expired
from gateway.ledger.rows import ClaimRow
from gateway.ledger.serialize import canonical_text, claim_to_row, recorded_effect, recorded_finding
from gateway.ledger.statements import INTEGRITY_ERRORS, Among, Query, SqlValue, Statement, columns
from gateway.ledger.states import ApprovalState, AttemptState, HoldState
from gateway.ledger.tables import APPROVALS, ATTEMPTS, CLAIMS, HOLDS, UNUSED
from gateway.ledger.timestamps import to_text
from gateway.ledger.transaction import Transaction
from gateway.model.claim import Claim, ClaimEnd
from gateway.model.facts import Facts, Subject
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.motive import motive_to_json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.record import Record, Stage
from gateway.model.verdict import Decision, Mode, Verdict

_LONGEST_CLAIM: Final = 1e12
"""Seconds; some 30,000 years."""

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

    @property
    def resources(self) -> list[tuple[str, str]]:
        """The (address, attribute) pairs that the record is about."""
        return [(effect.address, effect.attribute) for effect in self.mutation.effects]


def write_set(mutation: Mutation, facts: Facts, decision: Decision) -> WriteSet:
    """Everything that a decision stores. Raises `errors.PolicyInvalid` for an invalid obligation."""
    subjects: Sequence[Subject | None] = facts.subjects
    if len(subjects) != len(mutation.effects):
        subjects = [None] * len(mutation.effects)
    claims = _claims(mutation, facts, decision, subjects) if decision.carried_out else ()
    digest = mutation.call.digest
    record = Record(
        stage=Stage.DECIDED,
        at=facts.now,
        mutation_id=mutation.id,
        actor=mutation.caller.actor,
        stack=facts.stack,
        body=_body(mutation, decision, subjects, claims, digest),
    )
    return WriteSet(mutation=mutation, facts=facts, decision=decision, claims=claims, record=record, call_digest=digest)


def _claims(
    mutation: Mutation, facts: Facts, decision: Decision, subjects: Sequence[Subject | None]
) -> tuple[Claim, ...]:
    """One claim for each attribute whose value changes, and one on the whole of each deleted resource.

    A mutation that changes nothing is a request to keep the current values, so it claims those attributes that have no claim.
    """
    standing = [standing.claim for standing in facts.claims if standing.claim.id not in decision.supersedes]
    held = {(claim.address, claim.attribute) for claim in standing}
    changes_nothing = not any(subject is None or subject.changes for subject in subjects)
    until = _until(mutation, facts.now, decision)
    wanted: dict[tuple[str, str], Effect] = {}
    for effect, subject in zip(mutation.effects, subjects, strict=True):
        if effect.action is EffectAction.DELETE:
            wanted[effect.address, WHOLE] = effect
        elif effect.action is EffectAction.SET and (
            subject is None or subject.changes or (changes_nothing and (effect.address, effect.attribute) not in held)
        ):
            wanted[effect.address, effect.attribute] = effect
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
            until=until,
        )
        for (address, attribute), effect in wanted.items()
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


def _body(
    mutation: Mutation,
    decision: Decision,
    subjects: Sequence[Subject | None],
    claims: Sequence[Claim],
    digest: str,
) -> Mapping[str, Json]:
    caller = mutation.caller
    return {
        "caller": {
            "kind": caller.kind.value,
            "key_id": caller.key_id,
            "roles": list(caller.roles),
            "on_behalf_of": caller.on_behalf_of,
        },
        "call": _call_to_json(mutation, digest),
        "motive": motive_to_json(mutation.motive),
        "effects": [
            recorded_effect(effect, subject) for effect, subject in zip(mutation.effects, subjects, strict=True)
        ],
        "decision": _decision_to_json(decision),
        "idempotency_key": mutation.idempotency_key,
        "claims": [
            {
                "id": claim.id,
                "address": claim.address,
                "attribute": claim.attribute,
                "until": to_text(claim.until) if claim.until else None,
            }
            for claim in claims
        ],
    }


def _call_to_json(mutation: Mutation, digest: str) -> Json:
    """The call, with the names of its parameters. Their values are left out: the effects hold what matters of them, secrets masked."""
    call = mutation.call
    return {
        "service": call.service,
        "operation": call.operation,
        "account": call.account,
        "region": call.region,
        "class": mutation.call_class.value,
        "digest": digest,
        "parameters": sorted(call.parameters),
    }


def _decision_to_json(decision: Decision) -> Json:
    return {
        "verdict": decision.verdict.value,
        "carried_out": decision.carried_out,
        "findings": [recorded_finding(finding) for finding in decision.findings],
        "supersedes": list(decision.supersedes),
        "mode": decision.mode.value,
        "approval": decision.approval,
        "bundle": decision.bundle,
        "code": decision.code,
        "obligations": decision.obligations,
    }


def decide(transaction: Transaction, write: WriteSet) -> tuple[Claim, ...]:
    """Store a decision; the claims taken.

    Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`; the caller must then roll back.
    """
    if not write.decision.carried_out:
        _append(transaction, write)
        if write.decision.verdict is Verdict.HOLD:
            _open_hold(transaction, write)
        return ()
    _end_replaced(transaction, write)
    _use_approval(transaction, write)
    seq = _append(transaction, write)
    _take_claims(transaction, write.claims)
    _insert_attempt(transaction, write, seq)
    return write.claims


def _append(transaction: Transaction, write: WriteSet) -> int:
    return transaction.append(
        write.record, motive=write.mutation.motive, verdict=write.decision.verdict.value, resources=write.resources
    )


def _end_replaced(transaction: Transaction, write: WriteSet) -> None:
    """End the claims that the decision supersedes and those that have expired. Raises `errors.ClaimTaken` for any other in the way."""
    superseded = _superseded(transaction, write)
    addresses = sorted({claim.address for claim in write.claims})
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
    """Raise `errors.ClaimTaken` if a standing claim is in the way of one to take.

    A claim on the same attribute always is. A claim on the whole resource (or on a part of it, for a deletion) is only if
    the checks did not see it: then it was taken between the survey and this transaction.
    """
    seen = {known.claim.id for known in write.facts.claims}
    for claim in write.claims:
        for row in standing:
            if row.address != claim.address:
                continue
            same = row.attribute == claim.attribute
            whole = WHOLE in (row.attribute, claim.attribute) and row.id not in seen
            if same or whole:
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
            "summary": canonical_text(
                {name: body[name] for name in ("caller", "call", "motive", "effects", "decision")}
            ),
            "state": HoldState.OPEN.value,
        },
    )
