"""Interprets a call by its row of the service's table: every parameter becomes an effect, or the call is not understood."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext, Target
from gateway.effects.identification import name_in_arn
from gateway.effects.operation import Operation, account_for
from gateway.effects.schema import is_wrapper_in_block, match, match_member
from gateway.effects.values import NotUnderstood, in_kind

_ON_THE_WHOLE = (EffectAction.DELETE, EffectAction.INVOKE)
_MAY_BE_ARN = ("arn", "endpoint")
"""How the attributes end whose value may be an ARN; everywhere else it names what may be in another account."""
_NOT_SETTABLE = frozenset({"id", "arn", "call"})
"""Members of an identity that are not attributes to set."""


def interpret(operation: Operation, context: CallContext) -> tuple[Effect, ...]:
    """All effects of the call. Raises `NotUnderstood`, `errors.Ambiguous`."""
    if operation.handler is not None:
        return operation.handler(context)
    found: list[Effect] = []
    for target in _targets(operation, context):
        found += effects_on(operation, context, target)
    return tuple(found)


def _targets(operation: Operation, context: CallContext) -> Iterator[Target]:
    if operation.find_target is not None:
        yield operation.find_target(context)
        return
    given = {name: context.call.parameters[name] for name in operation.identity if context.call.parameters.get(name)}
    if not given and operation.action is EffectAction.CREATE:
        yield context.unnamed(operation.resource_type)
        return
    if len(operation.one_of & set(given)) > 1:
        raise NotUnderstood(f"both {' and '.join(sorted(operation.one_of & set(given)))}")
    lists = [name for name, value in given.items() if isinstance(value, (list, tuple))]
    if len(lists) > 1:
        raise NotUnderstood("two lists of names")
    members: Sequence[object] = given[lists[0]] if lists else [None]  # type: ignore[assignment]  # it is a list: see above
    for member in members:
        identity: dict[str, str] = {}
        for name, value in given.items():
            said = _identified(operation, context, name, member if name in lists else value)
            if identity and any(identity.get(key, text) != text for key, text in said.items()):
                raise NotUnderstood(f"{name} names another resource than the parameters before it")
            identity |= said
        target = context.target(operation.resource_type, identity)
        yield context.beside(target) if target.recorded and not operation.unique else target


def _identified(operation: Operation, context: CallContext, name: str, value: object) -> Mapping[str, str]:
    """The identifying attributes that the parameter `name` stands for."""
    if not isinstance(value, str):
        raise NotUnderstood(f"{name} is not text")
    rule = operation.identity[name]
    if not isinstance(rule, str):
        return rule(context, value)
    if value.startswith("arn:") and not rule.endswith(_MAY_BE_ARN):
        # Some operations accept an ARN although their model says name. Taken as a name, it would match no declared resource.
        return {rule: name_in_arn(context, operation.resource_type, rule, value)}
    return {rule: value}


def effects_on(operation: Operation, context: CallContext, target: Target) -> Iterator[Effect]:
    """The effects of the call on one resource. Raises `NotUnderstood`."""
    if operation.action in _ON_THE_WHOLE:
        accounted = (frozenset(operation.identity), operation.controls, operation.content)
        carried = account_for(operation.arguments, accounted, context, target)
        yield target.whole(operation.action, carried)
        yield from (target.put(name, None, action=operation.action) for name in operation.after_unknown)
        return
    creates = operation.action is EffectAction.CREATE or (operation.upserts and not target.recorded)
    action = EffectAction.CREATE if creates else EffectAction.SET
    values: dict[str, Json] = dict(operation.constants)
    if creates:
        yield target.whole(action)
        named = {
            key: value
            for key, value in target.identity.items()
            if key not in _NOT_SETTABLE and target.schema.knows(key)
        }
        values = {**named, **values}
    optional: set[str] = set()
    for path, attribute, value in _given(operation, target, context.call.parameters, ()):
        values[attribute] = value
        if not _is_obliged(operation, path):
            optional.add(attribute)
    if not creates:
        values |= _reset_to_defaults(operation, target, values, context.call.parameters)
    if not values and not creates:
        raise NotUnderstood("the call changes no attribute that the provider has")
    upserted = creates and operation.upserts
    for attribute, value in values.items():
        effect = target.put(attribute, value, action=action, secret=attribute in operation.secrets)
        obliged = attribute not in optional
        yield replace(effect, obliged=obliged, upserted=upserted) if obliged or upserted else effect
    for attribute, value in _switched_off(operation, values).items() if upserted else ():
        yield replace(target.put(attribute, value, action=action), implied=True, upserted=True)


def _is_obliged(operation: Operation, path: str) -> bool:
    """Whether a call that sets anything has to carry the parameter."""
    if operation.obliged is None and (operation.upserts or operation.defaults):
        return True
    named = (*(operation.obliged or ()), *operation.overwrites)
    return any(path == each or path.startswith(f"{each}.") for each in named)


def _switched_off(operation: Operation, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """The switches that an upsert turns off by leaving them out: if the resource exists, it loses them."""
    return {name: default for name, default in operation.defaults.items() if default is False and name not in given}


def _reset_to_defaults(
    operation: Operation, target: Target, given: Mapping[str, Json], parameters: Mapping[str, object]
) -> Mapping[str, Json]:
    """Attribute → default, for the attributes that the call omits and whose recorded value is not the default."""
    if not operation.defaults and not operation.overwrites:
        return {}
    defaults = dict(operation.defaults)
    for path, members in operation.overwrites.items():
        if _has(parameters, path):
            defaults |= members
    return {
        attribute: default
        for attribute, default in defaults.items()
        if not any(AttributePath(attribute).covers(name) for name in given)
        and not _is_default(AttributePath(attribute).value_at(target.recorded), default)
    }


def _has(parameters: object, path: str) -> bool:
    for step in path.split("."):
        parameters = parameters.get(step) if isinstance(parameters, Mapping) else None
    return bool(parameters)


def _is_default(recorded: Json, default: Json) -> bool:
    return recorded in (None, "", [], {}) or recorded == default


def attributes(
    operation: Operation, target: Target, parameters: Mapping[str, object], prefix: tuple[str, ...] = ()
) -> Iterator[tuple[str, Json]]:
    """(Attribute path, value) for all these parameters. Raises `NotUnderstood` for a parameter that nothing accounts for."""
    return ((attribute, value) for _, attribute, value in _given(operation, target, parameters, prefix))


def _given(
    operation: Operation, target: Target, parameters: Mapping[str, object], prefix: tuple[str, ...]
) -> Iterator[tuple[str, str, Json]]:
    """As `attributes`, each with the path of its parameter."""
    for name, value in parameters.items():
        steps = (*prefix, name)
        path = ".".join(steps)
        if value is not None and path not in operation.identity and path not in operation.controls:
            yield from _parameter(operation, target, steps, value)


def _parameter(
    operation: Operation, target: Target, steps: tuple[str, ...], value: object
) -> Iterator[tuple[str, str, Json]]:
    path = ".".join(steps)
    rule = operation.attributes.get(path)
    if callable(rule):
        yield from ((path, attribute, translated) for attribute, translated in rule(target, value).items())
        return
    attribute = rule or (match(target.schema, steps) if operation.by_name else None)
    kind = target.schema.kinds.get(attribute or "")
    # A structure is interpreted member by member, unless the provider has it as one value: a map, or one of several blocks.
    by_member = isinstance(value, Mapping) and value and kind in ("block", "bool", "number", "string")
    if attribute is not None and kind is not None and not by_member:
        yield path, attribute, _value(operation, target, steps, attribute, value)
    elif isinstance(value, Mapping) and value:
        yield from _given(operation, target, value, steps)
    else:
        raise NotUnderstood(f"parameter {path}")


def _value(operation: Operation, target: Target, steps: tuple[str, ...], attribute: str, value: object) -> Json:
    """The value in the provider's form. An empty structure removes the block, which the state writes as an empty list."""
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
    """The structure as one block: member of the block → value. Raises `NotUnderstood`."""
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
        found = rule or (match_member(target.schema, attribute, name) if operation.by_name else None)
        if found is not None:
            members[found.removeprefix(f"{attribute}.")] = _value(operation, target, inner, found, value)
        elif isinstance(value, Mapping) and value and operation.by_name and is_wrapper_in_block(name):
            members |= block_of(operation, target, inner, attribute, value)
        else:
            raise NotUnderstood(f"parameter {path}")
    return members
