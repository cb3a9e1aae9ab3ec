"""Says whether a call of a session that sets a resource serves what the plan changes of it, and takes away nothing that the plan keeps.

That no value of a call contradicts the plan is not enough: what a call takes away, stops or resets is said by its name, or by what it leaves out.
So it must give, take away or name something that the plan changes. A call that only writes again what is there does no harm.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from gateway.core.derived_rows import DerivedRow, Origin, ValueForm
from gateway.core.model.json import Json, is_list, to_json
from gateway.core.model.mutation import Call
from gateway.core.model.path import AttributePath
from gateway.effects.derived_operations import TAGS
from gateway.effects.schema import folded, snake
from gateway.plans.planned_values import PlannedResource, are_among, as_twin, in_both, same, same_in_form
from gateway.plans.provider_forms import puts_in_force

WRITES: Final = re.compile(
    r"(?:Batch)?(?:Change|Configure|Create|Edit|Modify|Put|Register|Replace|Set|Update)(?![a-z])"
)
"""How the operations begin that give a resource the values of their parameters. Without a value in them that changes, they change nothing."""
_TAKES_AWAY: Final = re.compile(
    r"(?:^|To)(?:[Dd]e(?:register|lete|tach)|[Dd]isassociate|[Rr]e(?:move|voke)|[Uu]n(?:assign|link|subscribe|tag))(?![a-z])"
)
"""How the operations begin, and parameters are called, that name what is taken away."""
_NAMES: Final = frozenset({"arn", "id", "name"})
"""What names the resource, and is no change of it."""
_SAYS_LITTLE: Final = frozenset({
    "", "all", "and", "arn", "attribute", "batch", "by", "config", "configuration", "default", "for", "from", "id", "in", "name", "of", "on", "option",
    "resource", "setting", "status", "to", "type", "version", "with",
})  # fmt: skip
"""Words of operations that many attributes have too."""
_HELD: Final = frozenset({"associate_with_private_ip", "instance", "network_interface"})
_SWITCHES: Final = re.compile(r"(?:Admin)?(Enable|Disable)(?=[A-Z])")
"""How the operations begin that switch a resource as a whole on or off."""
_ON: Final[Mapping[str, bool]] = {"disabled": False, "enable": True, "enabled": True, "is_enabled": True}
"""Attributes that switch a resource as a whole → their value where it is on."""
_RENEWED: Final = frozenset({
    "appsync:UpdateDataSource", "appsync:UpdateFunction", "appsync:UpdateGraphqlApi", "appsync:UpdateResolver",
    "cloudfront:UpdateDistribution", "codepipeline:UpdatePipeline", "cognito-idp:UpdateUserPool", "cognito-idp:UpdateUserPoolClient",
    "glue:UpdateCrawler", "glue:UpdateJob", "glue:UpdateTable", "wafv2:UpdateIPSet", "wafv2:UpdateRegexPatternSet", "wafv2:UpdateRuleGroup",
    "wafv2:UpdateWebACL",
})  # fmt: skip
"""Operations that set back what a call leaves out. Reviewed in AWS's API references; of the others nobody knows it."""
_ITSELF: Final[Mapping[str, frozenset[str]]] = {
    "ec2:AssociateAddress": _HELD,
    "ec2:DisassociateAddress": _HELD,
    "secretsmanager:RemoveRegionsFromReplication": frozenset({"replica"}),
    "secretsmanager:ReplicateSecretToRegions": frozenset({"replica"}),
    "ssm:UpdateDocumentDefaultVersion": frozenset({"content"}),
    "cloudtrail:StartEventDataStoreIngestion": frozenset({"suspend"}),
    "cloudtrail:StopEventDataStoreIngestion": frozenset({"suspend"}),
}
"""Operation whose name says it in other words → the attributes for whose change the provider sends it."""


