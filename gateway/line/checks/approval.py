"""Whether the approval of a held call still fits the call when it is repeated."""

from collections.abc import Sequence
from dataclasses import replace

from gateway.core.model.approval import Binding, approval_rule_to_json, misfits
from gateway.core.model.facts import Approval, Facts, Subject
from gateway.core.model.json import Json, digest
from gateway.core.model.motive import motive_to_json
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Decision, Finding, Verdict


def with_approval(mutation: Mutation, facts: Facts, decision: Decision, contests: Sequence[str]) -> Decision:
    """The decision with its binding if it is held, and with the caller's approval: used if it fits, else a finding that says why not.

    `contests` are the claims that end if a human approves the mutation.
    """
    approval = facts.approval
    if approval is None and not _held(decision):
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


def _held(decision: Decision) -> bool:
    return any(finding.verdict is Verdict.HOLD for finding in decision.findings)


def binding_of(mutation: Mutation, facts: Facts, decision: Decision, contests: Sequence[str]) -> Binding:
    """What an approval of this mutation would be bound to."""
    caller = mutation.caller
    return Binding(
        caller=digest([caller.kind.value, sorted(caller.roles), caller.on_behalf_of]),
        motive=digest(motive_to_json(mutation.motive)),
        effects=digest([_foreseen(subject) for subject in facts.subjects]),
        code=facts.declared,
        bundle=decision.bundle,
        reasons=tuple(sorted({_reason(finding) for finding in decision.findings if finding.verdict is Verdict.HOLD})),
        contests=tuple(sorted(contests)),
        approvers=digest(approval_rule_to_json(decision.needs)),
    )


def _foreseen(subject: Subject) -> Json:
    effect = subject.effect
    return [
        effect.address,
        effect.attribute,
        effect.action.value,
        effect.value,
        # The digest of the old value of a secret would have to be stored; that it is replaced says enough.
        None if effect.sensitive else subject.before,
        subject.changes,
        effect.resource_type,
        dict(effect.identity),
    ]


def _reason(finding: Finding) -> str:
    holder = finding.offer.holder if finding.offer else ""
    return " ".join(part for part in (finding.rule, finding.address, finding.attribute, holder) if part)


def _outdated(approval: Approval, changed: Sequence[str]) -> Finding:
    reason = (
        f"Approval {approval.id} by {approval.approver} no longer fits this call: {_listed(changed)} changed since it was given. "
        "The call is held again; a human must look at it as it is now."
    )
    return Finding(check="approval", verdict=Verdict.HOLD, rule="approval.outdated", reason=reason)


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
