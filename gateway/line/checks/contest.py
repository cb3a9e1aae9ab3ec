"""Asks the policies to take a contest apart, for `sentinel explain`. It decides nothing."""

from collections.abc import Mapping

import structlog

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.claim import Relation
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.path import Overlaps
from gateway.line.checks.approvers import OptionalEntrypoints
from gateway.line.checks.policy_answer import only
from gateway.line.checks.policy_input import PolicyInputs

log = structlog.get_logger()

ENTRYPOINT = "sentinel/explanation/result"
_MEMBERS = {"evaluated", "incoming", "rivals", "needed", "winning"}


class ContestPolicy:
    """Says how the motives of a mutation and of the claims in its way were ranked."""

    def __init__(self, engine: OptionalEntrypoints, inputs: PolicyInputs) -> None:
        """`inputs` is shared with the checks."""
        self._engine = engine
        self._inputs = inputs

    async def of(self, mutation: Mutation, facts: Facts) -> Mapping[str, Json] | None:
        """The contest; None if no claim is in the way, or the policies cannot explain it."""
        if not _contested(mutation, facts) or not self._engine.answers(ENTRYPOINT):
            return None
        try:
            answer = only(await self._engine.ask(ENTRYPOINT, self._inputs.of(mutation, facts)), _MEMBERS)
        except PolicyUnavailable as error:
            log.warning("contest_not_explained", mutation=mutation.id, reason=str(error))
            return None
        return {name: answer[name] for name in sorted(_MEMBERS - {"evaluated"})} if answer["rivals"] else None


def _contested(mutation: Mutation, facts: Facts) -> bool:
    """Whether another actor's claim may be in the way: on what the mutation sets, on what belongs together with that, or on anything
    near what it deletes.
    """
    deletes = any(effect.action is EffectAction.DELETE for effect in mutation.effects)
    coupled = Overlaps((*each, None) for each in facts.coupled)
    return any(
        standing.claim.actor != mutation.caller.actor
        and (
            deletes
            or standing.relation is Relation.SAME
            or bool(coupled.of(standing.claim.address, standing.claim.attribute))
        )
        for standing in facts.claims
    )
