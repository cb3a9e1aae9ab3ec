"""Finds the new resource that took the place of a deleted one: it was replaced outside, or deleted and created by two mutations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, resource_type_of
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.event_creations import Created
from reconciler.changes.mutation_creations import creations_of
from reconciler.terraform.plan import TerraformPlan

_NAMING = (
    "name",
    "security_group_id",
    "ip_protocol",
    "from_port",
    "to_port",
    "cidr_ipv4",
    "load_balancer_arn",
    "port",
    "subnet_id",
    "vpc_id",
)
"""Attributes that tell a resource from others of its type. None of them changes while it exists."""
Recorded = Mapping[str, Mapping[str, Json]]
"""The attributes of the stack's resources by address, as its state has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedResource:
    """One address whose resource is another one now."""

    address: str
    created: Created
    """The resource that is there now."""
    old_id: str
    """The id of the one that the state has."""


def replaced_resources(plan: TerraformPlan, created: Sequence[Created]) -> tuple[ReplacedResource, ...]:
    """The resources that a plan would create again because they are gone, and in whose place another one was created.

    Which one belongs to which address must be certain: the same type, equal in all that names it, and a pair of one and one.
    Of several that were created with the same name, the last one counts. What belonged to a resource that was replaced belongs to the
    one in its place: the rules of a security group are found by the id of the new group.
    """
    again = {change.address for change in plan.changes if change.actions == ("create",)}
    gone = {address: plan.objects.get(address, {}) for address in sorted(plan.gone() & again)}
    found: dict[str, ReplacedResource] = {}
    for _ in range(len(gone) + 1):  # each time at least one more is found
        new_ids = {each.old_id: each.created.import_id for each in found.values()}
        more = dict(_pairs({address: _renamed(own, new_ids) for address, own in gone.items()}, created))
        if more.keys() == found.keys():
            break
        found = more
    return tuple(found.values())


def replaced_in_code(plan: TerraformPlan, imported: Mapping[str, str]) -> tuple[ReplacedResource, ...]:
    """The resources that a plan would create again although the code imports another one to their address: `imported` has its id."""
    again = {change.address for change in plan.changes if change.actions == ("create",)}
    gone = {address: str(plan.objects.get(address, {}).get("id") or "") for address in sorted(plan.gone() & again)}
    return tuple(
        ReplacedResource(address=address, old_id=old, created=_imported(address, imported[address]))
        for address, old in gone.items()
        if imported.get(address, old) != old
    )


def _imported(address: str, import_id: str) -> Created:
    return Created(resource_type=resource_type_of(address), import_id=import_id, attributes={}, name="")


def _pairs(
    gone: Mapping[str, Mapping[str, Json]], created: Sequence[Created]
) -> Iterator[tuple[str, ReplacedResource]]:
    for each in created:
        own = [address for address, attributes in gone.items() if takes_the_place(each, address, attributes)]
        if len(own) == 1:
            yield own[0], ReplacedResource(address=own[0], created=each, old_id=str(gone[own[0]].get("id")))


def _renamed(attributes: Mapping[str, Json], new_ids: Mapping[str, str]) -> Mapping[str, Json]:
    """The attributes of a resource that is gone, with the ids of what it belonged to as they are now."""
    return {
        name: new_ids.get(value, value) if isinstance(value, str) and name != "id" else value
        for name, value in attributes.items()
    }


def takes_the_place(created: Created, address: str, gone: Mapping[str, Json]) -> bool:
    """Whether a resource has the type and the name of one that is gone, belongs to the same, and is not that one."""
    parsed = parse_address(address)
    if parsed is None or parsed.resource_type != created.resource_type or gone.get("id") in (None, created.import_id):
        return False
    named = {name: created.attributes[name] for name in _NAMING if name in created.attributes}
    tagged = _name_tag(created.attributes)
    if tagged is not None and tagged != _name_tag(gone):
        return False
    return (bool(named) or tagged is not None) and all(str(gone.get(name)) == str(v) for name, v in named.items())


def _name_tag(attributes: Mapping[str, Json]) -> Json:
    """The tag by which people name what has no name of its own."""
    tags = attributes.get("tags")
    return tags.get("Name") if isinstance(tags, Mapping) else None


def deleted_addresses(applied: AppliedMutation) -> tuple[str, ...]:
    """The addresses of the declared resources that a mutation deleted for good."""
    return tuple(each.address for each in applied.effects if deletes_declared(each) and _for_good(applied))


def creates_resource(applied: AppliedMutation) -> bool:
    """Whether a mutation created a whole resource for good."""
    whole = (each for each in applied.effects if each.action is EffectAction.CREATE and each.attribute == WHOLE)
    return any(whole) and _for_good(applied)


def at_deleted_address(applied: AppliedMutation, deleted: Mapping[str, str], recorded: Recorded) -> AppliedMutation:
    """The mutation with what it created at the address of the deleted resource whose place that takes, as far as this is certain.

    `deleted` has the mutation that deleted it by address; both are `together` then.
    """
    moved = dict(_moved(applied, [address for address in deleted if address in recorded], recorded))
    effects = tuple(
        replace(each, address=moved[each.address], declared=True) if each.address in moved else each
        for each in applied.effects
    )
    there = [each.address for each in effects if each.action is EffectAction.CREATE and each.attribute == WHOLE]
    together = dict.fromkeys(deleted[address] for address in there if address in deleted)
    return replace(applied, effects=effects, together=tuple(together))


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCreation:
    """A creation that took the place of what a later mutation deleted."""

    creation: AppliedMutation
    address: str


def earlier_creation(
    applied: AppliedMutation, creations: Iterable[AppliedMutation], recorded: Recorded
) -> EarlierCreation | None:
    """The creation, by another mutation, of what takes the place of the one resource that this one deleted; None if there is none."""
    gone = deleted_addresses(applied)
    if len(gone) != 1 or len(applied.effects) != 1 or gone[0] not in recorded:
        return None
    found = [each for each in creations if each.id != applied.id and dict(_moved(each, gone, recorded))]
    return EarlierCreation(creation=found[0], address=gone[0]) if len(found) == 1 else None


def as_replacement(applied: AppliedMutation, before: EarlierCreation, recorded: Recorded) -> AppliedMutation:
    """The deletion with the creation before it as one replacement of the address."""
    other = at_deleted_address(before.creation, {before.address: applied.id}, recorded)
    return replace(applied, effects=other.effects, made=other.made, together=(other.id,))


def _moved(applied: AppliedMutation, gone: Sequence[str], recorded: Recorded) -> Iterator[tuple[str, str]]:
    for address, created in creations_of(applied):
        own = [each for each in gone if takes_the_place(created, each, recorded[each])]
        if len(own) == 1:
            yield address, own[0]


def _for_good(applied: AppliedMutation) -> bool:
    """Whether a mutation is meant to last, and was not made by Terraform, whose code says already what it creates and deletes."""
    return not applied.passing and applied.kind != "pipeline"


def deletes_declared(effect: Effect) -> bool:
    """Whether a resource that the code declares is gone. If it is not gone yet, the plan shows that and the code stays."""
    return effect.action is EffectAction.DELETE and effect.attribute == WHOLE and effect.declared
