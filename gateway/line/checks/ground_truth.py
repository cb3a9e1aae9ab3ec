"""Refuses what reaches Sentinel's own ground truth: states and their locks, trails, signals, exports, its own identity and database."""

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import CallClass, Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed
from gateway.line.ground_truth import GroundTruth

_PLAN = "terraform"
"""The service of the call that stands for a whole plan. Its calls are judged when they are sent."""


class GroundTruthCheck:
    """Denies, for every key and in every mode, what `GroundTruth` objects to, also where another service is to do it."""

    name = "ground_truth"

    def __init__(self, ground: GroundTruth) -> None:
        self._ground = ground

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:  # noqa: ARG002  the protocol's shape
        """An absolute denial for the first call, itself or one that it carries, that reaches something of Sentinel's."""
        of_plan = mutation.call.service == _PLAN or mutation.puts_back is not None
        stack = mutation.part.session.stack if mutation.part is not None else _PLAN if of_plan else ""
        asked = [] if mutation.call.service == _PLAN else [(mutation.call, mutation.call_class)]
        asked += [(inner.call, inner.call_class) for inner in mutation.inner]
        for call, call_class in asked:
            reason = self._ground.objection(mutation.caller, call, _decided(call_class), direct=False, plan_stack=stack)
            if reason:
                denial = Finding(
                    check=self.name, verdict=Verdict.DENY, rule="never.ground_truth", reason=reason, absolute=True
                )
                return Opinion(findings=(denial,))
        return passed(self)


def _decided(call_class: CallClass) -> CallClass:
    """The class as it is looked at here: what would return a secret reads."""
    return CallClass.READ if not call_class.changes_state else call_class
