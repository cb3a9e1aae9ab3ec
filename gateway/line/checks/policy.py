"""Evaluates the guardrails: Rego rules that deny a mutation or hold it for a person."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, without_digests
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Asked, Finding
from gateway.core.ports import PolicyEngine
from gateway.line.checks.chain import Opinion, passed
from gateway.line.checks.inner_calls import each_alone
from gateway.line.checks.policy_answer import finding, member, only
from gateway.line.checks.policy_input import PolicyInputs, policy_input, storable_input
from gateway.terraform.secrets import masked_text

ENTRYPOINT = "sentinel/guardrails/result"


class GuardrailsCheck:
    """Evaluates every guardrail package for a mutation."""

    name = "policy"

    def __init__(
        self, engine: PolicyEngine, packages: Callable[[], Collection[str]], inputs: PolicyInputs | None = None
    ) -> None:
        """`packages` returns the current names of the guardrail packages, all of which must answer. `inputs` can be shared with
        `ArbitrationCheck`.
        """
        self._inputs = inputs or PolicyInputs()
        self._engine = engine
        self._packages = packages

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The objections of the guardrails to the call and to each call inside it.

        Raises `errors.PolicyUnavailable`, which denies, if any package did not answer.
        """
        bundle = self._engine.revision
        if any(effect.beside for effect in mutation.effects):
            mutation, facts = _without_beside(mutation, facts)
        said, asked = await self._said(self._inputs.of(mutation, facts), self._inputs.kept(mutation, facts))
        objections, warned = said.objections, said.warned
        for alone, about in each_alone(mutation, facts):
            document = policy_input(alone, about)
            more, question = await self._said(document, storable_input(alone, about, document))
            objections, warned, asked = objections + more.objections, warned + more.warned, asked + question
        objections, warned = tuple(dict.fromkeys(objections)), tuple(dict.fromkeys(warned))
        if any(effect.judged is not None for effect in mutation.effects):
            objections = tuple(_without_secrets(each) for each in objections)
            warned = tuple(_without_secrets(each) for each in warned)
        return Opinion(findings=objections or passed(self).findings, bundle=bundle, warned=warned, asked=asked)

    async def _said(self, document: Mapping[str, Json], kept: Mapping[str, Json]) -> tuple["Said", tuple[Asked, ...]]:
        """What the guardrails say of `document`, and the question with the document `kept`, which may be stored."""
        said = await guardrails_say(self._engine, self._packages(), document)
        exact = kept is document or same_findings(
            said.objections, (await guardrails_say(self._engine, self._packages(), kept)).objections
        )
        return said, (Asked(check=self.name, entrypoint=ENTRYPOINT, document=kept, exact=exact),)


def _without_beside(mutation: Mutation, facts: Facts) -> tuple[Mutation, Facts]:
    """The change without what a plan does to resources beside it: the same values are judged where the plan has them."""
    subjects = tuple(subject for subject in facts.subjects if not subject.effect.beside)
    effects = tuple(effect for effect in mutation.effects if not effect.beside)
    return replace(mutation, effects=effects), replace(facts, subjects=subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The answer of the guardrails."""

    objections: tuple[Finding, ...]
    warned: tuple[Finding, ...]
    """The findings of rules that are only tried."""


async def guardrails_say(engine: PolicyEngine, packages: Collection[str], document: Mapping[str, Json]) -> Said:
    """What the guardrails say of a document. Raises `errors.PolicyUnavailable` if any of the `packages` did not answer."""
    answer = await engine.ask(ENTRYPOINT, document)
    # Policies that were copied before there were stages have no `warned`.
    staged = isinstance(answer, Mapping) and "warned" in answer
    found = only(answer, {"evaluated", "findings", "warned"} if staged else {"evaluated", "findings"})
    _require_all(member(found, "evaluated", dict), packages)
    return Said(
        objections=tuple(finding(GuardrailsCheck.name, each) for each in member(found, "findings", list)),
        warned=tuple(finding(GuardrailsCheck.name, each) for each in member(found, "warned", list)) if staged else (),
    )


def same_findings(some: Iterable[Finding], others: Iterable[Finding]) -> bool:
    """Whether the same rules object to the same in the same way; what they say about it may differ."""
    return _objects(some) == _objects(others)


def _objects(findings: Iterable[Finding]) -> frozenset[tuple[str, str, str, str]]:
    return frozenset((each.rule, each.verdict.value, each.address, each.attribute) for each in findings)


def _without_secrets(objection: Finding) -> Finding:
    """The finding with the secrets in its sentence blanked: a policy may quote a document, and findings are stored."""
    return replace(objection, reason=str(without_digests(masked_text(objection.reason, PER_RUN))))


def _require_all(evaluated: Mapping[str, Json], packages: Collection[str]) -> None:
    missing = sorted(name for name in packages if evaluated.get(name) is not True)
    if missing or not packages:
        raise PolicyUnavailable(f"Not every guardrail answered: {', '.join(missing) or 'there is none'}.")
