"""One row of a service's table: what one AWS operation does to which resource, as data, and how its parameters are accounted for.

A call that is not understood is held for a human. The parameters of a DELETE or INVOKE are listed as `arguments` only if the call then does
nothing else than its name says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.effects.call_context import CallContext, Target
from gateway.effects.values import NotUnderstood

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
"""The actions, as the tables write them."""

Argument = Callable[[CallContext, Target, object], Json]
"""Gives the part of a parameter's value that the effect on the target carries. Raises `NotUnderstood`."""


def any_value(_context: CallContext, _target: Target, value: object) -> Json:
    """The value itself."""
    return to_json(value)


def only(*harmless: Json) -> Argument:
    """One of these values; with any other the call does something that its name does not say."""

    def argument(_context: CallContext, _target: Target, value: object) -> Json:
        if value not in harmless:
            raise NotUnderstood("a value that makes the operation do more than its name says")
        return to_json(value)

    return argument


def as_recorded(attribute: str, *harmless: Json) -> Argument:
    """The value that the code's owner gave to `attribute`, so that Terraform would send it too; or a harmless one, by default False."""

    def argument(_context: CallContext, target: Target, value: object) -> Json:
        if value not in (harmless or (False,)) and target.recorded.get(attribute) != value:
            raise NotUnderstood(f"a value that {attribute} of the declared resource does not have")
        return to_json(value)

    return argument


def account_for(
    arguments: Mapping[str, Argument], others: Sequence[frozenset[str]], context: CallContext, target: Target
) -> Json:
    """The parameters of the call that the effect on the target carries; None if it carries none.

    `others` are the names of parameters that are accounted for elsewhere. Raises `NotUnderstood` for a parameter that nothing accounts for.
    """
    found: dict[str, Json] = {}
    for name, value in context.call.parameters.items():
        if value is None or any(name in known for known in others):
            continue
        if name not in arguments:
            raise NotUnderstood(f"parameter {name}")
        found[name] = arguments[name](context, target, value)
    return found or None


Identify = Callable[[CallContext, str], Mapping[str, str]]
"""Converts an identifying parameter to identifying attributes, e.g. a queue's URL to its name. Raises `NotUnderstood`."""

FindTarget = Callable[[CallContext], Target]
"""Finds the resource that a call is aimed at. Raises `NotUnderstood`, `errors.Ambiguous`."""

Translate = Callable[[Target, object], Mapping[str, Json]]
"""Converts a parameter to attributes and their values in the provider's form. Raises `NotUnderstood`."""

Handler = Callable[[CallContext], tuple[Effect, ...]]
"""Interprets a whole call. Raises `NotUnderstood`, `errors.Ambiguous`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one operation does. Parameters are named by their dotted path in botocore's model; members of a list have no step of their own.

    Every parameter must be accounted for: by `identity`, `controls`, `content`, for a SET or CREATE by `attributes` or the matcher, for
    a DELETE or INVOKE by `arguments`. Otherwise the whole call is not understood.
    """

    resource_type: str
    identity: Mapping[str, str | Identify] = field(default_factory=dict)
    """Parameter → the attribute that it identifies the resource by. A list of values means one resource per value."""
    one_of: frozenset[str] = frozenset()
    """Parameters of `identity` that name the same resource in different ways. A call with several of them may name two resources."""
    find_target: FindTarget | None = None
    """Finds the resource where the identifying parameters alone cannot; they are still listed in `identity`."""
    unique: bool = True
    """For a CREATE: whether AWS has one resource at most with this identity. Else the call creates another one beside the recorded one."""
    action: EffectAction = EffectAction.SET
    attributes: Mapping[str, str | Translate] = field(default_factory=dict)
    """Parameter path → attribute path or translation, where the matcher does not find the attribute."""
    by_name: bool = True
    """Whether the matcher looks for the attribute of a parameter that `attributes` does not name. Otherwise the call is not understood."""
    constants: Mapping[str, Json] = field(default_factory=dict)
    """Attribute values that the operation itself implies, e.g. `enable_key_rotation = true`."""
    controls: frozenset[str] = frozenset()
    """Parameters that control how the call is made and change nothing that the provider has an attribute for."""
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    """For a DELETE or INVOKE: parameter → what the effect carries of it as its value."""
    content: frozenset[str] = frozenset()
    """Parameters that are data which the resource stores or passes on: nobody interprets them, and no effect carries them."""
    after_unknown: tuple[str, ...] = ()
    """For INVOKE: attributes whose new value only AWS knows. Empty if the operation changes no attribute."""
    secrets: frozenset[str] = frozenset()
    """Attributes whose value is secret although the provider does not mark them as sensitive."""
    upserts: bool = False
    """Whether the operation creates the resource if it is not there, and changes it if it is."""
    defaults: Mapping[str, Json] = field(default_factory=dict)
    """For an operation that overwrites the whole resource: attribute → the value that AWS gives it if the call omits it."""
    overwrites: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """For a structure that AWS replaces as a whole if the call has it: parameter path → the defaults of its members, as in `defaults`."""
    obliged: frozenset[str] | None = None
    """Paths of the parameters that a caller cannot leave out: AWS requires them, or resets what the call omits. What `overwrites` names
    is among them. None: all, if the operation overwrites the whole resource (it has `defaults` or upserts), else no others.
    """
    handler: Handler | None = None
    """Interprets the call in place of this row, where data cannot say what the call does."""
    other_types: tuple[str, ...] = ()
    """Further resource types that `handler`, `find_target` or `identity` look up."""


def controls(*parameters: str) -> frozenset[str]:
    """The parameters as a set, for `Operation.controls`."""
    return frozenset(parameters)
