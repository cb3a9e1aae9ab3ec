"""Asks the policies who may approve a mutation that is held."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.approval import USUAL, ApprovalRule
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.core.ports import PolicyEngine
from gateway.line.checks.policy_answer import member, only
from gateway.line.checks.policy_input import PolicyInputs

ENTRYPOINT = "sentinel/approvers/result"
_MEMBERS = {"evaluated", "roles", "people", "longest_seconds", "rejected_seconds", "reason"}
_MOST_PEOPLE = 10
_MOST_SECONDS = 30 * 24 * 3600


class OptionalEntrypoints(PolicyEngine, Protocol):
    """An engine that says which entrypoints its policies have."""

    def answers(self, entrypoint: str) -> bool:
        """Whether the policies in force have this entrypoint."""
        ...


class ApproversPolicy:
    """Says who may approve what, how many people must, and for how long."""

    def __init__(self, engine: OptionalEntrypoints, inputs: PolicyInputs) -> None:
        """`inputs` is shared with the checks."""
        self._engine = engine
        self._inputs = inputs

    async def rule(self, mutation: Mutation, facts: Facts, findings: Sequence[Finding]) -> ApprovalRule:
        """The rule for a mutation that these findings hold; the usual one if the policies have none.

        Raises `errors.PolicyUnavailable` if they have one and it does not answer as it should: a weaker rule must not replace it.
        """
        if not self._engine.answers(ENTRYPOINT):
            return USUAL
        return await rule_about(self._engine, self._inputs.of(mutation, facts), findings)


async def rule_about(engine: PolicyEngine, document: Mapping[str, Json], findings: Sequence[Finding]) -> ApprovalRule:
    """The rule for a change with this input that these findings hold. Raises `errors.PolicyUnavailable`."""
    return _rule(only(await engine.ask(ENTRYPOINT, {**document, "held": _held(findings)}), _MEMBERS))


def _held(findings: Sequence[Finding]) -> list[Json]:
    return [
        {"rule": each.rule, "check": each.check, "address": each.address, "attribute": each.attribute}
        for each in findings
        if each.verdict is Verdict.HOLD
    ]


def _rule(answer: Mapping[str, Json]) -> ApprovalRule:
    if answer["evaluated"] is not True:
        raise PolicyUnavailable("The policies did not say for every effect who may approve it.")
    people = _number(answer, "people", _MOST_PEOPLE)
    return ApprovalRule(
        roles=tuple(_roles(wanted) for wanted in member(answer, "roles", list)),
        people=people,
        longest=timedelta(seconds=_number(answer, "longest_seconds", _MOST_SECONDS)),
        rejected=timedelta(seconds=_number(answer, "rejected_seconds", _MOST_SECONDS, least=0)),
        reason=member(answer, "reason", str),
    )


def _roles(wanted: Json) -> tuple[str, ...]:
    if not isinstance(wanted, list) or not wanted or not all(isinstance(role, str) and role for role in wanted):
        raise PolicyUnavailable("The policies name no roles that may approve.")
    return tuple(str(role) for role in wanted)


def _number(answer: Mapping[str, Json], name: str, most: int, *, least: int = 1) -> int:
    number = member(answer, name, int)
    if not least <= number <= most:
        raise PolicyUnavailable(
            f"The policies' answer about approvers has a {name} that is not between {least} and {most}."
        )
    return number
