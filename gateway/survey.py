"""Gather the `Facts` a mutation will be judged by, before any check runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from gateway.model.claim import Claim, Relation, StandingClaim
from gateway.model.contract import Contract
from gateway.model.facts import Dependant, Facts, Subject
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.path import AttributePath
from gateway.model.verdict import Mode
from gateway.ports import Clock, Ledger, LedgerView, PolicyEngine
from gateway.terraform.stacks import Stack, Stacks


def nothing_known(now: datetime) -> Facts:
    """The facts where none could be gathered: enough to record the denial that follows."""
    return Facts(now=now, stack="", mode=Mode.ENFORCE, subjects=())


class Survey:
    """Joins what the Terraform code says with what the ledger says."""

    def __init__(self, *, stacks: Stacks, ledger: Ledger, policy: PolicyEngine, clock: Clock) -> None:
        self._stacks = stacks
        self._ledger = ledger
        self._policy = policy
        self._clock = clock

    async def of(self, mutation: Mutation) -> Facts:
        """All facts about the things this mutation touches. Raises whatever breaks; the line turns that into a denial."""
        now = self._clock.now()
        # The code may be reloaded while the ledger is asked; what is judged and what is recorded as judged must be one version.
        law = self._stacks.snapshot()
        stacks = {effect.address: law.declaring(effect.address) for effect in mutation.effects}
        dependants = {address: stack.dependants(address) if stack else () for address, stack in stacks.items()}
        addresses = {*stacks, *(dependant.address for group in dependants.values() for dependant in group)}
        view = await self._ledger.view(
            addresses=sorted(addresses),
            actor=mutation.caller.actor,
            call_digest=mutation.call.digest,
            now=now,
            flip_window=self._policy.flip_window,
        )
        named = [stack for stack in stacks.values() if stack is not None]
        return Facts(
            now=now,
            stack=named[0].name if named else law.default_name,
            mode=_strictest([law.default_mode if stack is None else stack.mode for stack in stacks.values()], law),
            subjects=tuple(
                _subject(effect, mutation.effects, stacks[effect.address], dependants[effect.address], view)
                for effect in mutation.effects
            ),
            claims=tuple(_standing(claim, mutation.effects) for claim in view.claims),
            approval=view.approval,
            flips=view.flips,
            code=law.revision,
        )


def _strictest(modes: Sequence[Mode], law: Stacks) -> Mode:
    """Things that no stack declares count with the default mode. A call of which nothing is understood may reach into any stack, so
    it is only observed where all of them are.
    """
    anywhere = [law.default_mode, *(stack.mode for stack in law.all)]
    return Mode.ENFORCE if Mode.ENFORCE in (modes or anywhere) else Mode.OBSERVE


def _subject(
    effect: Effect, effects: Sequence[Effect], stack: Stack | None, dependants: tuple[Dependant, ...], view: LedgerView
) -> Subject:
    recorded = stack.recorded(effect.address) if stack else None
    before: Mapping[str, Json] = recorded or {}
    for (address, attribute), value in view.values.items():
        if address == effect.address and attribute != WHOLE:
            before = AttributePath(attribute).put(before, value)
    after = before
    for other in effects:
        if (
            other.address == effect.address
            and other.action in (EffectAction.SET, EffectAction.CREATE)
            and other.attribute != WHOLE
        ):
            after = AttributePath(other.attribute).put(after, other.value)
    return Subject(
        effect=effect,
        before=AttributePath(effect.attribute).value_at(before),
        declared=stack.declared(effect.address, effect.attribute) if stack else None,
        attributes_before=before,
        attributes_after=after,
        contract=stack.contract(effect.address) if stack else Contract(),
        dependants=dependants,
        exists=recorded is not None,
    )


def _standing(claim: Claim, effects: Sequence[Effect]) -> StandingClaim:
    touched = [effect for effect in effects if effect.address == claim.address]
    if not touched:
        return StandingClaim(claim=claim, relation=Relation.DEPENDANT)
    same = any(claim.attribute in (effect.attribute, WHOLE) or effect.attribute == WHOLE for effect in touched)
    return StandingClaim(claim=claim, relation=Relation.SAME if same else Relation.RESOURCE)
