"""The DECIDED record and everything a decision means for claims, approvals, attempts and holds, in one transaction.

What will be written is worked out first (`write_set`), outside the transaction, so that the one writer thread only runs statements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import bindparam, insert, select, update

from gateway.errors import ApprovalSpent, AttemptInFlight, ClaimTaken, PolicyInvalid
from gateway.ledger.claims import end_expired
from gateway.ledger.serialize import claim_row, effect_body, finding_body, text_of
from gateway.ledger.statements import INTEGRITY_ERRORS, Among, Statement
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

_LONGEST: Final = 1e12
"""Seconds; some 30,000 years."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSet:
    """One decision, ready to be written."""

    mutation: Mutation
    facts: Facts
    decision: Decision
    claims: tuple[Claim, ...]
    """Those to take; empty where the mutation is not carried out."""
    record: Record
    call_digest: str

    @property
    def resources(self) -> list[tuple[str, str]]:
        """The (address, attribute) pairs that the record is about."""
        return [(effect.address, effect.attribute) for effect in self.mutation.effects]


def write_set(mutation: Mutation, facts: Facts, decision: Decision) -> WriteSet:
    """The write of a decision. Raises `errors.PolicyInvalid` for an obligation that makes no sense."""
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
    """One claim for each attribute that is set to something else, one on the whole of each thing deleted.

    A mutation that only restates what is there asks to keep it, so it claims what nobody holds.
    """
    standing = [standing.claim for standing in facts.claims if standing.claim.id not in decision.supersedes]
    held = {(claim.address, claim.attribute) for claim in standing}
    restates = not any(subject is None or subject.changes for subject in subjects)
    until = _until(mutation, facts.now, decision)
    wanted: dict[tuple[str, str], Effect] = {}
    for effect, subject in zip(mutation.effects, subjects, strict=True):
        if effect.action is EffectAction.DELETE:
            wanted[effect.address, WHOLE] = effect
        elif effect.action is EffectAction.SET and (
            subject is None or subject.changes or (restates and (effect.address, effect.attribute) not in held)
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
    """The sooner of what policy grants and what the caller wants; None where neither says."""
    spans = [mutation.motive.wanted_for] if mutation.motive and mutation.motive.wanted_for is not None else []
    granted = decision.obligations.get("claim_seconds")
    if granted is not None:
        spans.append(_granted(granted))
    try:
        return now + min(spans) if spans else None
    except OverflowError:
        # Longer than the calendar is without end.
        return None


def _granted(seconds: Json) -> timedelta:
    if not isinstance(seconds, bool) and isinstance(seconds, int | float) and 0 < seconds < _LONGEST:
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
        "call": _call_form(mutation, digest),
        "motive": motive_to_json(mutation.motive),
        "effects": [effect_body(effect, subject) for effect, subject in zip(mutation.effects, subjects, strict=True)],
        "decision": _decision_form(decision),
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


def _call_form(mutation: Mutation, digest: str) -> Json:
    """The call by name and digest. Parameter values are left out: what matters of them stands in the effects, secrets masked."""
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


def _decision_form(decision: Decision) -> Json:
    return {
        "verdict": decision.verdict.value,
        "carried_out": decision.carried_out,
        "findings": [finding_body(finding) for finding in decision.findings],
        "supersedes": list(decision.supersedes),
        "mode": decision.mode.value,
        "approval": decision.approval,
        "bundle": decision.bundle,
        "code": decision.code,
        "obligations": decision.obligations,
    }


def decide(transaction: Transaction, write: WriteSet) -> tuple[Claim, ...]:
    """Write the write; the claims taken.

    Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`; then the caller must roll back.
    """
    if not write.decision.carried_out:
        _append(transaction, write)
        if write.decision.verdict is Verdict.HOLD:
            _hold(transaction, write)
        return ()
    _make_room(transaction, write)
    _redeem(transaction, write)
    seq = _append(transaction, write)
    _take(transaction, write.claims)
    _keep_attempt(transaction, write, seq)
    return write.claims


def _append(transaction: Transaction, write: WriteSet) -> int:
    return transaction.append(
        write.record, motive=write.mutation.motive, verdict=write.decision.verdict.value, resources=write.resources
    )


def _make_room(transaction: Transaction, write: WriteSet) -> None:
    """End what the decision supersedes and what time has ended; whatever then still stands in the way was taken since we looked."""
    superseded = _superseded(transaction, write)
    addresses = sorted({claim.address for claim in write.claims})
    if addresses:
        now = to_text(write.facts.now)
        standing = transaction.rows(_STANDING, {"addresses": text_of(addresses)})
        expired = [
            row for row in standing if row.until and row.until <= now and not row.unsettled and row.id not in superseded
        ]
        gone = superseded | {row.id for row in expired}
        _refuse_taken(write, [row for row in standing if row.id not in gone])
        end_expired(transaction, expired, write.facts.now)
    for claim in sorted(superseded):
        values = {"claim": claim, "at": to_text(write.facts.now), "by": write.mutation.id}
        if transaction.change(_SUPERSEDE, values) != 1:
            raise ClaimTaken(f"Claim {claim}, which this change would supersede, ended meanwhile. Nothing was sent.")


def _superseded(transaction: Transaction, write: WriteSet) -> set[str]:
    """The ids to supersede, all of them still open, and none held by a mutation whose end is not known yet."""
    wanted = set(write.decision.supersedes)
    if not wanted:
        return wanted
    rows = transaction.rows(_NAMED, {"ids": text_of(sorted(wanted))})
    if missing := wanted - {row.id for row in rows}:
        raise ClaimTaken(f"Claim {min(missing)}, which this change would supersede, ended meanwhile. Nothing was sent.")
    unsettled = next((row for row in rows if row.unsettled), None)
    if unsettled is not None and write.decision.mode is Mode.ENFORCE:
        raise ClaimTaken(_busy(unsettled))
    return wanted


def _refuse_taken(write: WriteSet, standing: Sequence[Any]) -> None:
    """A claim on the same attribute always stands in the way; one on the whole of it (or on a part, for a deletion)
    only where the checks were not shown it: then it was taken between our look and our commit.
    """
    seen = {meeting.claim.id for meeting in write.facts.claims}
    for claim in write.claims:
        for row in standing:
            if row.address != claim.address:
                continue
            same = row.attribute == claim.attribute
            whole = WHOLE in (row.attribute, claim.attribute) and row.id not in seen
            if same or whole:
                raise ClaimTaken(_busy(row))


def _busy(row: Any) -> str:
    resource = row.address if row.attribute == WHOLE else f"{row.address}.{row.attribute}"
    state = "is being changed, or is in doubt," if row.unsettled else "is held"
    return f"{resource} {state} by {row.actor} (mutation {row.mutation_id}). Nothing was sent; look at the claim and try again."


def _redeem(transaction: Transaction, write: WriteSet) -> None:
    if not write.decision.approval:
        return
    values = {
        "approval": write.decision.approval,
        "now": to_text(write.facts.now),
        "who": write.mutation.caller.actor,
        "digest": write.call_digest,
        "by": write.mutation.id,
    }
    if transaction.change(_REDEEM, values) != 1:
        message = f"Approval {write.decision.approval} was redeemed by another attempt, or has ended. Nothing was sent; ask for a new one."
        raise ApprovalSpent(message)


def _take(transaction: Transaction, claims: Sequence[Claim]) -> None:
    if not claims:
        return
    try:
        transaction.change_each(_INSERT_CLAIM, [claim_row(claim) for claim in claims])
    except INTEGRITY_ERRORS as error:
        # The unique index has the last word, whatever was read before.
        raise ClaimTaken("Another mutation took the same attribute first. Nothing was sent; try again.") from error


def _keep_attempt(transaction: Transaction, write: WriteSet, seq: int) -> None:
    mutation = write.mutation
    row = {
        "mutation_id": mutation.id,
        "seq": seq,
        "actor": mutation.caller.actor,
        "stack": write.facts.stack,
        "idempotency_key": mutation.idempotency_key or None,
        "call_digest": write.call_digest,
        "decided_at": to_text(write.facts.now),
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


def _hold(transaction: Transaction, write: WriteSet) -> None:
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
            "summary": text_of({name: body[name] for name in ("caller", "call", "motive", "effects", "decision")}),
            "state": "open",
        },
    )
