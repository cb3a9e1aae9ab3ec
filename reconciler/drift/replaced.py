"""Which resources were replaced outside: what the state has is gone, and another one with the same name is there."""

from collections.abc import Mapping, Sequence
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
    Of several that were created with the same name, the last one counts.
    """
    gone = plan.gone() & {change.address for change in plan.changes if change.actions == ("create",)}
    found: dict[str, ReplacedResource] = {}
    for each in created:
        own = [address for address in sorted(gone) if _takes_the_place(each, address, plan.objects.get(address, {}))]
        if len(own) == 1:
            old_id = str(plan.objects[own[0]].get("id"))
            found[own[0]] = ReplacedResource(address=own[0], created=each, old_id=old_id)
    return tuple(found.values())


def _takes_the_place(created: Created, address: str, gone: Mapping[str, Json]) -> bool:
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
