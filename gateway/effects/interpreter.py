"""Reads a call by its row of the table: every parameter becomes an effect, or the call is not understood."""

from collections.abc import Iterator, Mapping, Sequence

from gateway.effects.context import CallContext, Target
from gateway.effects.matcher import is_wrapper_in_block, match, match_member
from gateway.effects.operation import Operation
from gateway.effects.values import NotUnderstood, in_kind
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

_WHOLES = (EffectAction.DELETE, EffectAction.INVOKE)
_KEPT = frozenset({"id", "arn", "call"})
"""Identities that are no attribute anybody sets."""


def interpret(operation: Operation, context: CallContext) -> tuple[Effect, ...]:
    """All effects of the call. Raises `NotUnderstood`, `errors.Ambiguous`."""
    if operation.handler is not None:
        return operation.handler(context)
    return tuple(effect for target in _targets(operation, context) for effect in effects_on(operation, context, target))


def _targets(operation: Operation, context: CallContext) -> Iterator[Target]:
    given = {name: context.call.parameters[name] for name in operation.identity if context.call.parameters.get(name)}
    if not given and operation.action is EffectAction.CREATE:
        yield context.unnamed(operation.resource_type)
        return
    lists = [name for name, value in given.items() if isinstance(value, (list, tuple))]
    if len(lists) > 1:
        raise NotUnderstood("two lists of names")
    members: Sequence[object] = given[lists[0]] if lists else [None]  # type: ignore[assignment]  # it is a list: see above
    for member in members:
        identity: dict[str, str] = {}
        for name, value in given.items():
            identity |= _identified(operation, context, name, member if name in lists else value)
        yield context.target(operation.resource_type, identity)


def _identified(operation: Operation, context: CallContext, name: str, value: object) -> Mapping[str, str]:
    if not isinstance(value, str):
        raise NotUnderstood(f"{name} is no text")
    rule = operation.identity[name]
    if not isinstance(rule, str):
        return rule(context, value)
    if rule == "name" and value.startswith("arn:"):
        # Some operations take the ARN where their model says name: it would pass for a thing that nothing declares.
        raise NotUnderstood("an ARN where a name is expected")
    return {rule: value}


def effects_on(operation: Operation, context: CallContext, target: Target) -> Iterator[Effect]:
    """The effects of the call on one thing. Raises `NotUnderstood`."""
    if operation.after_unknown:
        yield from (target.put(attribute, None, action=operation.action) for attribute in operation.after_unknown)
        return
    if operation.action in _WHOLES:
        yield target.whole(operation.action)
        return
    makes = operation.action is EffectAction.CREATE or (operation.upserts and not target.recorded)
    action = EffectAction.CREATE if makes else EffectAction.SET
    values: dict[str, Json] = dict(operation.constants)
    if makes:
        yield target.whole(action)
        named = {key: value for key, value in target.identity.items() if key not in _KEPT and target.schema.knows(key)}
        values = {**named, **values}
    for attribute, value in attributes(operation, target, context.call.parameters):
        values[attribute] = value
    if not makes:
        values |= _reset(operation, target, values)
    if not values and not makes:
        raise NotUnderstood("it changes nothing that the provider knows")
    for attribute, value in values.items():
        yield target.put(attribute, value, action=action, secret=attribute in operation.secrets)


def _reset(operation: Operation, target: Target, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """What the call takes back by leaving it out: recorded values other than the one they fall back to."""
    recorded = target.recorded or {}
    return {
        attribute: fallback
        for attribute, fallback in operation.defaults.items()
        if attribute not in given and recorded.get(attribute) not in (None, "", [], {}, fallback)
    }


def attributes(
    operation: Operation, target: Target, parameters: Mapping[str, object], prefix: tuple[str, ...] = ()
) -> Iterator[tuple[str, Json]]:
    """Attribute paths and values for all these parameters. Raises `NotUnderstood` for one that nothing accounts for."""
    for name, value in parameters.items():
        steps = (*prefix, name)
        path = ".".join(steps)
        if value is not None and path not in operation.identity and path not in operation.controls:
            yield from _parameter(operation, target, steps, value)


def _parameter(
    operation: Operation, target: Target, steps: tuple[str, ...], value: object
) -> Iterator[tuple[str, Json]]:
    rule = operation.attributes.get(".".join(steps))
    if callable(rule):
        yield from rule(target, value).items()
        return
    attribute = rule or match(target.schema, steps)
    kind = target.schema.kinds.get(attribute or "")
    # A structure is taken apart unless the provider holds it whole, as a map or as one of several blocks.
    apart = isinstance(value, Mapping) and value and kind in ("block", "bool", "number", "string")
    if attribute is not None and kind is not None and not apart:
        yield attribute, _value(operation, target, steps, attribute, value)
    elif isinstance(value, Mapping) and value:
        yield from attributes(operation, target, value, steps)
    else:
        raise NotUnderstood(f"parameter {'.'.join(steps)}")


def _value(operation: Operation, target: Target, steps: tuple[str, ...], attribute: str, value: object) -> Json:
    """The value in the provider's form. An empty structure empties the block, which the state writes as an empty list."""
    kind = target.schema.kinds[attribute]
    if not kind.endswith("block)") and kind != "block":
        return in_kind(value, kind)
    items = [value] if isinstance(value, Mapping) and value else value
    if isinstance(items, Mapping):
        return []
    if not isinstance(items, (list, tuple)):
        raise NotUnderstood(f"parameter {'.'.join(steps)}")
    return [block_of(operation, target, steps, attribute, item) for item in items]


def block_of(
    operation: Operation, target: Target, steps: tuple[str, ...], attribute: str, item: object
) -> Mapping[str, Json]:
    """One block with all members of the structure."""
    if not isinstance(item, Mapping):
        raise NotUnderstood(f"parameter {'.'.join(steps)}")
    members: dict[str, Json] = {}
    for name, value in item.items():
        inner = (*steps, name)
        path = ".".join(inner)
        if value is None or path in operation.controls:
            continue
        rule = operation.attributes.get(path)
        if callable(rule):
            members |= rule(target, value)
            continue
        found = rule or match_member(target.schema, attribute, name)
        if found is not None:
            members[found.removeprefix(f"{attribute}.")] = _value(operation, target, inner, found, value)
        elif isinstance(value, Mapping) and value and is_wrapper_in_block(name):
            members |= block_of(operation, target, inner, attribute, value)
        else:
            raise NotUnderstood(f"parameter {path}")
    return members
