"""Names the ways out of a conflict with a standing claim that exist for this caller: merge, release, state a motive, prove it."""

from collections.abc import Iterator
from dataclasses import replace

from gateway.core.model.approval import is_approver
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Finding, Verdict

_TOLD = frozenset({ActorKind.HUMAN, ActorKind.PIPELINE})
"""Agents and services are not told by which means others win."""
_SHORT = 7
"""Characters of a commit."""


def with_cures(finding: Finding, mutation: Mutation, facts: Facts) -> Finding:
    """The finding of a conflict, with the cures that exist added to its reason; any other finding, and a hold, as it is."""
    claim = _claim_of(finding, facts)
    if claim is None or claim.unsettled or finding.verdict is not Verdict.DENY:
        return finding
    return replace(finding, reason=" ".join((finding.reason, *_cures(claim, mutation, facts))))


def _claim_of(finding: Finding, facts: Facts) -> Claim | None:
    """The claim that the finding is about, as far as it names one."""
    if finding.conflict is None or finding.offer is None:
        return None
    named = (finding.address, finding.attribute, finding.offer.holder)
    claims = (standing.claim for standing in facts.claims)
    return next((claim for claim in claims if (claim.address, claim.attribute, claim.actor) == named), None)


def _cures(claim: Claim, mutation: Mutation, facts: Facts) -> Iterator[str]:
    caller, motive = mutation.caller, mutation.motive
    if motive is None:
        yield "This change states no motive, which ranks lowest: state a motive (`sentinel session --intent … --motivation …`)."
    elif facts.proof.proves(motive, (effect.address for effect in mutation.effects)) is False:
        yield "Nothing proves the motive of this change: name as evidence an open signal that concerns these resources."
    if claim.actor == caller.on_behalf_of:
        yield f"You hold it: `sentinel release {claim.mutation_id}` ends the claim."
    elif caller.kind in _TOLD and is_approver(caller):
        yield f"You may end that claim: `sentinel release {claim.mutation_id}`."
    elif caller.kind in _TOLD:
        yield f"{claim.actor}, or a person with the role `approver`, may end that claim: `sentinel release {claim.mutation_id}`."
    if claim.commit and caller.kind in _TOLD:
        yield f"Its value is proposed in commit {claim.commit[:_SHORT]} on {claim.branch}: merge it, and the claim ends."
