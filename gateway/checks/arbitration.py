"""Asks arbitration: whether the motive of a mutation outranks the standing claims in its way."""

from collections.abc import Mapping

from gateway.checks.chain import Opinion, passed
from gateway.checks.policy_answer import finding, member, only
from gateway.checks.policy_input import PolicyInputs
from gateway.errors import PolicyUnavailable
from gateway.model.facts import Facts
from gateway.model.json import Json
from gateway.model.mutation import Mutation
from gateway.ports import PolicyEngine

ENTRYPOINT = "sentinel/arbitration/result"


class ArbitrationCheck:
    """Holds the motive of a mutation against those of the claims on what it changes."""

    name = "arbitration"

    def __init__(self, engine: PolicyEngine, documents: PolicyInputs | None = None) -> None:
        """`documents` is shared with the guardrails' check."""
        self._documents = documents or PolicyInputs()
        self._engine = engine

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """Who must give way: the caller (findings) or the holders (`supersedes`), and how long the new claim stands.

        Raises `errors.PolicyUnavailable` where arbitration did not answer in full; that denies.
        """
        bundle = self._engine.revision
        answer = await self._engine.ask(ENTRYPOINT, self._documents.of(mutation, facts))
        found = only(answer, {"evaluated", "findings", "supersedes", "obligations"})
        if found["evaluated"] is not True:
            raise PolicyUnavailable("Arbitration did not weigh every claim.")
        objections = tuple(finding(self.name, each) for each in member(found, "findings", list))
        return Opinion(
            findings=objections or passed(self).findings,
            supersedes=_supersedes(member(found, "supersedes", list), facts),
            obligations=_obligations(member(found, "obligations", dict)),
            bundle=bundle,
        )


def _supersedes(ids: list[Json], facts: Facts) -> tuple[str, ...]:
    """The claims that end. Only claims it was shown: a policy cannot end what it does not know."""
    shown = {standing.claim.id for standing in facts.claims}
    chosen = [each for each in ids if isinstance(each, str) and each in shown]
    if len(chosen) != len(ids):
        raise PolicyUnavailable("Arbitration names claims that it was not shown.")
    return tuple(chosen)


def _obligations(obligations: Mapping[str, Json]) -> Mapping[str, Json]:
    seconds = only(obligations, {"claim_seconds"})["claim_seconds"]
    if seconds is not None and member(obligations, "claim_seconds", int) <= 0:
        raise PolicyUnavailable("Arbitration grants a claim of no length.")
    return dict(obligations)
