"""Judges the calls of a plan's session: by the plan, and by what happened since it was judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, derived_rows
from gateway.core.errors import NotFound
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Couplings
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker
from gateway.core.model.mutation import Basis, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.plan_session import PlannedPart, PlanRules, PlanSession
from gateway.core.model.verdict import Decision, Mode
from gateway.core.ports import Clock, Ledger, PlanLedger, PolicyEngine
from gateway.effects.prices import PriceTable
from gateway.effects.proxies.alarms import ACTIONS, acts
from gateway.effects.proxies.unpacking import carries_calls
from gateway.effects.registry import SERVICES
from gateway.effects.schema import TypeSchema, known_schemas
from gateway.line.checks.chain import CheckChain
from gateway.line.survey import Survey
from gateway.plans.beside import beside_of
from gateway.plans.call_match import NOT_YET, CallMatch, SessionCall, by_effects
from gateway.plans.check import OneStack, one_stack
from gateway.plans.planned_items import by_item, writes_item
from gateway.plans.planned_parts import by_owner, by_state, with_deleted
from gateway.plans.planned_statements import by_statement, runs_statement
from gateway.plans.row_match import by_rows
from gateway.plans.untold_values import with_untold
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

_ACTS: Final = "the alarm does more than notify and scale, and the plan does not tell what"
_NEXT: Final = "It is held: approve it, then repeat the identical call; or change the code, and plan and apply again with `sentinel apply`."


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCalls:
    """What the line asks about the calls of a plan's session."""

    stacks: Stacks
    ledger: Ledger
    sessions: PlanLedger
    policy: PolicyEngine
    checks: CheckChain
    clock: Clock
    rules: Callable[[], PlanRules] = PlanRules
    couplings: Callable[[], Couplings] = field(default=Couplings)
    prices: Callable[[], PriceTable] = field(default=PriceTable)
    rows: Callable[[str, str], tuple[DerivedRow, ...]] = derived_rows
    """The derived rows of a service's operation, the accepted ones among them."""
    masker: Masker = PER_RUN
    """The one that masks secrets in effects."""

    async def surveyed(self, mutation: Mutation) -> tuple[Mutation, Facts]:
        """The mutation as a part of its plan, and the facts about it. Any exception is passed on: the line denies then."""
        session = await self.sessions.session(mutation.caller.key_id)
        if session is None or session.id != mutation.caller.plan:
            raise NotFound(f"There is no session of plan {mutation.caller.plan}.")
        one = one_stack(self.stacks, session.stack)
        part, effects = await self._part(mutation, session, one.stack)
        if part.fits:
            effects = _with_beside(effects, mutation.effects, session)
            one = one.with_beside(self.stacks, effects)
        mutation = replace(mutation, part=part, effects=effects)
        facts = await self._survey(one if part.fits else self.stacks).of(mutation)
        return mutation, replace(facts, stack=session.stack, mode=_mode(facts, one.stack, part, mutation))

    async def stack_of(self, caller: Caller) -> str:
        """The stack of the plan in whose session the caller is; empty if there is none."""
        session = await self.sessions.session(caller.key_id)
        return session.stack if session is not None and session.id == caller.plan else ""

    async def decide(self, mutation: Mutation, facts: Facts) -> Decision:
        """The decision. What its own plan claimed stays claimed, whatever the mode."""
        decision = await self.checks.decide(mutation, facts)
        session = mutation.part.session.id if mutation.part is not None else ""
        own = {each.claim.id for each in facts.claims if each.claim.mutation_id == session}
        return replace(decision, supersedes=tuple(each for each in decision.supersedes if each not in own))

    async def _part(
        self, mutation: Mutation, session: PlanSession, stack: Stack
    ) -> tuple[PlannedPart, tuple[Effect, ...]]:
        call = mutation.call
        by_hand = all(effect.basis is Basis.HAND for effect in mutation.effects)
        types = frozenset({each.resource_type for each in session.changes})
        asked = SessionCall(
            session=session,
            call=call,
            call_class=mutation.call_class,
            effects=(mutation.effects or mutation.own) if by_hand else (),
            rows=self.rows(call.service, call.operation),
            stack=stack,
            rules=self.rules(),
            used=await self.sessions.used(session.id),
            made=await self.sessions.made(session.id),
            there=await self.sessions.created(session.id),
            schemas=_schemas(types),
            defaults=_defaults(call.service, call.operation),
            empty_secret=self.masker.mask(""),
            carries=carries_calls(call.service, call.operation, SERVICES),
        )
        found = match_of_present(asked)
        effects, untold = with_untold(asked, found, self.masker)
        is_acting = any(attribute in ACTIONS for _, attribute in untold) and acts(call)
        if said := found.objection or (_ACTS if is_acting else ""):
            objection = f"{asked.operation} fits no change of plan {session.id}: {said}. Nothing was sent. {_NEXT}"
            return PlannedPart(session=session, objection=objection, makes=found.makes), mutation.effects
        return PlannedPart(session=session, uses=found.uses, row=found.row, untold=untold), effects

    def _survey(self, stacks: Stacks | OneStack) -> Survey:
        return Survey(
            stacks=stacks,
            ledger=self.ledger,
            policy=self.policy,
            clock=self.clock,
            couplings=self.couplings,
            prices=self.prices,
        )


