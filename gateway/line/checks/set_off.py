"""Holds what an agent makes up for an alarm to be measured from, if the alarm then has AWS stop, scale or run something."""

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed
from gateway.line.ground_truth import GroundTruth


class SetOffCheck:
    """Holds an agent's metrics, logs and traces of recorded alarms that do more than notify. Those of programs are what such alarms are for."""

    name = "alarms"

    def __init__(self, ground: GroundTruth) -> None:
        self._ground = ground

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:  # noqa: ARG002  the protocol's shape
        """A hold that names what the alarm is measured from."""
        made = self._ground.sets_off(mutation.call) if mutation.caller.kind is ActorKind.AGENT else ""
        if not made:
            return passed(self)
        reason = (
            f"This makes up {made}, from which a recorded alarm is measured that does more than notify: AWS would then stop, scale or run "
            "something. An approver must decide; nothing was sent."
        )
        held = Finding(check=self.name, verdict=Verdict.HOLD, rule="alarms.set_off", reason=reason)
        return Opinion(findings=(held,))
