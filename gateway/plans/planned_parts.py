"""Matches a call that makes a part of a resource with the planned resource that holds the part: a route with its route table.

A row names the part as a resource of its own. Of a resource that the state records the effects are on the owner already
(`gateway.effects.declared_forms`); what the plan makes is recorded nowhere yet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.plan_session import PlanUse, SessionChange
from gateway.plans.call_match import CallMatch, SessionCall, as_planned, fits_direction, most_uses
from gateway.plans.planned_values import PlannedResource
from gateway.terraform.forms import PARTS_OF_TYPE, Holding, Part

_SET = EffectAction.SET


def by_owner(asked: SessionCall) -> CallMatch:
    """The match of a call all of whose effects make one part: it is in the planned list of its owner, with all that the call gives it."""
    given = [effect for effect in asked.effects if not effect.implied]
    makes = given and all(effect.action is EffectAction.CREATE for effect in given)
    if not makes or len({effect.address for effect in given}) > 1:
        return CallMatch(objection="it makes no part of a planned resource")
    for part in PARTS_OF_TYPE.get(given[0].resource_type, ()):
        for change in asked.session.changes if part.members else ():
            if change.resource_type == part.owner_type and _holds(asked, change, part, given):
                use = PlanUse(address=change.address, action=_SET.value, most=most_uses(change, _SET))
                effects = (*as_planned(asked, change, _SET), *(replace(effect, implied=True) for effect in given))
                return CallMatch(effects=effects, uses=(use,), row="form")
    return CallMatch(objection=f"the plan makes no resource with this {given[0].resource_type}")


def _holds(asked: SessionCall, change: SessionChange, part: Part, given: Sequence[Effect]) -> bool:
    resource, identity = asked.resource(change), given[0].identity
    here = fits_direction(change, _SET) and asked.is_here(change) and asked.is_recorded(change, _SET)
    owned = all(_is_owner(resource, own, identity.get(name, "")) for name, own in part.owner.items())
    if not here or not owned or part.attribute not in _changed(change):
        return False
    members = _members(part, given)
    if not members or not asked.has_left(change, _SET, Counter()):
        return False
    return resource.fits(part.attribute, [members] if part.holding is Holding.BLOCK else [*members.values()])


def _is_owner(resource: PlannedResource, attribute: str, value: str) -> bool:
    """Whether a planned resource is the owner: a recorded one by what is known of it, a new one by the id that AWS chose for it."""
    known = [str(each) for each in resource.known(attribute) if each]
    return value in known if known else bool(value and resource.made) and resource.may_be(value)


def _changed(change: SessionChange) -> set[str]:
    return {name.partition(".")[0] for name in (*change.values, *change.free)}


def _members(part: Part, given: Sequence[Effect]) -> Mapping[str, Json]:
    """What the call says of the part, by the names that the owner has for it; empty if it says something that the owner has no name for."""
    said: dict[str, Json] = {**given[0].identity, **{each.attribute: each.value for each in given}}
    named = {
        name: value for name, value in said.items() if name not in (*part.owner, WHOLE) and value not in (None, "")
    }
    return {part.members[name]: value for name, value in named.items()} if named.keys() <= part.members.keys() else {}
