"""Judges recorded changes by contracts again: those in force, those of another commit, or edited ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gateway.core.errors import Ambiguous
from gateway.core.model.contract import Contract
from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis
from gateway.core.model.verdict import Asked, Finding, Verdict
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from gateway.line.checks.bounds import BoundsCheck
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.dangerous_parts import is_named
from gateway.line.checks.dependencies import DependenciesCheck
from gateway.line.checks.derived_rows import DerivedRowsCheck
from gateway.line.checks.policy_input import contract_input
from gateway.policy.judged_again import NotKept, judged_again
from gateway.policy.not_replayed import NotReplayed
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

CHECKS: Final = frozenset({BoundsCheck.name, DerivedRowsCheck.name, DependenciesCheck.name})
"""The checks whose findings follow from contracts."""
_CHAIN: Final = CheckChain([BoundsCheck(), DerivedRowsCheck(), DependenciesCheck()])


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    """What contracts make of one recorded change."""

    questions: tuple[Asked, ...]
    """What the policies were asked, with what they are told of the contracts."""
    judged: bool = False
    """Whether the checks by contracts were run again; they said nothing about a call that nobody understands but that."""
    told_the_same: bool = False
    """Whether the policies are told what they were told then."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractReplay:
    """Judges recorded changes by the contracts of some stacks. Used by several threads: what it keeps is only what it looked up."""

    stacks: Stacks
    _found: dict[str, Stack | None] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Digest of the code and contracts."""
        return self.stacks.declared

    async def again(
        self, record: Record, body: DecidedBody[Any], questions: Sequence[Asked]
    ) -> JudgedAgain | NotReplayed:
        """What the contracts say of the change, and the `questions` to the policies with these contracts."""
        if body.part is not None:
            return NotReplayed.SESSION
        try:
            kept: Any = body.asked.judged() if body.asked is not None else None
        except KeyError:
            return NotReplayed.NO_CONTRACTS
        except ValueError:
            return NotReplayed.UNREADABLE
        if kept is None or body.cut is not None:
            return NotReplayed.SIZE
        if not kept["effects"]:
            return JudgedAgain(questions=tuple(questions))
        derived = [each for each in body.effects if each.basis is not Basis.HAND]
        if derived and any(question.document["mutation"]["inner"] for question in questions):  # type: ignore[index,call-overload]  # an input
            return NotReplayed.INNER
        if derived and not body.call.whole:
            return NotReplayed.SIZE
        claims: Any = questions[0].document["claims"]
        try:
            mutation, facts = judged_again(record, body, kept, claims, self._stack)
        except NotKept:
            return NotReplayed.NO_STACK
        except (ValueError, KeyError, TypeError, AttributeError):
            return NotReplayed.UNREADABLE
        decision = await _CHAIN.decide(mutation, facts)
        contracts = {subject.effect.address: subject.contract for subject in facts.subjects}
        # Questions about one document stay about one: the engine then writes it once.
        told = {id(each.document): each.document for each in questions}
        now = {name: self._told(document, contracts) for name, document in told.items()}
        return JudgedAgain(
            questions=tuple(replace(each, document=now[id(each.document)]) for each in questions),
            judged=True,
            told_the_same=now == told,
            findings=tuple(each for each in decision.findings if each.verdict is not Verdict.ALLOW),
        )

    def _stack(self, address: str) -> Stack | None:
        """The stack that has the address; None if none has, or several."""
        if address not in self._found:
            try:
                self._found[address] = self.stacks.declaring(address)
            except Ambiguous:
                self._found[address] = None
        return self._found[address]

    def _told(self, document: Mapping[str, Json], contracts: Mapping[str, Contract]) -> Mapping[str, Json]:
        """The input of the policies with these contracts in it: what they say of the resources, and of what depends on these."""
        mutation: Any = document["mutation"]
        dependants: Any = document["dependants"]
        return {
            **document,
            "mutation": {**mutation, "effects": [_with_contract(each, contracts) for each in mutation["effects"]]},
            "dependants": [{**each, "critical": self._is_critical(each["address"])} for each in dependants],
        }

    def _is_critical(self, address: str) -> bool:
        stack = self._stack(address)
        return stack is not None and stack.contract(address).critical


def _with_contract(effect: Mapping[str, Any], contracts: Mapping[str, Contract]) -> Mapping[str, Any]:
    contract = contracts.get(effect["address"])
    if contract is None:  # of an inner call alone, which no contract grants
        return effect
    parts = [{**part, "named": is_named(contract, part["path"])} for part in effect["parts"]]
    return {**effect, "contract": contract_input(contract), "parts": parts}
