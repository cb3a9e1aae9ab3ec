"""Prepares everything that a decision stores, outside the transaction, so that the single writer thread only runs statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.errors import CallTooLarge, PolicyInvalid
from gateway.ledger.decided_body import carried_out_body, decided_body
from gateway.ledger.recorded_facts import recorded_facts
from gateway.ledger.summary import refused_body
from gateway.ledger.timestamps import to_text
from gateway.model.claim import Claim
from gateway.model.facts import Facts, Subject
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.reach import reach
from gateway.model.record import Record, Stage
from gateway.model.stop import Reach
from gateway.model.time_box import call_to_json
from gateway.model.verdict import Decision

_LONGEST_CLAIM: Final = 1e12
"""Seconds; some 30,000 years."""
_AT_ONCE: Final = timedelta(microseconds=1)
"""A claim that is to end with the outcome, and was no mere restatement. An unsettled claim does not expire."""
MAX_NAME: Final = 2_000
"""Longest address and attribute together that can be recorded, in bytes."""


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
    def reach(self) -> Reach:
        """What stops can be about."""
        return reach(self.mutation, self.facts)

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
    body = {
        **decided_body(mutation, decision, subjects, claims, digest, account=facts.account),
        "facts": recorded_facts(facts),
        **_proof(mutation, facts),
        **(_time_box(mutation, facts) if decision.carried_out else {}),
    }
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


def _proof(mutation: Mutation, facts: Facts) -> Mapping[str, Json]:
    """Whether open signals prove the motive, and which do; nothing where its motivation is not checked."""
    proven = facts.proof.proves(mutation.motive, [effect.address for effect in mutation.effects])
    if proven is None:
        return {}
    return {"evidence": {"proven": proven, "signals": [signal.id for signal in facts.proof.signals]}}


def _time_box(mutation: Mutation, facts: Facts) -> Mapping[str, Json]:
    """What is put back at the end of a time-boxed change, by which call; or which one this mutation puts back."""
    box, puts = facts.time_box, mutation.puts_back
    if puts is not None:
        return {"puts_back": {"mutation": puts.mutation_id, "attributes": [list(key) for key in puts.bases]}}
    if box is None or box.until is None or box.call is None:
        return {}
    values = {(effect.address, effect.attribute): effect.value for effect in mutation.effects}
    attributes: list[Json] = [
        {
            "address": key[0],
            "attribute": key[1],
            "value": values[key],
            "base": base,
            **({"root": box.roots[key]} if key in box.roots else {}),
        }
        for key, base in box.bases.items()
    ]
    return {"time_box": {"until": to_text(box.until), "call": call_to_json(box.call), "attributes": attributes}}


def _check_names(mutation: Mutation) -> None:
    """PostgreSQL refuses an index entry of more than 2,700 bytes, in which address and attribute stand together."""
    if any(len(f"{effect.address}.{effect.attribute}".encode()) > MAX_NAME for effect in mutation.effects):
        raise CallTooLarge(f"names a resource or an attribute in more than {MAX_NAME} bytes")


def _claims(
    mutation: Mutation, facts: Facts, decision: Decision, subjects: Sequence[Subject | None]
) -> tuple[Claim, ...]:
    """One claim for each attribute that is set, and one on the whole of each deleted resource.

    A claim by which the actor takes its own change back to what the code declares expires with the outcome: nobody needs it. A claim on an attribute that is only restated ends as soon as the outcome is known (`restated.py`): it keeps others from
    setting the attribute while this call is under way, and nobody from it afterwards.
    """
    until = _until(mutation, facts.now, decision)
    wanted: dict[tuple[str, str], tuple[Effect, datetime | None]] = {}
    for effect, subject in zip(mutation.effects, subjects, strict=True):
        if effect.action is EffectAction.DELETE:
            wanted[effect.address, WHOLE] = effect, until
        elif effect.action is EffectAction.SET:
            ends = until if subject is None or subject.changes else facts.now
            if subject is not None and _takes_back(mutation, facts, subject):
                ends = facts.now + _AT_ONCE
            if mutation.puts_back is not None:
                ends = facts.now  # nobody wants to hold what was there before: its claim ends with the outcome
            wanted[effect.address, effect.attribute] = effect, ends
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
            proof=facts.proof.by_address.get(address, ()),
        )
        for (address, attribute), (effect, ends) in wanted.items()
    )


def _takes_back(mutation: Mutation, facts: Facts, subject: Subject) -> bool:
    """Whether the actor sets an attribute that it holds to the value that the code declares."""
    effect = subject.effect
    if subject.hidden or effect.sensitive or not subject.changes or subject.declared is None:
        return False
    own = {
        (standing.claim.address, standing.claim.attribute)
        for standing in facts.claims
        if standing.claim.actor == mutation.caller.actor
    }
    return (effect.address, effect.attribute) in own and effect.value == subject.declared


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
