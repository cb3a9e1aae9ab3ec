"""Evaluates the arbitration policy: whether the motive of a mutation outranks the standing claims that it conflicts with."""

from collections.abc import Mapping

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Asked, Finding
from gateway.core.ports import PolicyEngine
from gateway.line.checks.chain import Opinion, passed
from gateway.line.checks.cures import with_cures
from gateway.line.checks.policy import same_findings
from gateway.line.checks.policy_answer import finding, member, only
from gateway.line.checks.policy_input import PolicyInputs
from gateway.line.checks.priorities import PrioritiesRevision

ENTRYPOINT = "sentinel/arbitration/result"


class ArbitrationCheck:
    """Compares the motive of a mutation with the motives of the standing claims on the same resources."""

    name = "arbitration"

    def __init__(self, engine: PolicyEngine, inputs: PolicyInputs | None = None) -> None:
        """`inputs` can be shared with `GuardrailsCheck`."""
        self._inputs = inputs or PolicyInputs()
        self._engine = engine
        self._revision = PrioritiesRevision(engine)

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """Which side wins: findings if the standing claims do, `supersedes` if the mutation does, `on_approval` if a human must say;
        `obligations` limit the new claims.

        Raises `errors.PolicyUnavailable`, which denies, if the answer is incomplete.
        """
        bundle = self._engine.revision
        priorities = await self._revision.of(facts)
        document, kept = self._inputs.of(mutation, facts), self._inputs.kept(mutation, facts)
        found = await arbitrated(self._engine, document)
        objections = arbitration_findings(found)
        exact = kept is document or same_findings(
            objections, arbitration_findings(await arbitrated(self._engine, kept))
        )
        return Opinion(
            findings=tuple(with_cures(each, mutation, facts) for each in objections) or passed(self).findings,
            supersedes=_claims_shown(member(found, "supersedes", list), facts),
            on_approval=_claims_shown(member(found, "on_approval", list), facts),
            obligations=_obligations(member(found, "obligations", dict)),
            bundle=bundle,
            priorities=priorities,
            asked=(Asked(check=self.name, entrypoint=ENTRYPOINT, document=kept, exact=exact),),
        )


async def arbitrated(engine: PolicyEngine, document: Mapping[str, Json]) -> Mapping[str, Json]:
    """The answer of arbitration about a document. Raises `errors.PolicyUnavailable` if it is incomplete."""
    answer = await engine.ask(ENTRYPOINT, document)
    found = only(answer, {"evaluated", "findings", "supersedes", "on_approval", "obligations"})
    if found["evaluated"] is not True:
        raise PolicyUnavailable("Arbitration did not evaluate every claim.")
    return found


def arbitration_findings(answer: Mapping[str, Json]) -> tuple[Finding, ...]:
    """The findings in its answer."""
    return tuple(finding(ArbitrationCheck.name, each) for each in member(answer, "findings", list))


def _claims_shown(ids: list[Json], facts: Facts) -> tuple[str, ...]:
    """The ids of the claims to end. A policy can end only claims that were in its input."""
    in_input = {standing.claim.id for standing in facts.claims}
    chosen = [each for each in ids if isinstance(each, str) and each in in_input]
    if len(chosen) != len(ids):
        raise PolicyUnavailable("Arbitration names claims that it was not shown.")
    return tuple(chosen)


def _obligations(obligations: Mapping[str, Json]) -> Mapping[str, Json]:
    given = only(obligations, {"claim_seconds", "claims_limit"})
    if given["claim_seconds"] is not None and member(given, "claim_seconds", int) <= 0:
        raise PolicyUnavailable("Arbitration grants a claim without duration.")
    if member(given, "claims_limit", int) <= 0:
        raise PolicyUnavailable("Arbitration sets no number of claims that the caller may hold.")
    return dict(given)
