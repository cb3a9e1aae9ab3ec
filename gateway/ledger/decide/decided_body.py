"""Makes the body of a DECIDED record."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from gateway.core.model.approval import approval_rule_to_json
from gateway.core.model.claim import Claim
from gateway.core.model.cost import CostDifference
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json, canonical_text
from gateway.core.model.mutation import CallClass, Effect, EffectAction, InnerCall, Mutation
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Verdict
from gateway.core.records.asked import VERSION, RecordedAsked
from gateway.core.records.decided import (
    MOST_NAMED,
    DecidedBody,
    RecordedAttempt,
    RecordedCall,
    RecordedCaller,
    RecordedChange,
    RecordedClaim,
    RecordedCost,
    RecordedDecision,
    RecordedEffect,
    RecordedEvidence,
    RecordedFacts,
    RecordedFinding,
    RecordedInner,
    RecordedInnerCalls,
    RecordedOffer,
    RecordedPart,
    RecordedRule,
    RecordedSender,
    RecordedSession,
    RecordedUse,
)
from gateway.core.records.judged import judged_on
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.time_boxes import BoxedAttribute, PutsBack, RecordedPutBack, RecordedTimeBox
from gateway.effects.masking import bounded_parameters
from gateway.ledger.store.timestamps import to_text

MAX_PARAMETERS: Final = 64 * 1024
"""Most characters of a call's parameters kept in its record. A held call with more cannot be approved, because nobody can see all of it."""
MAX_DENIED_PARAMETERS: Final = 4 * 1024
"""The same for a denied call, so that a refusal costs the ledger little."""
MAX_INNER_PARAMETERS: Final = 16 * 1024
"""About the most characters that the parameters of all inner calls have in a record together. They are made from those of the call."""


def decided_body(
    mutation: Mutation,
    facts: Facts,
    decision: Decision,
    subjects: Sequence[Subject | None],
    claims: Sequence[Claim],
    *,
    owner: str = "",
    asked_version: int = VERSION,
) -> DecidedBody[Any]:
    """The body: who asked, for what call and why, what it does, what was decided on which facts, and which claims it takes.

    `owner` is the gateway that will send the call; `asked_version` that of the packed questions.
    """
    caller, sender = mutation.caller, mutation.sender
    carried_out, refused = decision.carried_out, _is_refused(decision)
    sent = carried_out and mutation.opens is None
    return DecidedBody(
        caller=RecordedCaller(
            kind=caller.kind, key_id=caller.key_id, roles=caller.roles, on_behalf_of=caller.on_behalf_of
        ),
        call=_call(mutation, facts.account, MAX_DENIED_PARAMETERS if refused else MAX_PARAMETERS),
        door=mutation.door,
        sender=RecordedSender(peer=sender.peer, user_agent=sender.user_agent),
        motive=RecordedMotive.of(mutation.motive),
        effects=tuple(
            recorded_effect(effect, subject) for effect, subject in zip(mutation.effects, subjects, strict=True)
        ),
        decision=_decision(decision),
        facts=recorded_facts(facts),
        claims=tuple(
            RecordedClaim(
                id=claim.id,
                address=claim.address,
                attribute=claim.attribute,
                until=to_text(claim.until) if claim.until else None,
                proof=claim.proof,
            )
            for claim in claims
        ),
        evidence=_evidence(mutation, facts),
        time_box=_time_box(mutation, facts) if sent and mutation.puts_back is None else None,
        puts_back=_puts_back(mutation) if sent else None,
        attempt=RecordedAttempt(idempotency_key=mutation.idempotency_key, owner=owner, signature=mutation.signature)
        if sent
        else None,
        plan=_plan(mutation) if carried_out else None,
        part=_part(mutation),
        inner=_inner(mutation.inner, MAX_DENIED_PARAMETERS if refused else MAX_INNER_PARAMETERS),
        asked=RecordedAsked.of(decision.asked, judged_on(mutation, facts) if decision.asked else None, asked_version),
    )


def _plan(mutation: Mutation) -> RecordedSession | None:
    """The session that a plan opens."""
    opening = mutation.opens
    if opening is None:
        return None
    return RecordedSession(
        key=opening.key_id,
        until=to_text(opening.until),
        changes=tuple(
            RecordedChange(
                address=change.address,
                type=change.resource_type,
                action=change.action,
                region=change.region,
                computed=tuple(sorted(change.free)),
                tags=change.tags,
            )
            for change in opening.changes
        ),
    )


def _part(mutation: Mutation) -> RecordedPart | None:
    """How the call fits the plan of its session."""
    part = mutation.part
    if part is None:
        return None
    uses, makes = (
        tuple(RecordedUse(address=use.address, action=EffectAction(use.action)) for use in several)
        for several in (part.uses, part.makes)
    )
    return RecordedPart(plan=part.session.id, uses=uses, makes=makes, row=part.row)


def _inner(inner: Sequence[InnerCall], left: int) -> RecordedInnerCalls | None:
    """The calls that it makes AWS carry out, the first ones with their parameters, secrets masked, in about `left` characters together."""
    if not inner:
        return None
    found: list[RecordedInner] = []
    for each in inner[:MOST_NAMED]:
        parameters, whole = bounded_parameters(each.call, left, runs=each.call_class is CallClass.EXECUTE)
        left = max(0, left - len(canonical_text(parameters)))
        found.append(
            RecordedInner(
                service=each.call.service,
                operation=each.call.operation,
                call_class=each.call_class,
                role=each.role,
                account=each.call.account,
                region=each.call.region,
                parameters=parameters,
                whole=whole,
                understood=bool(each.effects),
            )
        )
    return RecordedInnerCalls(calls=tuple(found), more=len(inner) - len(found))


