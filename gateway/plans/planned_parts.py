"""Matches a call with the planned resource whose part or state it changes, where its rows name another resource: a route with its route table.

A row names the part as a resource of its own. Of a resource that the state records the effects are on the owner already
(`gateway.effects.declared_forms`); what the plan makes is recorded nowhere yet. Whether something runs may be declared beside it
(`aws_ec2_instance_state`), and what a deleted resource keeps for itself goes with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.core.model.json import Json, is_list
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import FEWEST_SETTING_CALLS, PlanUse, SessionChange
from gateway.plans.call_match import CallMatch, SessionCall, as_planned, fits_direction, most_uses
from gateway.plans.planned_values import PlannedResource
from gateway.terraform.forms import PARTS_OF_TYPE, Holding, Part

_SET = EffectAction.SET
_TAKES_AWAY: Final = (PlannedAction.DELETE, PlannedAction.REPLACE)
_STATES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "ec2:StartInstances": ("aws_ec2_instance_state", "InstanceIds", "instance_id", "running"),
    "ec2:StopInstances": ("aws_ec2_instance_state", "InstanceIds", "instance_id", "stopped"),
    "rds:StartDBInstance": ("aws_rds_instance_state", "DBInstanceIdentifier", "identifier", "available"),
    "rds:StopDBInstance": ("aws_rds_instance_state", "DBInstanceIdentifier", "identifier", "stopped"),
}
"""Operation that starts or stops → the type that declares it, the parameter and the attribute with what is started or stopped, the state."""
_ASSOCIATION: Final = "aws_network_acl_association"
_GIVES_BACK: Final = "ec2:ReplaceNetworkAclAssociation"
_KEPT: Final[Mapping[str, Mapping[str, tuple[str, str, str]]]] = {
    "ec2:DeleteSnapshot": dict.fromkeys(
        ("aws_ami_copy", "aws_ami_from_instance"),
        ("SnapshotId", "ebs_block_device.snapshot_id", "manage_ebs_snapshots"),
    ),
}
"""Operation that deletes → by type of what keeps such things for itself: the parameter, where it has their ids, and the switch for it."""


def by_state(asked: SessionCall) -> CallMatch:
    """The match of a call that starts or stops a resource with the planned one that declares this."""
    kind, parameter, attribute, state = _STATES.get(asked.operation, ("", "", "", ""))
    given = asked.call.parameters
    named = given.get(parameter)
    names = list(named) if is_list(named) else [named]
    if not kind or len(names) != 1 or not isinstance(names[0], str) or given.keys() - {parameter, "Force"}:
        return CallMatch(objection="it starts or stops nothing that a planned resource declares alone")
    for change in asked.session.changes:
        resource = asked.resource(change)
        is_one = change.resource_type == kind and fits_direction(change, _SET) and resource.after.get("state") == state
        forced = given.get("Force") in (None, False) or resource.after.get("force") is True
        is_here = asked.is_here(change) and asked.is_recorded(change, _SET)
        if is_one and forced and is_here and _is_of(asked, resource, attribute, names[0]):
            if not asked.has_left(change, _SET, Counter()):
                continue
            use = PlanUse(address=change.address, action=_SET.value, most=most_uses(change, _SET))
            effects = (*as_planned(asked, change, _SET), *(replace(each, implied=True) for each in asked.effects))
            return CallMatch(effects=effects, uses=(use,), row="state")
    return CallMatch(objection=f"the plan has no {kind} that says so")


def _is_of(asked: SessionCall, resource: PlannedResource, attribute: str, name: str) -> bool:
    """Whether the attribute has the name, or the plan does not tell it and the session made what has it."""
    known = resource.known(attribute)
    return name in known if known else resource.is_free(attribute) and name in asked.made.values()


def by_giving_back(asked: SessionCall) -> CallMatch:
    """The match of a call that gives a subnet back to the default ACL of its VPC, as the deletion of an association does.

    AWS takes only an ACL of the same VPC, so any recorded VPC's default one is that of the subnet.
    """
    association, acl = (asked.call.parameters.get(name) for name in ("AssociationId", "NetworkAclId"))
    is_default = isinstance(acl, str) and any(
        asked.stack.find(kind, "default_network_acl_id", acl) for kind in ("aws_vpc", "aws_default_vpc")
    )
    known = asked.call.parameters.keys() <= {"AssociationId", "NetworkAclId", "DryRun"}
    for change in asked.session.changes if asked.operation == _GIVES_BACK and is_default and known else ():
        is_one = change.resource_type == _ASSOCIATION and change.action in _TAKES_AWAY and asked.is_here(change)
        is_one = is_one and bool(association) and asked.resource(change).recorded.get("id") == association
        if is_one and asked.has_left(change, EffectAction.DELETE, Counter()):
            use = PlanUse(address=change.address, action=EffectAction.DELETE.value, most=1)
            return CallMatch(effects=as_planned(asked, change, EffectAction.DELETE), uses=(use,), row="given back")
    return CallMatch(objection="it gives back nothing that the plan lets go of")


def by_keeper(asked: SessionCall) -> CallMatch:
    """The match of a call that deletes what a resource keeps for itself, with that resource, which the plan deletes."""
    for change in asked.session.changes:
        parameter, path, switch = _KEPT.get(asked.operation, {}).get(change.resource_type, ("", "", ""))
        if not parameter or change.action not in _TAKES_AWAY or asked.call.parameters.keys() - {parameter, "DryRun"}:
            continue
        recorded = asked.resource(change).recorded
        block, _, member = path.partition(".")
        blocks = recorded.get(block)
        kept = [each.get(member) for each in (blocks if is_list(blocks) else ()) if isinstance(each, Mapping)]
        name = asked.call.parameters.get(parameter)
        is_kept = recorded.get(switch) is True and isinstance(name, str) and bool(name) and name in kept
        most = max(FEWEST_SETTING_CALLS, len(kept))
        is_left = asked.used.get((change.address, _SET.value, asked.operation), 0) < most
        if is_kept and is_left and asked.is_here(change):
            use = PlanUse(address=change.address, action=_SET.value, most=most)
            return CallMatch(effects=as_planned(asked, change, _SET), uses=(use,), row="kept")
    return CallMatch(objection="no resource that the plan deletes keeps it for itself")


def with_deleted(asked: SessionCall) -> CallMatch:
    """The match of a call that no row explains: what goes with a resource that the plan deletes."""
    found = by_keeper(asked)
    return by_giving_back(asked) if found.objection else found


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
