"""Gathers the `Facts` that the checks decide by, before any check runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from gateway.model.claim import Claim, Relation, StandingClaim
from gateway.model.contract import Contract
from gateway.model.disputes import with_disputes
from gateway.model.facts import Dependant, Facts, Subject
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction, Mutation
from gateway.model.path import AttributePath
from gateway.model.verdict import Mode
from gateway.ports import Clock, Ledger, LedgerView, PolicyEngine
from gateway.terraform.stacks import Stack, Stacks


def nothing_known(now: datetime) -> Facts:
    """Empty facts, for the record of a denial because facts could not be gathered."""
    return Facts(now=now, stack="", mode=Mode.ENFORCE, subjects=())


class Survey:
    """Joins what the Terraform code declares with what the ledger has recorded."""

    def __init__(self, *, stacks: Stacks, ledger: Ledger, policy: PolicyEngine, clock: Clock) -> None:
        self._stacks = stacks
        self._ledger = ledger
        self._policy = policy
        self._clock = clock

    async def of(self, mutation: Mutation) -> Facts:
        """All facts about the resources that this mutation affects. Any exception is passed on; the pipeline turns it into a denial."""
        now = self._clock.now()
        # The code may be reloaded while the ledger is read. The checks and the record must see the same version.
        loaded = self._stacks.snapshot()
        stacks = {effect.address: loaded.declaring(effect.address) for effect in mutation.effects}
        dependants = {address: stack.dependants(address) if stack else () for address, stack in stacks.items()}
        addresses = {*stacks, *(dependant.address for group in dependants.values() for dependant in group)}
        view = await self._ledger.view(
            addresses=sorted(addresses),
            actor=mutation.caller.actor,
            call_digest=mutation.call.digest,
            now=now,
            flip_window=self._policy.flip_window,
        )
        declaring = [stack for stack in stacks.values() if stack is not None]
        facts = Facts(
            now=now,
            stack=declaring[0].name if declaring else loaded.default_name,
            mode=_strictest(
                [loaded.default_mode if stack is None else stack.mode for stack in stacks.values()], loaded
            ),
            subjects=tuple(
                _subject(effect, mutation.effects, stacks[effect.address], dependants[effect.address], view)
                for effect in mutation.effects
            ),
            claims=tuple(_standing(claim, mutation.effects) for claim in view.claims),
            approval=view.approval,
            flips=view.flips,
            open_claims=view.open_claims,
            code=loaded.revision,
        )
        return with_disputes(facts)


def _strictest(modes: Sequence[Mode], loaded: Stacks) -> Mode:
    """The strictest of the modes of the affected resources. A call with no known effects might touch any stack, so it is observed only
    if every stack is in observe mode.
    """
    every = [loaded.default_mode, *(stack.mode for stack in loaded.all)]
    return Mode.ENFORCE if Mode.ENFORCE in (modes or every) else Mode.OBSERVE


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
