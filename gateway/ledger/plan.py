"""What a decision will write, worked out before the transaction begins: the DECIDED record and the claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.errors import PolicyInvalid
from gateway.ledger.forms import effect_form, finding_form
from gateway.ledger.moment import stored
from gateway.model.claim import Claim
from gateway.model.facts import Facts, Subject
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.motive import motive_form
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.record import Record, Stage
from gateway.model.verdict import Decision

_LONGEST: Final = 1e12
"""Seconds; some 30,000 years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One decision, ready to be written."""

    mutation: Mutation
    facts: Facts
    decision: Decision
    claims: tuple[Claim, ...]
    """Those to take; empty where the mutation is not carried out."""
    record: Record
    call_digest: str

    @property
    def things(self) -> list[tuple[str, str]]:
        """The (address, attribute) pairs that the record is about."""
        return [(effect.address, effect.attribute) for effect in self.mutation.effects]


def planned(mutation: Mutation, facts: Facts, decision: Decision) -> Plan:
    """The plan of a decision. Raises `errors.PolicyInvalid` for an obligation that makes no sense."""
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
    return Plan(mutation=mutation, facts=facts, decision=decision, claims=claims, record=record, call_digest=digest)


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
        "motive": motive_form(mutation.motive),
        "effects": [effect_form(effect, subject) for effect, subject in zip(mutation.effects, subjects, strict=True)],
        "decision": _decision_form(decision),
        "claims": [
            {
                "id": claim.id,
                "address": claim.address,
                "attribute": claim.attribute,
                "until": stored(claim.until) if claim.until else None,
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
        "findings": [finding_form(finding) for finding in decision.findings],
        "supersedes": list(decision.supersedes),
        "mode": decision.mode.value,
        "approval": decision.approval,
        "bundle": decision.bundle,
        "code": decision.code,
        "obligations": decision.obligations,
    }