def unserved(
    call: Call,
    row: DerivedRow,
    resource: PlannedResource,
    given: Collection[str],
    unexplained: Sequence[tuple[str, Sequence[str], Json]],
) -> str:
    """Why a call that sets a resource serves nothing that the plan changes of it in place, as half a sentence; empty if it does.

    `given` are the paths of all that the call gives, `unexplained` the attributes that parameters seem to carry of which the row tells nothing,
    each with the parameter's path and its value.
    """
    change = resource.change
    operation = f"{call.service}:{call.operation}"
    if lost := next(_taken(operation, row, resource, given), ""):
        return f"it takes away {lost} of {change.address}, which the plan keeps"
    changed = {*change.values, *change.free}
    named = {path: source.attribute for path, source in (*row.identity.items(), *row.attributes.items())}
    touched = {
        *(attribute for path, attribute in (*named.items(), *row.removes.items()) if path in given),
        *row.clears,
        *(attribute for attribute, _, _ in unexplained),
        *_ITSELF.get(operation, ()),
    } - _NAMES
    around = {outer for each in changed for outer in AttributePath(each).enclosing}
    if any(one in around or not changed.isdisjoint(AttributePath(one).enclosing) for one in touched):
        return ""
    # The values of constants that are not the traced ones were compared by their last name.
    ends = {AttributePath(each).last for each in changed}
    if any(path in given and snake(AttributePath(path).last) in ends for path in row.constants):
        return ""
    if _switches(call.operation, row, change.values):
        return ""
    if puts_in_force(operation) or _words_of(call.operation) & _words_changed(change.resource_type, changed):
        return ""
    writes = WRITES.match(call.operation) and (
        any(path in given for path in (*row.attributes, *row.unexplained)) or _writes_anew(resource, unexplained)
    )
    if writes or _is_of_itself(call.operation, row, changed):
        return ""
    return f"nothing that the plan changes of {change.address} needs it"


def _taken(operation: str, row: DerivedRow, resource: PlannedResource, given: Collection[str]) -> Iterator[str]:
    """The attributes that the call takes away by itself, or resets by leaving their parameter out, and that the resource has by the plan."""
    renewed = row.attributes if operation in _RENEWED else {}
    left_out = {source.attribute for path, source in renewed.items() if path not in given}
    written = {source.attribute for path, source in row.attributes.items() if path in given}
    for attribute in sorted({*row.clears, *(left_out - written)}):
        if resource.keeps(attribute) and not same(AttributePath(attribute).value_at(resource.recorded), None):
            yield attribute


def _switches(operation: str, row: DerivedRow, planned: Mapping[str, Json]) -> bool:
    """Whether the call switches the resource as a whole in the direction in which the plan does."""
    found = _SWITCHES.match(operation)
    if found is None or _words(snake(operation[found.end() :])) - _words(row.resource_type):
        return False
    is_on = found[1] == "Enable"
    return any(planned.get(name) is (on if is_on else not on) for name, on in _ON.items())


def _writes_anew(resource: PlannedResource, unexplained: Sequence[tuple[str, Sequence[str], Json]]) -> bool:
    """Whether a parameter has a value that the plan newly gives to something in a changed attribute, whose words its path has."""
    new: dict[str, set[frozenset[str]]] = {}
    for attribute in resource.change.values:
        before = set(_leaves(AttributePath(attribute).value_at(resource.recorded), attribute))
        for name, twin in set(_leaves(AttributePath(attribute).value_at(resource.after), attribute)) - before:
            new.setdefault(twin, set()).add(_all_words(name))
    return any(
        names <= _all_words("_".join(map(snake, path)))
        for _, path, value in unexplained
        for names in new.get(as_twin(value), ())
    )


def _leaves(value: Json, name: str) -> Iterator[tuple[str, str]]:
    """The last name of each value in a planned or recorded one, and a text of the value."""
    if is_list(value):
        for item in value:
            yield from _leaves(item, name)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, str(key))
    elif not same(value, None):
        yield AttributePath(name).last, as_twin(value)


