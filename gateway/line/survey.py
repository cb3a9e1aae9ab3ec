"""Gathers the facts that the checks decide by: what the code declares, and what the ledger has recorded."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim, Couplings, Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant, Facts, GroupRules, Subject
from gateway.core.model.json import Json
from gateway.core.model.motive import Motive
from gateway.core.model.mutation import Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath, Overlaps, put_all
from gateway.core.model.signal import MotiveProof
from gateway.core.model.verdict import Mode
from gateway.core.ports import Clock, Ledger, LedgerView, PolicyEngine
from gateway.core.quick_init import quick_init
from gateway.effects.prices import PriceTable
from gateway.terraform.aws_location import GLOBAL_SERVICES
from gateway.terraform.couplings import coupling_partners
from gateway.terraform.security_group_rules import GROUP_ID, groups_of, rules_beside
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks


def with_disputes(subjects: Sequence[Subject], standing: Sequence[StandingClaim]) -> tuple[Subject, ...]:
    """The subjects, each with `disputed` set. A claim of the caller itself counts too: it may be in doubt."""
    claims = Overlaps((each.claim.address, each.claim.attribute, each.claim) for each in standing)
    return tuple(_marked(subject, claims) for subject in subjects)


def _marked(subject: Subject, claims: Overlaps[Claim]) -> Subject:
    effect = subject.effect
    if effect.action is not EffectAction.SET:
        return subject
    disputed = any(_differs(effect, claim) for claim in claims.of(effect.address, effect.attribute))
    return replace(subject, disputed=True) if disputed else subject


def _differs(effect: Effect, claim: Claim) -> bool:
    """Whether claim and effect give different values to what both are about. A claim on the whole resource is on its deletion."""
    if claim.attribute == WHOLE:
        return True
    if AttributePath(effect.attribute).covers(claim.attribute):
        return _part(effect.value, claim.attribute, effect.attribute) != claim.value
    return _part(claim.value, effect.attribute, claim.attribute) != effect.value


def _part(value: Json, inner: str, outer: str) -> Json:
    """The part of the value of `outer` that is the attribute `inner`."""
    return value if inner == outer else AttributePath(inner[len(outer) + 1 :]).value_at(value)


def nothing_known(now: datetime) -> Facts:
    """Empty facts, for the record of a denial because facts could not be gathered."""
    return Facts(now=now, stack="", mode=Mode.ENFORCE, subjects=())


class Survey:
    """Joins what the Terraform code declares with what the ledger has recorded."""

    def __init__(
        self,
        *,
        stacks: Stacks,
        ledger: Ledger,
        policy: PolicyEngine,
        clock: Clock,
        proof: Callable[[Motive | None, Mapping[str, str]], MotiveProof] = lambda _motive, _stacks: MotiveProof(),
        couplings: Callable[[], Couplings] = Couplings,
        prices: Callable[[], PriceTable] = PriceTable,
    ) -> None:
        """`proof` says what the evidence of a motive proves for resources, given by address with the name of their stack; `couplings`
        which attributes belong together, `prices` what resources cost.
        """
        self._proof = proof
        self._couplings = couplings
        self._prices = prices
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
        coupled = coupling_partners(mutation.effects, stacks, dependants, self._couplings())
        nearby = (dependant.address for group in dependants.values() for dependant in group)
        addresses = {*stacks, *nearby, *coupled.dependencies}
        others = _other_names(stacks, loaded)
        view = await self._ledger.view(
            addresses=sorted(addresses | others.keys()),
            actor=mutation.caller.actor,
            call_digest=mutation.call.digest,
            now=now,
            flip_window=self._policy.flip_window,
            changing={(effect.address, effect.attribute) for effect in mutation.effects},
            idempotency_key=mutation.idempotency_key,
        )
        claims = _standing(_renamed(view.claims, others), mutation.effects, coupled.dependencies)
        subjects = with_disputes(_subjects(mutation, stacks, dependants, view), claims)
        declaring = [stack for stack in stacks.values() if stack is not None]
        place = mutation.call.account, mutation.call.region
        possible = (declaring[0].name,) if declaring else loaded.names_at(*place)
        return Facts(
            now=now,
            stack=possible[0] if len(possible) == 1 else "",
            possible_stacks=possible if len(possible) > 1 else (),
            mode=_mode(mutation, stacks, loaded),
            subjects=subjects,
            claims=claims,
            coupled=coupled.attributes,
            approval=view.approval,
            flips=view.flips,
            held_before=view.held_before,
            proof=self._proof(
                mutation.motive, {address: stack.name if stack else "" for address, stack in stacks.items()}
            ),
            account=loaded.account(),
            open_claims=view.open_claims,
            stops=view.stops,
            used=view.used,
            group_rules=await self._group_rules(groups, loaded) if (groups := groups_of(subjects)) else GroupRules(),
            code=loaded.revision,
            declared=loaded.declared,
            stacks=tuple(sorted({stack.name for stack in declaring})),
            cost=self._prices().difference(mutation, subjects, _regions(stacks)),
            attempt=view.attempt,
        )

    async def _group_rules(self, groups: Mapping[str, str], loaded: Stacks) -> GroupRules:
        """The other rules of the security groups whose ingress the call writes."""
        applied = await self._ledger.applied_with(GROUP_ID, sorted(set(groups.values())))
        return rules_beside(groups, loaded, applied)


def _regions(stacks: Mapping[str, Stack | None]) -> Mapping[str, str]:
    """The regions of the resources, by address."""
    return {
        address: stack.places.of(stack.local(address)).region for address, stack in stacks.items() if stack is not None
    }


def _other_names(stacks: Mapping[str, Stack | None], loaded: Stacks) -> Mapping[str, str]:
    """What the resources were called before another stack had their addresses, or while it had: their claims of then still stand."""
    if len(loaded.all) == 1:
        return {}
    return {stack.other_name(address): address for address, stack in stacks.items() if stack is not None}


def _renamed(claims: Sequence[Claim], others: Mapping[str, str]) -> Sequence[Claim]:
    if not others:
        return claims
    return [replace(each, address=others[each.address]) if each.address in others else each for each in claims]


def _mode(mutation: Mutation, stacks: Mapping[str, Stack | None], loaded: Stacks) -> Mode:
    """The strictest of the modes of the affected resources.

    A call with no known effects might touch any stack of its account and region. It is observed if all of these observe. What an agent asks
    for might also be on what no code declares, which is nothing for agents, so it is observed only if the whole gateway observes.
    """
    modes = [loaded.default_mode if stack is None else stack.mode for stack in stacks.values()]
    every = [loaded.default_mode, *(stack.mode for stack in loaded.all)]
    if Mode.ENFORCE not in (modes or every):
        return Mode.OBSERVE
    if modes or mutation.caller.kind is ActorKind.AGENT:
        return Mode.ENFORCE
    call = mutation.call
    return loaded.mode_at(call.account or loaded.account(), "" if call.service in GLOBAL_SERVICES else call.region)


def _subjects(
    mutation: Mutation,
    stacks: Mapping[str, Stack | None],
    dependants: Mapping[str, tuple[Dependant, ...]],
    view: LedgerView,
) -> tuple[Subject, ...]:
    """One subject per effect. What is the same for all effects on a resource is worked out once for each resource."""
    values: dict[str, list[tuple[str, Json]]] = {}
    for (address, attribute), value in view.values.items():
        if attribute != WHOLE:
            values.setdefault(address, []).append((attribute, value))
    wanted = wanted_values(mutation.effects)
    resources = {
        address: _resource(stack, address, values.get(address, ()), wanted[address], dependants[address])
        for address, stack in stacks.items()
    }
    told = mutation.caller.sees_all
    return tuple(
        _subject(effect, resources[effect.address], stacks[effect.address], told=told) for effect in mutation.effects
    )


def wanted_values(effects: Sequence[Effect]) -> Mapping[str, Sequence[tuple[str, Json]]]:
    """The attributes that effects give values to, by address; none for one that only loses or runs something."""
    wanted: dict[str, list[tuple[str, Json]]] = {}
    for effect in effects:
        puts = wanted.setdefault(effect.address, [])
        if effect.action in (EffectAction.SET, EffectAction.CREATE) and effect.attribute != WHOLE:
            puts.append((effect.attribute, effect.value))
    return wanted


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class _Resource:
    """What all effects on one resource have in common."""

    before: Mapping[str, Json]
    after: Mapping[str, Json]
    contract: Contract
    dependants: tuple[Dependant, ...]
    exists: bool


def _resource(
    stack: Stack | None,
    address: str,
    values: Sequence[tuple[str, Json]],
    wanted: Sequence[tuple[str, Json]],
    dependants: tuple[Dependant, ...],
) -> _Resource:
    recorded = stack.recorded(address) if stack else None
    before = put_all(recorded or {}, values)
    return _Resource(
        before=before,
        after=put_all(before, wanted),
        contract=stack.contract(address) if stack else Contract(),
        dependants=dependants,
        exists=recorded is not None,
    )


def _subject(effect: Effect, resource: _Resource, stack: Stack | None, *, told: bool) -> Subject:
    """The subject of an effect; `told` says whether the caller may know secrets."""
    return Subject(
        effect=effect,
        before=AttributePath(effect.attribute).value_at(resource.before),
        declared=stack.declared(effect.address, effect.attribute) if stack else None,
        attributes_before=resource.before,
        attributes_after=resource.after,
        contract=resource.contract,
        dependants=resource.dependants,
        exists=resource.exists,
        hidden=effect.sensitive and not told,
    )


def _standing(
    claims: Sequence[Claim], effects: Sequence[Effect], dependencies: Collection[str]
) -> tuple[StandingClaim, ...]:
    touched: dict[str, set[str]] = {}
    for effect in effects:
        touched.setdefault(effect.address, set()).add(effect.attribute)
    return tuple(
        StandingClaim(claim=claim, relation=_relation(claim, touched.get(claim.address, frozenset()), dependencies))
        for claim in claims
    )


def _relation(claim: Claim, touched: Collection[str], dependencies: Collection[str]) -> Relation:
    """How the claim relates to a change of these attributes of its resource."""
    if not touched:
        return Relation.DEPENDENCY if claim.address in dependencies else Relation.DEPENDANT
    same = WHOLE in touched or claim.attribute == WHOLE or claim.attribute in touched
    return Relation.SAME if same else Relation.RESOURCE
