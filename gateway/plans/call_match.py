"""Matches a call of a plan's session to the planned changes: by its effects if they are known, else by the rows that name its resource."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import (
    FEWEST_SETTING_CALLS,
    PlanRules,
    PlanSession,
    PlanUse,
    SessionChange,
    UsedChange,
)
from gateway.effects.derived_rows import DerivedRow
from gateway.effects.schema import TypeSchema
from gateway.plans.planned_values import PlannedResource
from gateway.terraform.aws_location import GLOBAL_TYPES
from gateway.terraform.stack import Stack

OWN = frozenset({"arn", "id", "key_id"})
"""Attributes that name the resource itself and are not known before it is created."""
ADOPTED = "aws_default_"
"""How the types begin that take over what AWS made with a VPC or an account: a plan creates them, and nothing is created."""
EXACT_CLASSES = frozenset({CallClass.EXECUTE, CallClass.CREDENTIAL, CallClass.SECRET})
"""Calls of these classes need a row that knows every attribute."""

_MAKING = (PlannedAction.CREATE, PlannedAction.REPLACE)
_DIRECTIONS: Mapping[EffectAction, tuple[PlannedAction, ...]] = {
    EffectAction.CREATE: _MAKING,
    EffectAction.DELETE: (PlannedAction.DELETE, PlannedAction.REPLACE),
    EffectAction.SET: (PlannedAction.UPDATE, *_MAKING),
}
"""The planned changes that a call in each direction can be a part of. What is created is often set up by further calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCall:
    """One call of a session, with what it is compared with."""

    session: PlanSession
    call: Call
    call_class: CallClass
    effects: tuple[Effect, ...]
    """What a hand-made row says that it does; empty if none understands it."""
    rows: tuple[DerivedRow, ...]
    stack: Stack
    rules: PlanRules
    used: Mapping[UsedChange, int]
    made: Mapping[str, str]
    """By address, the id that AWS chose for what this session created."""
    schemas: Mapping[str, TypeSchema] = field(repr=False)

    empty_secret: Json = field(default=None, repr=False)
    """How an effect shows an empty text in the place of a secret."""
    carries: bool = False
    """Whether it makes AWS carry out other calls. Those of the plan were judged with the plan, so it must be exactly what the plan has."""

    @property
    def operation(self) -> str:
        """`service:Operation`."""
        return f"{self.call.service}:{self.call.operation}"

    def creates_several(self, resource_type: str) -> bool:
        """Whether the call creates more than the one resource that is planned."""
        asked = self.call.parameters.get(self.rules.counted.get(resource_type, ""))
        return asked is not None and str(asked) != "1"

    @property
    def is_exact(self) -> bool:
        """Whether only a row that knows every attribute explains it."""
        return self.carries or self.call_class in EXACT_CLASSES or self.call.service in self.rules.exact_services

    def resource(self, change: SessionChange) -> PlannedResource:
        """The change beside what the state records."""
        made = self.made.get(change.address, "")
        return PlannedResource(change, self.stack.recorded(change.address) or {}, made)

    def may_have_id(self, change: SessionChange) -> bool:
        """Whether a planned resource may have an id that nobody knows: it was created in the session, or adopted as AWS made it."""
        created = any(address == change.address and action == EffectAction.CREATE for address, action, _ in self.used)
        return created or change.resource_type.startswith(ADOPTED)

    def is_here(self, change: SessionChange) -> bool:
        """Whether the resource may be in the account and region that the call goes to."""
        call = self.call
        if self.stack.recorded(change.address) is not None:
            return self.stack.places.of(self.stack.local(change.address)).may_be(call.account, call.region)
        is_global = change.resource_type.startswith(GLOBAL_TYPES)
        return is_global or not (change.region and call.region) or change.region == call.region

    def has_left(self, change: SessionChange, action: EffectAction, taken: Counter[tuple[str, str]]) -> bool:
        """Whether the operation was sent less often for the change than the plan has such changes; `taken` counts this call."""
        before = self.used.get((change.address, action.value, self.operation), 0)
        return before + taken[change.address, action.value] < most_uses(change, action)


def most_uses(change: SessionChange, action: EffectAction) -> int:
    """How often one operation may be sent for a planned change: once to create or delete, to set as often as it has attributes."""
    return max(FEWEST_SETTING_CALLS, change.size) if action is EffectAction.SET else 1


