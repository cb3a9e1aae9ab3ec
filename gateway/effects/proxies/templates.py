"""Unpacks CloudFormation: the calls that its templates make it carry out.

An update is judged by the difference of the new template and the one that the state records for the stack; a deletion by the recorded one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call, shown
from gateway.effects.proxies.documents import document
from gateway.effects.proxies.resource_types import LOGICAL_ID, WITHOUT_RESOURCE, Step, kind_of, unknown_step
from gateway.effects.values import NotUnderstood

_SECTIONS = frozenset(
    {"AWSTemplateFormatVersion", "Description", "Metadata", "Outputs", "Parameters", "Resources", "Rules"}
)
_MEMBERS = frozenset({"DeletionPolicy", "DependsOn", "Metadata", "Properties", "Type", "UpdateReplacePolicy"})
_STACK = "aws_cloudformation_stack"
_ELSEWHERE = ("TemplateURL", "UsePreviousTemplate", "ResourcesToImport", "RetainResources", "RollbackConfiguration")
"""Parameters that make the call do what the template in it does not say."""
_KEPT = ("Retain", "RetainExceptOnCreate")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    """A template with its parameters filled in."""

    resources: Mapping[str, Mapping[str, Any]]
    problems: tuple[str, ...]


def of_creation(context: CallContext) -> Iterator[Parcel]:
    """The calls that create a stack's resources."""
    yield from _elsewhere(context)
    template = _read(context, context.call.parameters.get("TemplateBody"), _given(context))
    yield from map(Unread, template.problems)
    for name, resource in template.resources.items():
        yield from _made(context, name, resource)


def of_update(context: CallContext) -> Iterator[Parcel]:
    """The calls that change a stack's resources from the recorded template to the new one."""
    yield from _elsewhere(context)
    after = _read(context, context.call.parameters.get("TemplateBody"), _given(context))
    before = _recorded(context)
    yield from map(Unread, (*after.problems, *before.problems))
    for name, resource in after.resources.items():
        if name not in before.resources:
            yield from _made(context, name, resource)
        elif before.resources[name] != resource:
            yield from _changed(context, before.resources[name], resource)
    for name, resource in before.resources.items():
        if name not in after.resources:
            yield from _deleted(context, name, resource)


def of_change_set(context: CallContext) -> Iterator[Parcel]:
    """The calls that a change set would make CloudFormation carry out. Its execution does not say them, and is held."""
    kind = context.call.parameters.get("ChangeSetType") or "UPDATE"
    if kind not in ("CREATE", "UPDATE"):
        raise NotUnderstood("a change set that imports")
    yield from of_creation(context) if kind == "CREATE" else of_update(context)


def of_deletion(context: CallContext) -> Iterator[Parcel]:
    """The calls that delete the resources of a stack."""
    yield from _elsewhere(context)
    template = _recorded(context)
    yield from map(Unread, template.problems)
    for name, resource in template.resources.items():
        yield from _deleted(context, name, resource)


def _elsewhere(context: CallContext) -> Iterator[Unread]:
    for name in _ELSEWHERE:
        if context.call.parameters.get(name):
            yield Unread(f"{name} makes it do what no template in the call says")


def carried(context: CallContext, requests: Iterable[Step], *, now: bool = False) -> Iterator[Parcel]:
    """The requests as inner calls. What they need of the resource and do not find ends them, with the reason."""
    role = context.call.parameters.get("RoleARN") or context.call.parameters.get("RoleArn") or _standing_role(context)
    try:
        for request in requests:
            call = inner_call(context, request.service, request.operation, request.parameters)
            yield Carried(call=call, row=request.row, role=str(role), now=now)
    except NotUnderstood as reason:
        yield Unread(f"a resource with {reason}")


def _standing_role(context: CallContext) -> str:
    """The role that a stack was given before, and that CloudFormation goes on using."""
    if context.call.service != "cloudformation":
        return ""
    return str(context.target(_STACK, {"name": context.text("StackName")}).recorded.get("iam_role_arn") or "")


def made(context: CallContext, kind: str, properties: Mapping[str, Any], *, now: bool = False) -> Iterator[Parcel]:
    """The calls that create a resource of a type."""
    model = kind_of(kind)
    if model is None:
        yield from carried(context, [unknown_step("Create", kind, properties)], now=now)
    else:
        yield from carried(context, model.creation(properties), now=now)


def _made(context: CallContext, name: str, resource: Mapping[str, Any]) -> Iterator[Parcel]:
    if resource["Type"] not in WITHOUT_RESOURCE:
        yield from made(context, resource["Type"], {**resource["Properties"], LOGICAL_ID: name})


def _changed(context: CallContext, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Parcel]:
    """The calls that change the properties that differ. A property that is gone gets a value that the template does not say."""
    kind, old, new = after["Type"], before["Properties"], after["Properties"]
    model = kind_of(kind)
    if model is None or before["Type"] != kind:
        yield from carried(context, [unknown_step("Update", kind, new)])
        return
    changed = {key: value for key, value in new.items() if key not in old or old[key] != value}
    identifier = new.get(model.name)
    if old.keys() - new.keys() or not isinstance(identifier, str) or isinstance(identifier, Runtime):
        yield Unread(f"a resource of the type {shown(kind)} without a name, or with a property that is removed")
    elif changed:
        yield from carried(context, model.change(identifier, changed))