def _is_of_one_tag(row: DerivedRow) -> bool:
    """Whether the row is of a type whose resources are one tag each (`aws_ecs_tag`), and compares its key and its value."""
    parameters = (*row.identity, *row.attributes)
    whole = any(source.attribute in ("tags", "tags_all") for source in row.attributes.values())
    return (
        row.confidence is Confidence.ATTRIBUTES
        and not whole
        and any(name.lower().startswith("tags.") for name in parameters)
    )


def _says_more(asked: SessionCall, row: DerivedRow) -> bool:
    """Whether the provider makes with a call what the hand-made row knows only as something that is done to a resource as a whole.

    A call on data (an object of a bucket) does so to each declared one; else it has to be a deletion, of which a sure row knows all.
    """
    if asked.call_class is CallClass.DATA:
        return row.origin is Origin.TRACED
    whole = {effect.resource_type for effect in asked.effects if effect.action is EffectAction.INVOKE}
    is_sure = row.origin is Origin.TRACED and row.confidence is Confidence.ATTRIBUTES
    return is_sure and row.resource_type in whole and row.actions == {EffectAction.DELETE}


def match_of_present(asked: SessionCall) -> CallMatch:
    """How a call fits what is there: what the session has not created yet is nothing that a call could set."""
    found = match_of(asked)
    if absent := asked.not_there(found.uses):
        found = match_of(asked.without(absent))
        if found.objection or asked.not_there(found.uses):
            return CallMatch(objection=f"the plan creates {absent[0].address}, {NOT_YET}")
    objection = asked.of_absent(found.uses)
    return CallMatch(objection=objection) if objection else found


def match_of(asked: SessionCall) -> CallMatch:
    """How a call fits: by a hand-made row if one understands it; by another row only what concerns other types than that one.

    Tags of a planned resource that its own change does not have may be planned as resources of their own.
    """
    if not asked.effects and runs_statement(asked):
        return by_statement(asked)
    if not asked.effects:
        found = by_rows(asked)
        gone = with_deleted(asked) if found.objection else found
        return found if gone.objection else gone
    found = by_effects(asked)
    if not (found.foreign or found.only_tags):
        return found
    if found.foreign and writes_item(asked):
        return by_item(asked)
    for beside in (by_owner, by_state) if found.foreign else ():
        if not (part := beside(asked)).objection:
            return part
    own = {effect.resource_type for effect in asked.effects}
    others = tuple(
        row
        for row in asked.rows
        if (row.resource_type not in own and (found.foreign or _is_of_one_tag(row))) or _says_more(asked, row)
    )
    other = by_rows(replace(asked, rows=others)) if others else found
    return found if other.objection else other


def _with_beside(effects: Sequence[Effect], own: Sequence[Effect], session: PlanSession) -> tuple[Effect, ...]:
    """The effects of a call as a part of its plan, with those that it has on declared resources which the plan does not change."""
    planned = {change.address: {**change.values, **dict.fromkeys(change.free)} for change in session.changes}
    beside = {(each.address, each.attribute): each for each in beside_of(own, planned)}
    return (*(each for each in effects if (each.address, each.attribute) not in beside), *beside.values())


def _mode(facts: Facts, stack: Stack, part: PlannedPart, mutation: Mutation) -> Mode:
    """The mode of the session's stack; enforced if the call is about something else that is enforced."""
    elsewhere = not part.fits or any(effect.beside for effect in mutation.effects)
    if not elsewhere or not mutation.effects:
        return stack.mode
    return Mode.ENFORCE if Mode.ENFORCE in (stack.mode, facts.mode) else Mode.OBSERVE


def _defaults(service: str, operation: str) -> Mapping[str, Json]:
    row = SERVICES.get(service, {}).get(operation)
    if row is None:
        return {}
    return {**row.defaults, **{name: each for members in row.overwrites.values() for name, each in members.items()}}


@lru_cache(maxsize=16)
def _schemas(types: frozenset[str]) -> Mapping[str, TypeSchema]:
    return known_schemas(types)
