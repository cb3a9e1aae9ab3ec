"""The `Check` protocol, and the `CheckChain` that runs every check and combines the results into one decision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol

import structlog

from gateway.core.model.approval import USUAL
from gateway.core.model.claim import Relation
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.mutation import Mutation
from gateway.core.model.verdict import Asked, Decision, Finding, Mode, RuleText, Verdict
from gateway.core.quick_init import quick_init
from gateway.line.checks.approval import with_approval
from gateway.line.checks.approvers import ApproversPolicy
from gateway.line.checks.contest import ContestPolicy
from gateway.line.checks.rule_titles import titled

log = structlog.get_logger()


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The result of one check. An opinion without findings denies."""

    findings: tuple[Finding, ...]
    supersedes: tuple[str, ...] = ()
    """Ids of the standing claims that end if the mutation is carried out."""
    on_approval: tuple[str, ...] = ()
    """Ids of the standing claims that end too if a human has approved the mutation."""
    obligations: Mapping[str, Json] = field(default_factory=dict)
    bundle: str = ""
    """Digest of the policy bundle that was evaluated; empty if the check uses none."""
    priorities: str = ""
    """Revision of the numbers that motives were ranked by; empty if the check ranks none."""
    warned: tuple[Finding, ...] = ()
    """What rules that are only tried would have objected."""
    asked: tuple[Asked, ...] = ()
    """What the check asked the policies."""


class Check(Protocol):
    """Decides one aspect of a mutation. It has no side effects: mutation and facts are frozen, and only the ledger takes claims."""

    @property
    def name(self) -> str:
        """Unique name, used in findings."""
        ...

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The check's opinion. An exception or an opinion without findings is a denial."""
        ...


def passed(check: Check) -> Opinion:
    """The opinion of a check without objections: one finding that allows."""
    return _passed(check.name)


@cache
def _passed(check: str) -> Opinion:
    """The same value each time: a change passes most checks, and there are few names."""
    finding = Finding(check=check, verdict=Verdict.ALLOW, rule=f"{check}.passed", reason="Nothing against it.")
    return Opinion(findings=(finding,))


class CheckChain:
    """Runs every check in order, so that the caller gets all objections at once."""

    def __init__(
        self,
        checks: Sequence[Check],
        *,
        rules: Callable[[], Mapping[str, RuleText]] = dict,
        approvers: ApproversPolicy | None = None,
        contests: ContestPolicy | None = None,
    ) -> None:
        """`rules` returns titles and places of the policies' rules. Raises ValueError if there are no checks or two have the same name."""
        names = [check.name for check in checks]
        if not checks or len(set(names)) != len(names):
            message = f"a chain needs checks with different names, not {names}"
            raise ValueError(message)
        self._checks = tuple(checks)
        self._rules = rules
        self._approvers = approvers
        self._contests = contests

    async def decide(self, mutation: Mutation, facts: Facts) -> Decision:
        """The decision from the findings of every check."""
        findings: list[Finding] = []
        warned: list[Finding] = []
        asked: list[Asked] = []
        supersedes: set[str] = set()
        on_approval: set[str] = set()
        obligations: dict[str, Json] = {}
        bundle = priorities = ""
        for check in self._checks:
            try:
                opinion = await check.examine(mutation, facts)
            except Exception:
                log.exception("check_broke", check=check.name, mutation=mutation.id)
                opinion = _broken(check)
            if not opinion.findings:
                opinion = _silent(check)
            findings += opinion.findings
            warned += opinion.warned
            asked += opinion.asked
            supersedes.update(opinion.supersedes)
            on_approval.update(opinion.on_approval)
            obligations.update(opinion.obligations)
            bundle, priorities = bundle or opinion.bundle, priorities or opinion.priorities
        rules = self._rules()
        decision = Decision(
            findings=titled(findings, rules),
            supersedes=tuple(sorted(supersedes)),
            mode=facts.mode,
            bundle=bundle,
            code=facts.code,
            priorities=priorities,
            obligations=obligations,
            contest=await self._contests.of(mutation, facts) if self._contests else None,
            warned=titled(warned, rules),
            asked=tuple(asked),
        )
        if decision.is_held:
            decision = await self._with_approvers(mutation, facts, decision)
        decision = with_approval(mutation, facts, decision, tuple(sorted(on_approval)))
        if facts.mode is Mode.OBSERVE:
            # An observed mutation is applied, so it holds the attribute afterwards, whatever arbitration would have decided.
            same = tuple(standing.claim.id for standing in facts.claims if standing.relation is Relation.SAME)
            decision = replace(decision, supersedes=tuple(sorted({*decision.supersedes, *same})))
        return decision

    async def _with_approvers(self, mutation: Mutation, facts: Facts, decision: Decision) -> Decision:
        """The held decision with the rule about who may approve it; a denial if the policies cannot tell."""
        if self._approvers is None:
            return replace(decision, needs=USUAL)
        try:
            return replace(decision, needs=await self._approvers.rule(mutation, facts, decision.findings))
        except Exception:
            log.exception("approvers_broke", mutation=mutation.id)
            reason = "The policies could not say who may approve this change, so it was refused; nothing was sent. Try again; the gateway's log says more."
            return replace(decision, findings=(*decision.findings, *_denied("approvers", "broke", reason).findings))


def _broken(check: Check) -> Opinion:
    reason = f"The {check.name} check could not be completed, so the change was refused; nothing was sent. Try again; the gateway's log says more."
    return _denied(check.name, "broke", reason)


def _silent(check: Check) -> Opinion:
    reason = f"The {check.name} check gave no answer, so the change was refused; nothing was sent."
    return _denied(check.name, "silent", reason)


def _denied(check: str, rule: str, reason: str) -> Opinion:
    return Opinion(findings=(Finding(check=check, verdict=Verdict.DENY, rule=f"{check}.{rule}", reason=reason),))