def _is_of_itself(operation: str, row: DerivedRow, changed: Collection[str]) -> bool:
    """Whether the provider sends such a call about the resource as a whole around a change of more than its tags: `StopServer`, `RebootBroker`."""
    more = _words_of(operation) - _words(row.resource_type)
    return row.origin is Origin.TRACED and not more and any(AttributePath(name).top != TAGS for name in changed)


def _words_of(operation: str) -> frozenset[str]:
    """The words of an operation behind its verb."""
    return _words(snake(operation).partition("_")[2])


def _words_changed(resource_type: str, changed: Collection[str]) -> frozenset[str]:
    """The words of the changed attributes; those of the type count only where an attribute has no other."""
    kind = _words(resource_type)
    found: set[str] = set()
    for name in changed:
        own = _words(AttributePath(name).top if name.startswith(f"{TAGS}.") else name.replace(".", "_"))
        found |= own - kind or own
    return frozenset(found)


def _words(name: str) -> frozenset[str]:
    return _all_words(name) - _SAYS_LITTLE


def _all_words(name: str) -> frozenset[str]:
    return frozenset(map(folded, name.split("_")))


def names_what_goes(operation: str, parameter: str) -> bool:
    """Whether the parameter of the operation names what it takes away, and not what is there afterwards."""
    return any(_TAKES_AWAY.search(step) for step in (operation, *parameter.split(".")))


def lost_members(resource: PlannedResource, attribute: str, values: Sequence[object]) -> Iterator[str]:
    """The attribute, or the tags, of which the values take out a member that the resource has by the plan too."""
    if attribute == TAGS:
        keys = (str(_key_of(each)) for each in values)
        yield from (f"{TAGS}.{key}" for key in keys if not resource.fits(f"{TAGS}.{key}", None))
    elif not _follows(resource, attribute):
        stay = set(map(as_twin, _members(resource.after, attribute.split("."))))
        if any(as_twin(to_json(each)) in stay for each in values):
            yield attribute


def _follows(resource: PlannedResource, attribute: str) -> bool:
    """Whether the plan does not tell the attribute, or it only follows from a changed one that is called alike: `ipv6_addresses`, `ipv6_address_list`."""
    changed = {*resource.change.values, *resource.change.free}
    if resource.is_untold(attribute) or any(AttributePath(attribute).touches(each) for each in changed):
        return resource.is_untold(attribute)
    return bool(_words(attribute.replace(".", "_")) & _words_changed(resource.change.resource_type, changed))


def lacks_kept(resource: PlannedResource, attribute: str, values: Sequence[object], form: ValueForm) -> bool:
    """Whether a written list lacks an item that the resource has before and after the plan."""
    if attribute in (TAGS, "tags_all"):
        whole = (
            values[0] if len(values) == 1 and isinstance(values[0], Mapping) and _key_of(values[0]) is None else None
        )
        return not resource.kept_tags <= set(whole if whole is not None else map(str, map(_key_of, values)))
    before, after = (AttributePath(attribute).value_at(each) for each in (resource.recorded, resource.after))
    if not (is_list(before) and is_list(after)) or resource.is_untold(attribute):
        return False
    plain = [item for item in after if not isinstance(item, Mapping)]
    return not are_among(
        in_both(plain, before), [to_json(each) for each in values], lambda item, one: same_in_form(one, item, form)
    )


def _key_of(tag: object) -> object:
    """The key of a tag that a call names by its key or by a pair."""
    names = ("Key", "key", "TagKey", "tagKey")
    return next((tag[name] for name in names if name in tag), None) if isinstance(tag, Mapping) else tag


def _members(place: Json, steps: Sequence[str]) -> list[Json]:
    """The values at a path, and the members of lists there."""
    if is_list(place):
        return [found for item in place for found in _members(item, steps)]
    if not steps:
        return [] if place is None else [place]
    return _members(place.get(steps[0]), steps[1:]) if isinstance(place, Mapping) else []
