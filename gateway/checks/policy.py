"""Asks the guardrails: Rego that says what nobody may do, or not without a human."""

from collections.abc import Callable, Collection, Mapping

from gateway.checks.chain import Opinion, passed
from gateway.checks.policy_answer import finding, member, only
from gateway.checks.policy_input import PolicyInputs
from gateway.errors import PolicyUnavailable
from gateway.model.facts import Facts
from gateway.model.json import Json
from gateway.model.mutation import Mutation
from gateway.ports import PolicyEngine

ENTRYPOINT = "sentinel/guardrails/result"


class GuardrailsCheck:
    """Holds a mutation against every guardrail package."""

    name = "policy"

    def __init__(
        self, engine: PolicyEngine, packages: Callable[[], Collection[str]], documents: PolicyInputs | None = None
    ) -> None:
        """`packages` names the guardrail packages that must have answered, at the time of asking; `documents` is shared with arbitration."""
        self._documents = documents or PolicyInputs()
        self._engine = engine
        self._packages = packages

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """What the guardrails object to. Raises `errors.PolicyUnavailable` where any of them did not answer; that denies."""
        bundle = self._engine.revision
        answer = await self._engine.ask(ENTRYPOINT, self._documents.of(mutation, facts))
        found = only(answer, {"evaluated", "findings"})
        _all_asked(member(found, "evaluated", dict), self._packages())
        objections = tuple(finding(self.name, each) for each in member(found, "findings", list))
        return Opinion(findings=objections or passed(self).findings, bundle=bundle)


def _all_asked(evaluated: Mapping[str, Json], packages: Collection[str]) -> None:
    silent = sorted(name for name in packages if evaluated.get(name) is not True)
    if silent or not packages:
        raise PolicyUnavailable(f"Not every guardrail answered: {', '.join(silent) or 'there is none'}.")
