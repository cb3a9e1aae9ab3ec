"""Whether a resource that was created is one that the state has, or one that edited code declares."""

from collections.abc import Collection, Mapping

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import ResourceInstance, declared, informed
from gateway.terraform.lang.values import Unknown
from reconciler.changes.event_creations import Created
from reconciler.rewrite.edited_code import EditedCode
from reconciler.rewrite.imports import imported_ids

_SAME = frozenset(
    [
        "name",
        "alarm_name",
        "bucket",
        "role",
        "policy_arn",
        "route_table_id",
        "destination_cidr_block",
        "security_group_id",
        "ip_protocol",
        "from_port",
        "cidr_ipv4",
        "load_balancer_arn",
        "port",
    ]
)


def is_known(created: Created, live: Mapping[str, Mapping[str, Json]]) -> bool:
    """Whether the state has it already, by its id or by all that tells it from others. `live` has the attributes by address."""
    own = {name: value for name, value in created.attributes.items() if name in _SAME}
    return any(
        attributes.get("id") == created.import_id
        or (bool(own) and all(str(attributes.get(name)) == str(value) for name, value in own.items()))
        for address, attributes in live.items()
        if (parsed := parse_address(address)) is not None
        and not parsed.data
        and parsed.resource_type == created.resource_type
    )


def is_in_code(code: EditedCode, created: Created) -> bool:
    """Whether an instance in the code is the resource, by the import of its id, or by all that tells it from others: an earlier edit, not applied yet, may have added it."""
    if created.import_id in imported_ids(code.module).values():
        return True
    own = {name: value for name, value in created.attributes.items() if name in _SAME}
    return bool(own) and any(
        _is_same(code, address, own)
        for address in code.addresses()
        if (parsed := parse_address(address)) is not None and parsed.resource_type == created.resource_type
    )


def _is_same(code: EditedCode, address: str, own: Mapping[str, Json]) -> bool:
    instance = code.module.instance(address)
    try:
        return instance is not None and all(equal(declared(instance, name), value) for name, value in own.items())
    except Unknown:
        return False


def is_declared(code: EditedCode, address: str, created: Created) -> bool:
    """Whether the code declares what tells the resource from others, as far as it is known there: changing that would replace it."""
    instance = code.module.instance(address)
    own = {name: value for name, value in created.attributes.items() if name in _SAME}
    return instance is not None and all(_may_be(instance, name, value) for name, value in own.items())


def is_told(code: EditedCode, address: str, created: Created) -> bool:
    """Whether the code says of an instance what tells the resource from others, or what it belongs to, and nothing else of it; it must say one."""
    instance = informed(code.module, code.known).instance(address)
    if instance is None:
        return False
    told = False
    for name, value in created.attributes.items():
        if name in _SAME or (created.parent and value == created.parent):
            try:
                if not equal(declared(instance, name), value):
                    return False
                told = True
            except Unknown:
                continue
    return told


def belongs(
    code: EditedCode,
    address: str,
    sibling: str,
    created: Created,
    live: Mapping[str, Mapping[str, Json]],
    *,
    new: Collection[str] = (),
) -> bool:
    """Whether an instance belongs to what the creation belongs to, where its sibling says that it is known to what that one belongs.

    And whether it refers to what the creation names by an ARN. `new` are the ARNs of what else was created, which the code does not have yet.
    """
    arns = frozenset(str(own["arn"]) for own in live.values() if own.get("arn")) | frozenset(new)
    names = [
        name
        for name, value in created.attributes.items()
        if (created.parent and value == created.parent) or (isinstance(value, str) and value in arns)
    ]
    known = informed(code.module, live) if names else code.module
    one, other = known.instance(address), known.instance(sibling)
    if one is None or other is None:
        return True
    for name in names:
        try:
            declared(other, name)
        except Unknown:
            continue
        try:
            if not equal(declared(one, name), created.attributes[name]):
                return False
        except Unknown:
            if created.attributes[name] not in new:
                return False
    return True


def _may_be(instance: ResourceInstance, name: str, value: Json) -> bool:
    try:
        return equal(declared(instance, name), value)
    except Unknown:
        return True
