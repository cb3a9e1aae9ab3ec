"""Denies a change that is wanted for a time only and could not be put back, and a way back that does anything else."""

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed


class TimeBoxCheck:
    """A change that is asked for for a time never stays for ever."""

    name = "time_box"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """A denial where the values before the change are not known, or no call is known that sets them again."""
        if facts.time_box is not None and facts.time_box.refusal:
            return self._denied("time_box.no_way_back", facts.time_box.refusal)
        if mutation.puts_back is not None and (other := _other_effect(mutation, facts)):
            reason = (
                f"The call that puts {mutation.puts_back.mutation_id} back would also change {other}. Nothing was sent."
            )
            return self._denied("time_box.other_effects", reason)
        return passed(self)

    def _denied(self, rule: str, reason: str) -> Opinion:
        return Opinion(findings=(Finding(check=self.name, verdict=Verdict.DENY, rule=rule, reason=reason),))


def _other_effect(mutation: Mutation, facts: Facts) -> str:
    """What a call would do beside putting back what it is to put back; empty if nothing."""
    bases = dict(mutation.puts_back.bases) if mutation.puts_back else {}
    for subject in facts.subjects:
        effect = subject.effect
        key = effect.address, effect.attribute
        if effect.action is EffectAction.SET and key in bases:
            if effect.value != bases.pop(key):
                return f"{effect.address}.{effect.attribute} to another value"
        elif subject.changes and not (effect.implied and not effect.by and effect.action is EffectAction.INVOKE):
            return f"{effect.address}.{effect.attribute}"
    return "too little" if bases else ""