def recorded_effect(effect: Effect, subject: Subject | None) -> RecordedEffect[Json]:
    """An effect with the value it replaces (`before`) and the value in the code (`declared`). For a secret both are null."""
    known = subject if subject is not None and not effect.sensitive else None
    return RecordedEffect(
        address=effect.address,
        attribute=effect.attribute,
        action=effect.action,
        value=effect.value,
        before=known.before if known else None,
        declared=known.declared if known else None,
        changes=subject.changes if subject else True,
        resource_type=effect.resource_type,
        identity=effect.identity,
        in_code=effect.declared,
        sensitive=effect.sensitive,
        implied=effect.implied,
        basis=effect.basis,
        by=effect.by,
    )


def recorded_finding(finding: Finding) -> RecordedFinding:
    """A finding with its whole counter-offer, or null."""
    return RecordedFinding(
        check=finding.check,
        verdict=finding.verdict,
        rule=finding.rule,
        reason=finding.reason,
        address=finding.address,
        attribute=finding.attribute,
        source=finding.source,
        title=finding.title,
        conflict=finding.conflict,
        offer=_offer(finding.offer) if finding.offer else None,
    )


def recorded_facts(facts: Facts) -> RecordedFacts:
    """Contracts by address, ids of the claims that were seen, dependants, flips and what the caller had of them, its open claims."""
    subjects = facts.subjects[:MOST_NAMED]
    dependants = {each.address for subject in subjects for each in subject.dependants[:MOST_NAMED]}
    return RecordedFacts(
        contracts={each.effect.address: each.contract.source for each in subjects if each.contract.source},
        claims=tuple(standing.claim.id for standing in facts.claims[:MOST_NAMED]),
        dependants=tuple(sorted(dependants)[:MOST_NAMED]),
        flips=dict(islice(facts.flips.items(), MOST_NAMED)),
        held_before=tuple(sorted(facts.held_before)[:MOST_NAMED]),
        open_claims=facts.open_claims,
        possible_stacks=facts.possible_stacks,
        cost=_cost(facts.cost),
    )


def _cost(cost: CostDifference) -> RecordedCost | None:
    if not cost.dated or cost.cents == 0:
        return None
    return RecordedCost(
        known_cents=cost.known_cents,
        unknown=tuple(sorted(cost.unknown)[:MOST_NAMED]),
        unknown_count=len(cost.unknown),
        dated=cost.dated,
    )


def _call(mutation: Mutation, account: str, most: int) -> RecordedCall:
    """The call with its parameters, secrets masked: whole unless they have more than `most` characters, or a mask hides what it runs.

    `account` is that of the states, which a call is about if no setting names its account.
    """
    call = mutation.call
    parameters, whole = bounded_parameters(call, most, runs=mutation.call_class is CallClass.EXECUTE)
    return RecordedCall(
        service=call.service,
        operation=call.operation,
        account=call.account or account,
        region=call.region,
        call_class=mutation.call_class,
        digest=call.digest,
        parameters=parameters,
        whole=whole,
    )


def _is_refused(decision: Decision) -> bool:
    return decision.verdict is Verdict.DENY and not decision.carried_out


def _decision(decision: Decision) -> RecordedDecision:
    return RecordedDecision(
        verdict=decision.verdict,
        carried_out=decision.carried_out,
        findings=tuple(map(recorded_finding, decision.findings)),
        supersedes=decision.supersedes,
        mode=decision.mode,
        approval=decision.approval,
        bundle=decision.bundle,
        priorities=decision.priorities,
        code=decision.code,
        obligations=decision.obligations,
        binding=decision.binding,
        needs=msgspec.convert(approval_rule_to_json(decision.needs), RecordedRule) if decision.needs else None,
        consent=decision.consent,
        warned=tuple(recorded_finding(finding) for finding in decision.warned[:MOST_NAMED]),
        contest=decision.contest,
        attached=decision.attached,
    )


def _offer(offer: CounterOffer) -> RecordedOffer:
    return RecordedOffer(
        address=offer.address,
        attribute=offer.attribute,
        nearest=offer.nearest,
        holder=offer.holder,
        retry_after=to_text(offer.retry_after) if offer.retry_after else None,
    )


def _evidence(mutation: Mutation, facts: Facts) -> RecordedEvidence | None:
    """Whether open signals prove the motive, and which do; None where its motivation is not checked."""
    proven = facts.proof.proves(mutation.motive, [effect.address for effect in mutation.effects])
    if proven is None:
        return None
    return RecordedEvidence(proven=proven, signals=tuple(signal.id for signal in facts.proof.signals))


def _time_box(mutation: Mutation, facts: Facts) -> RecordedTimeBox[Json] | None:
    """What is put back at the end of a change for a time, and by which call."""
    box = facts.time_box
    if box is None or box.until is None or box.call is None:
        return None
    values = {(effect.address, effect.attribute): effect.value for effect in mutation.effects}
    return RecordedTimeBox(
        until=to_text(box.until),
        call=RecordedPutBack.of(box.call),
        attributes=tuple(
            BoxedAttribute(address=key[0], attribute=key[1], value=values[key], base=base, root=box.roots.get(key, ""))
            for key, base in box.bases.items()
        ),
    )


def _puts_back(mutation: Mutation) -> PutsBack | None:
    puts: Any = mutation.puts_back
    return None if puts is None else PutsBack(mutation=puts.mutation_id, attributes=tuple(puts.bases))