def _deleted(context: CallContext, name: str, resource: Mapping[str, Any]) -> Iterator[Parcel]:
    kind = resource["Type"]
    if resource.get("DeletionPolicy") in _KEPT or kind in WITHOUT_RESOURCE:
        return
    model = kind_of(kind)
    if model is None:
        yield from carried(context, [unknown_step("Delete", kind, resource["Properties"])])
        return
    identifier = resource["Properties"].get(model.name)
    if not isinstance(identifier, str) or isinstance(identifier, Runtime):
        yield Unread(f"the template does not name the resource {shown(name)}, which would be deleted")
    else:
        yield from carried(context, model.deletion(identifier))


def _recorded(context: CallContext) -> _Template:
    """The template that the state records for the stack. Raises `NotUnderstood` if there is none."""
    recorded = context.target(_STACK, {"name": context.text("StackName")}).recorded
    if not isinstance(recorded.get("template_body"), str):
        raise NotUnderstood("the template that the stack has now is not recorded")
    given = recorded.get("parameters")
    return _read(context, recorded["template_body"], given if isinstance(given, Mapping) else {})


def _given(context: CallContext) -> Mapping[str, object]:
    """The values of the template's parameters in the call. Raises `NotUnderstood`."""
    found: dict[str, object] = {}
    for entry in context.call.parameters.get("Parameters") or ():  # type: ignore[attr-defined]  # anything else raises, and is held
        if not isinstance(entry, Mapping) or not isinstance(key := entry.get("ParameterKey"), str) or key in found:
            raise NotUnderstood("the stack's parameters are in an unknown form")
        value = entry.get("ParameterValue")
        found[key] = value if isinstance(value, str) else Runtime("the parameter's value before")
    return found


def _read(context: CallContext, body: object, given: Mapping[str, object]) -> _Template:
    content = document(body, "the template")
    problems = [f"the template has a section {shown(name)}" for name in sorted(content.keys() - _SECTIONS)]
    values = {
        "AWS::Region": context.call.region or Runtime("AWS::Region"),
        "AWS::AccountId": context.account or Runtime("AWS::AccountId"),
        "AWS::StackName": context.call.parameters.get("StackName"),
        **_parameters(content.get("Parameters") or {}, given),
    }
    named = content.get("Resources")
    if not isinstance(named, Mapping) or not named:
        raise NotUnderstood("the template has no resources")
    resources: dict[str, Mapping[str, Any]] = {}
    for name, resource in named.items():
        if not isinstance(resource, Mapping) or not isinstance(resource.get("Type"), str):
            raise NotUnderstood(f"the resource {shown(name)} has no type")
        if resource.keys() - _MEMBERS:
            problems.append(f"the resource {shown(name)} has a condition or a policy of its own")
        properties = _resolved(resource.get("Properties") or {}, values)
        if not isinstance(properties, Mapping):
            problems.append(f"the properties of {shown(name)} are computed")
            properties = {}
        resources[name] = {**resource, "Properties": properties}
    return _Template(resources=resources, problems=tuple(problems))


def _parameters(declared: object, given: Mapping[str, object]) -> Mapping[str, object]:
    """The values of the template's parameters: given ones, else defaults. What AWS looks up is known only then."""
    found: dict[str, object] = {}
    for name, entry in declared.items() if isinstance(declared, Mapping) else ():
        kind = entry.get("Type") if isinstance(entry, Mapping) else None
        value = given.get(name, entry.get("Default") if isinstance(entry, Mapping) else None)
        if kind in ("CommaDelimitedList", "List<Number>") and isinstance(value, str) and not isinstance(value, Runtime):
            found[name] = [item.strip() for item in value.split(",")]
        elif kind in ("String", "Number") and isinstance(value, (str, int, float)):
            found[name] = value
        else:
            found[name] = Runtime(f"the parameter {name}")
    return found


def _resolved(value: object, values: Mapping[str, object]) -> object:
    """The value with references to parameters filled in; a `Runtime` for every other function, and for what AWS looks up."""
    if isinstance(value, str):
        return Runtime(value) if "{{resolve:" in value else value
    if isinstance(value, list):
        return [_resolved(item, values) for item in value]
    if not isinstance(value, Mapping):
        return value
    key = next(iter(value)) if len(value) == 1 else ""
    if key.startswith("Fn::") or (key in ("Ref", "Condition") and isinstance(value[key], str)):
        return _function(key, value[key], values)
    return {name: _resolved(item, values) for name, item in value.items()}


def _substituted(text: str, values: Mapping[str, object]) -> str | None:
    """The text with its references filled in; None if one is not known, or is more than a name."""
    first, *pieces = text.split("${")
    parts = [first]
    for piece in pieces:
        name, closed, rest = piece.partition("}")
        if not closed or not _is_plain(value := values.get(name)):
            return None
        parts += [str(value), rest]
    return None if "{{resolve:" in text else "".join(parts)


def _function(name: str, argument: object, values: Mapping[str, object]) -> object:
    if name == "Ref" and isinstance(argument, str):
        return values.get(argument, Runtime(f"Ref {argument}"))
    if name == "Fn::Sub" and isinstance(argument, str):
        text = _substituted(argument, values)
        if text is not None:
            return text
    if name == "Fn::Join" and isinstance(argument, list) and len(argument) == len(("separator", "items")):
        separator, items = argument[0], _resolved(argument[1], values)
        if isinstance(separator, str) and isinstance(items, list) and all(map(_is_plain, items)):
            return separator.join(map(str, items))
    return Runtime(f"{name} of the template")


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, (Runtime, bool))


CREATED = Carrier(unpack=of_creation)
UPDATED = Carrier(unpack=of_update)
CHANGE_SET = Carrier(unpack=of_change_set)
DELETED = Carrier(unpack=of_deletion)
