"""Judges a call of a plan's session: it fits the plan, and nobody has claimed since what it changes."""

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Mutation
from gateway.core.model.path import Overlaps
from gateway.core.model.verdict import CounterOffer, Finding, Verdict
from gateway.line.checks.chain import Opinion, passed


class PlannedCallCheck:
    """Holds what the plan does not explain, and denies what another actor claimed after the plan was judged."""

    name = "plan"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The findings. A call outside of a session is denied: this check is for no other."""
        part = mutation.part
        if part is None:
            return Opinion(findings=())
        if not part.fits:
            hold = Finding(check=self.name, verdict=Verdict.HOLD, rule="plan.not_planned", reason=part.objection)
            return Opinion(findings=(hold,))
        effects = Overlaps((each.address, each.attribute, each) for each in mutation.effects)
        taken = [
            standing.claim
            for standing in facts.claims
            if standing.claim.actor != mutation.caller.actor
            and standing.claim.since >= part.session.opened_at
            and effects.of(standing.claim.address, standing.claim.attribute)
        ]
        denials = tuple(
            Finding(
                check=self.name,
                verdict=Verdict.DENY,
                rule="plan.claimed_since",
                reason=(
                    f"{claim.actor} claimed {claim.attribute} of {claim.address} after plan {part.session.id} was judged "
                    f"(mutation {claim.mutation_id}). Nothing was sent; check the plan again once the claim has ended."
                ),
                address=claim.address,
                attribute=claim.attribute,
                offer=CounterOffer(
                    address=claim.address, attribute=claim.attribute, holder=claim.actor, retry_after=claim.until
                ),
            )
            for claim in taken
        )
        return Opinion(findings=denials) if denials else passed(self)
