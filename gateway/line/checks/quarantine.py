"""Holds changes of resources that are quarantined after a change from outside. People are not held."""

from collections.abc import Callable

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed


class QuarantineCheck:
    """Holds every change of a quarantined resource for a human."""

    name = "quarantine"

    def __init__(self, quarantined: Callable[[str], str]) -> None:
        """`quarantined` says why only people may change an address; empty if others may too."""
        self._quarantined = quarantined

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:  # noqa: ARG002  the protocol's shape
        """A hold for each quarantined resource that the mutation affects."""
        if mutation.caller.kind is ActorKind.HUMAN:
            return passed(self)
        reasons = {
            address: self._quarantined(address) for address in sorted({each.address for each in mutation.effects})
        }
        held = tuple(
            Finding(check=self.name, verdict=Verdict.HOLD, rule="quarantine.foreign", reason=reason, address=address)
            for address, reason in reasons.items()
            if reason
        )
        return Opinion(findings=held) if held else passed(self)
