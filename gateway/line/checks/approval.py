"""Compares a repeated call with what people said about it before: an approval, a hold that still waits, or a rejection."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from gateway.core.model.approval import Answered, Binding, Rejection, approval_rule_to_json, misfits
from gateway.core.model.facts import Approval, Facts, Subject
from gateway.core.model.invented import renamed
from gateway.core.model.json import Json, digest, to_json
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import BY_CALL, Effect, Mutation
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Verdict
from gateway.core.times import utc_seconds
from gateway.line.checks.rule_titles import titled


def with_approval(mutation: Mutation, facts: Facts, decision: Decision, contests: Sequence[str]) -> Decision:
    """The decision with its binding if it is held, and with the caller's approval: used if it fits, else a finding that says why not.

    `contests` are the claims that end if a human approves the mutation.
    """
    approval = facts.approval
    if approval is None and not decision.is_held:
        return decision
    binding = binding_of(mutation, facts, decision, contests)
    decision = replace(decision, binding=binding)
    if approval is None:
        return decision
    if changed := misfits(approval.binding, binding) if binding.reasons else ():
        return replace(decision, findings=(*decision.findings, _outdated(approval, changed)))
    ended = tuple(sorted({*decision.supersedes, *contests}))
    return replace(decision, approval=approval.id, supersedes=ended, consent=_consent(approval))


def _consent(approval: Approval) -> dict[str, Json]:
    """What the record of the decision says about the approval that it uses."""
    return {
        "approval": approval.id,
        "held": approval.mutation_id,
        "approvers": [*approval.others, approval.approver],
        "broke_glass": approval.broke_glass,
    }


def binding_of(mutation: Mutation, facts: Facts, decision: Decision, contests: Sequence[str]) -> Binding:
    """What an approval of this mutation would be bound to.

    What a program invents afresh for each attempt is no part of it: idempotency tokens, names that Terraform's provider generates.
    """
    caller = mutation.caller
    names = _names(mutation, facts)
    addresses = {effect.address: _place(effect, names) for effect in (subject.effect for subject in facts.subjects)}
    held = (finding for finding in decision.findings if finding.verdict is Verdict.HOLD)
    return Binding(
        caller=digest([caller.kind.value, sorted(caller.roles), caller.on_behalf_of]),
        motive=digest(motive_to_json(mutation.motive)),
        effects=digest([_foreseen(subject, addresses, names) for subject in facts.subjects]),
        code=facts.declared,
        bundle=decision.bundle,
        reasons=tuple(sorted({_reason(finding, addresses) for finding in held})),
        contests=tuple(sorted(contests)),
        approvers=digest(approval_rule_to_json(decision.needs)),
    )


def _names(mutation: Mutation, facts: Facts) -> Mapping[str, str]:
    """What stands for the texts that were invented for this attempt. The digest of the call binds all other texts of it."""
    call = mutation.call
    tokens = dict.fromkeys(call.token_values, "(idempotency token)")
    unnamed = {
        subject.effect.identity[BY_CALL]: "(this call)"
        for subject in facts.subjects
        if BY_CALL in subject.effect.identity
    }
    return {**tokens, **unnamed, **call.generated}


def _place(effect: Effect, names: Mapping[str, str]) -> str:
    """The address, without what was invented if no code declares the resource."""
    if effect.declared or names.keys().isdisjoint(effect.identity.values()):
        return effect.address
    return f"{effect.resource_type}{sorted((name, names.get(text, text)) for name, text in effect.identity.items())}"


def _foreseen(subject: Subject, addresses: Mapping[str, str], names: Mapping[str, str]) -> Json:
    effect = subject.effect
    return [
        addresses[effect.address],
        effect.attribute,
        effect.action.value,
        to_json(renamed(effect.value, names)),
        # The digest of the old value of a secret would have to be stored; that it is replaced says enough.
        None if effect.sensitive else subject.before,
        subject.changes,
        effect.resource_type,
        to_json(renamed(effect.identity, names)),
    ]


def _reason(finding: Finding, addresses: Mapping[str, str]) -> str:
    holder = finding.offer.holder if finding.offer else ""
    address = addresses.get(finding.address, finding.address)
    return " ".join(part for part in (finding.rule, address, finding.attribute, holder) if part)


def _outdated(approval: Approval, changed: Sequence[str]) -> Finding:
    reason = (
        f"Approval {approval.id} by {approval.approver} no longer fits this call: {_listed(changed)} changed since it was given. "
        "The call is held again; it needs a new approval, as it is now."
    )
    return Finding(check="approval", verdict=Verdict.HOLD, rule="approval.outdated", reason=reason)


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def with_answer(decision: Decision, answered: Answered, now: datetime) -> Decision:
    """The decision about a call that is held: a denial with the human's reason if it was rejected lately in these circumstances, attached to
    the mutation that is held for it already if there is one, else as it is.
    """
    rejection = answered.rejection
    if rejection is not None and _stands(rejection, decision, now):
        return replace(decision, findings=(*decision.findings, *titled((_rejected(rejection, decision),), {})))
    alike = (held for held, binding in answered.held.items() if binding is not None and binding == decision.binding)
    return replace(decision, attached=next(alike, ""))


def _stands(rejection: Rejection, decision: Decision, now: datetime) -> bool:
    """Whether the rejection still answers the call: for the time that the policies say, as long as nothing about it has changed."""
    if decision.needs is None or decision.binding is None or rejection.binding is None:
        return False
    return now < rejection.at + decision.needs.rejected and not misfits(rejection.binding, decision.binding)


def _rejected(rejection: Rejection, decision: Decision) -> Finding:
    ends = rejection.at + decision.needs.rejected if decision.needs else rejection.at
    said = f": {_sentence(rejection.reason)}" if rejection.reason.strip() else " and gave no reason."
    reason = (
        f"{rejection.by} rejected this call (mutation {rejection.mutation_id}){said} "
        f"It is refused until {utc_seconds(ends)} as long as nothing about it changes; then people are asked again."
    )
    return Finding(
        check="approval",
        verdict=Verdict.DENY,
        rule="approval.rejected",
        reason=reason,
        offer=CounterOffer(holder=rejection.by, retry_after=ends),
    )


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
