"""Opens a session for the apply of a plan: judged as one change, held for a person if need be, and recorded with its key."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from gateway.core.errors import Malformed, NotAllowed
from gateway.core.model.caller import Caller
from gateway.core.model.ids import new_id
from gateway.core.model.motive import Motive
from gateway.core.model.plan import Plan
from gateway.core.model.plan_session import PlanRules, SessionChange
from gateway.core.model.verdict import Verdict
from gateway.core.ports import Clock, Key, PlanLedger
from gateway.line.checks.approval import with_answer
from gateway.plans.check import PlanCheck, PlanVerdict
from gateway.terraform.stack import Stack

LONGEST: Final = timedelta(hours=12)
"""The longest session, as of every other one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPlan:
    """The verdict about a plan that was to be applied, and the key of its session."""

    verdict: PlanVerdict
    """Its mutation is the plan's, or the one that is held for the same plan already."""
    key: Key | None
    """None if the plan is held or denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOpener:
    """Opens and ends sessions."""

    check: PlanCheck
    sessions: PlanLedger
    clock: Clock
    rules: Callable[[], PlanRules] = field(default=PlanRules)

    async def open(
        self, caller: Caller, plan: Plan, *, stack: str, motive: Motive | None, lasts: timedelta
    ) -> OpenedPlan:
        """Judge the plan, record the decision, and open a session if every change would be carried out.

        Raises what `PlanCheck.check` raises, `errors.NotAllowed` for a caller that may open none, and what the ledger raises.
        """
        self._refuse(caller, motive or caller.motive)
        verdict, facts = await self.check.judged(caller, plan, stack=stack, motive=motive, mutation_id=new_id("mut"))
        decision = verdict.decision
        if decision.verdict is Verdict.HOLD:
            answered = await self.check.ledger.answered(caller.actor, verdict.mutation.call.digest)
            decision = with_answer(decision, answered, facts.now)
        changes = session_changes(plan, self.check.stack_of(verdict.stack))
        key = await self.sessions.record_plan(verdict.mutation, facts, decision, changes, min(lasts, LONGEST))
        verdict = replace(verdict, decision=decision)
        if decision.attached:
            verdict = replace(verdict, mutation=replace(verdict.mutation, id=decision.attached))
        await self.check.record(verdict, origin="session")
        return OpenedPlan(verdict=verdict, key=key)

    async def end(self, caller: Caller, plan: str, *, exit_code: int | None) -> None:
        """End a session of the caller; with its own key, only that one. Raises `errors.NotFound`, `errors.NotAllowed`."""
        if caller.plan and caller.plan != plan:
            raise NotAllowed("The key of a plan's session ends that session only. Nothing was ended.")
        await self.sessions.end(plan, by=caller, at=self.clock.now(), exit_code=exit_code)

    def _refuse(self, caller: Caller, motive: Motive | None) -> None:
        if caller.in_session:
            raise NotAllowed(
                "A session key cannot open the session of a plan; use the standing key it was made with. Nothing was checked."
            )
        openers = self.rules().openers
        if caller.kind not in openers:
            kinds = " and ".join(sorted(kind.value for kind in openers)) or "nobody"
            raise NotAllowed(
                f"The policies let {kinds} open the session of a plan (`plans.open_sessions`), and {caller.actor} is of the kind "
                f"{caller.kind.value}. Nothing was checked; send the changes one by one, or let a pipeline apply the plan."
            )
        if motive is not None and motive.wanted_for is not None:
            raise Malformed(
                "The changes of a plan stay until another plan changes them, so the motive of its session cannot say for how long they "
                "are wanted. Nothing was checked; leave that out."
            )


def session_changes(plan: Plan, stack: Stack) -> tuple[SessionChange, ...]:
    """The planned changes as the calls of the session are compared with them; the values are in the effects of the plan's mutation."""
    found = []
    for change in plan.changes:
        moved = bool(change.previous) and stack.knows(change.previous) and not stack.knows(change.address)
        found.append(
            SessionChange(
                address=stack.named(change.previous if moved else change.address),
                resource_type=change.resource_type,
                action=change.action,
                region=change.region,
                free=frozenset(change.computed),
                tags=change.tags,
            )
        )
    return tuple(found)
