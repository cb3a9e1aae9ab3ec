"""Which resources were replaced outside: what the state has is gone, and another one with the same name is there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.model.json import Json
from gateway.terraform.address import parse_address
from reconciler.drift.creations import Created
from reconciler.terraform.plan import TerraformPlan


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
    parsed = parse_address(address)
    kind = parsed.resource_type if parsed else ""
    return Created(resource_type=kind, import_id=import_id, attributes={}, name="")


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


def _name_tag(attributes: Mapping[str, Json]) -> Json:
    """The tag by which people name what has no name of its own."""
    tags = attributes.get("tags")
    return tags.get("Name") if isinstance(tags, Mapping) else None
