"""Denies what a person has stopped, in every mode."""

from gateway.core.model.facts import Facts, reach
from gateway.core.model.mutation import Mutation
from gateway.core.model.stop import in_the_way
from gateway.core.model.verdict import CounterOffer, Finding, Verdict
from gateway.line.checks.chain import Opinion, passed

RULE = "never.stopped"


class StopsCheck:
    """Denies every change that a standing stop is about. The facts were read after the request came in."""

    name = "stops"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A denial for each such stop, with its reason and the person to ask."""
        found = in_the_way(facts.stops, reach(mutation, facts))
        denials = tuple(
            Finding(
                check=self.name,
                verdict=Verdict.DENY,
                rule=RULE,
                reason=stop.sentence,
                offer=CounterOffer(holder=stop.by),
                absolute=True,
            )
            for stop in found
        )
        return Opinion(findings=denials) if denials else passed(self)