def fits_direction(change: SessionChange, action: EffectAction) -> bool:
    """Whether a call in this direction can be a part of the change."""
    return change.action in _DIRECTIONS.get(action, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMatch:
    """How a call fits the plan."""

    effects: tuple[Effect, ...] = ()
    """Its effects on the planned addresses."""
    uses: tuple[PlanUse, ...] = ()
    row: str = ""
    objection: str = ""
    """Why it fits no planned change, as half a sentence; empty if it does."""
    foreign: bool = False
    """Whether it is about a resource that the plan does not change, so that another row may still explain it."""
    only_tags: bool = False
    """Whether it differs from the plan in tags only, which may be planned as resources of their own."""


def by_effects(asked: SessionCall) -> CallMatch:
    """The match of a call whose effects a hand-made row knows: each must be planned, with its value."""
    taken: Counter[tuple[str, str]] = Counter()
    effects: list[Effect] = []
    uses: list[PlanUse] = []
    for group in _by_address(asked.effects):
        action = _direction(group)
        if action is None:
            return CallMatch(
                objection=f"it does something to {group[0].address} that is no planned change", foreign=True
            )
        change = _planned(asked, group, action, taken)
        if change is None:
            return CallMatch(objection=_unplanned(asked, group[0], action), foreign=not _is_planned(asked, group[0]))
        if not asked.has_left(change, action, taken):
            # By its own name it is that resource; by a name that nobody knows yet another row may know another one.
            others = change.address != group[0].address
            return CallMatch(objection=f"the plan has no more such changes of {change.address}", foreign=others)
        if action is EffectAction.CREATE and asked.creates_several(change.resource_type):
            return CallMatch(objection=f"it creates several, and {change.address} is one")
        resource = asked.resource(change)
        if differing := next((each.attribute for each in group if not _value_fits(asked, resource, each)), ""):
            return CallMatch(
                objection=f"it gives {differing} of {change.address} another value than the plan does",
                only_tags=all(AttributePath(each.attribute).top == "tags" for each in group),
            )
        taken[change.address, action.value] += 1
        uses.append(PlanUse(address=change.address, action=action.value, most=most_uses(change, action)))
        effects += [_moved(each, change.address, asked.stack) for each in group]
    implied = [each for each in asked.effects if each.implied]
    return CallMatch(effects=(*effects, *implied), uses=tuple(uses), row="hand")


def _by_address(effects: Sequence[Effect]) -> list[list[Effect]]:
    groups: dict[str, list[Effect]] = {}
    for effect in effects:
        if not effect.implied:
            groups.setdefault(effect.address, []).append(effect)
    return list(groups.values())


def _direction(group: Sequence[Effect]) -> EffectAction | None:
    """Whether the effects create, delete or set; None if they invoke the resource as a whole."""
    whole = {each.action for each in group if each.attribute == WHOLE}
    if EffectAction.INVOKE in whole:
        return None
    return next((action for action in (EffectAction.DELETE, EffectAction.CREATE) if action in whole), EffectAction.SET)


def _planned(
    asked: SessionCall, group: Sequence[Effect], action: EffectAction, taken: Counter[tuple[str, str]]
) -> SessionChange | None:
    """The planned change that the effects belong to: that of their address, else one of their type whose identity fits.

    Of several, the one that has the id which AWS chose in this session, then one that has the values of the call.
    """
    effect = group[0]
    same = next((each for each in asked.session.changes if each.address == effect.address), None)
    if same is not None:
        # Some resources are deleted by a call that switches them off, and others must be let go of before they are deleted.
        off = action is EffectAction.SET and same.action is PlannedAction.DELETE
        return same if (off or fits_direction(same, action)) and asked.is_here(same) else None
    elsewhere = effect.declared and not asked.stack.knows(effect.address)
    if elsewhere or asked.stack.recorded(effect.address) is not None:
        return None  # a resource of its own, which the plan leaves as it is
    makes = action is EffectAction.CREATE
    fitting = [
        each
        for each in asked.session.changes
        if each.resource_type == effect.resource_type
        and fits_direction(each, action)
        and asked.is_here(each)
        and _identity_fits(asked.resource(each), effect.identity, has_id=makes or asked.may_have_id(each))
    ]
    fitting = [each for each in fitting if _is_named(asked.resource(each), effect.identity)] or fitting
    left = [each for each in fitting if asked.has_left(each, action, taken)] or fitting
    alike = (each for each in left if all(_value_fits(asked, asked.resource(each), one) for one in group))
    return next(alike, left[0] if left else None)


def _is_named(resource: PlannedResource, identity: Mapping[str, str]) -> bool:
    """Whether the call names the resource by the id that AWS chose for it in this session."""
    return bool(resource.made) and any(resource.may_be(value) for value in identity.values())


def _identity_fits(resource: PlannedResource, identity: Mapping[str, str], *, has_id: bool) -> bool:
    """Whether the resource may be the one that the call names: every identifying attribute that is known is equal.

    Without `has_id` nothing has been created yet, so an id that nobody knows is another resource's.
    """
    for name, value in identity.items():
        known = resource.known(name)
        if known and value not in map(str, known):
            return False
        if not known and not resource.is_free(name) and resource.change.action not in _MAKING:
            return False
        if not known and name in OWN and not (has_id and resource.may_be(value)):
            return False
    return True


def _is_planned(asked: SessionCall, effect: Effect) -> bool:
    return any(each.address == effect.address for each in asked.session.changes)


def _unplanned(asked: SessionCall, effect: Effect, action: EffectAction) -> str:
    verb = {EffectAction.CREATE: "create", EffectAction.DELETE: "delete"}.get(action, "change")
    if _is_planned(asked, effect):
        return f"the plan does not {verb} {effect.address} there"
    return f"the plan does not {verb} this {effect.resource_type}"


def _value_fits(asked: SessionCall, resource: PlannedResource, effect: Effect) -> bool:
    if effect.attribute == WHOLE:
        return True
    if effect.action is EffectAction.INVOKE:
        return resource.change.size > 0
    if effect.attribute in effect.identity and not resource.known(effect.attribute):
        return True  # a name that AWS or the provider chooses
    is_nothing = effect.value is not None and effect.value == asked.empty_secret
    return resource.fits(effect.attribute, None if is_nothing else effect.value)


def _moved(effect: Effect, address: str, stack: Stack) -> Effect:
    """The effect on the planned address."""
    return replace(effect, address=address, declared=stack.knows(address))


def as_planned(asked: SessionCall, change: SessionChange, action: EffectAction) -> tuple[Effect, ...]:
    """The effects of a call of which only the resource is known: the resource as a whole, and of a change the planned attributes."""
    bare = Effect(
        address=change.address,
        attribute=WHOLE,
        action=action,
        resource_type=change.resource_type,
        declared=asked.stack.knows(change.address),
        basis=Basis.RESOURCE,
    )
    if action is not EffectAction.SET:
        return (bare,)
    invoked = replace(bare, action=EffectAction.INVOKE)
    names: Sequence[str] = [*change.values, *sorted(change.free)] or [WHOLE]
    return tuple(replace(invoked, attribute=name) for name in names)
