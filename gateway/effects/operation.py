"""One row of a service's table: what one AWS operation does to which resource, said as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gateway.effects.context import CallContext, Target
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

Identify = Callable[[CallContext, str], Mapping[str, str]]
"""Turns an identifying parameter into attributes that identify, e.g. a queue's URL into its name."""

Translate = Callable[[Target, object], Mapping[str, Json]]
"""Turns a parameter into attributes and their values in the provider's form, where the names alone do not do it."""

Handler = Callable[[CallContext], tuple[Effect, ...]]
"""Understands a whole call, where a row cannot say what it does. Raises `NotUnderstood`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one operation does. Parameters are named by their path in botocore's model, dotted; list members have no step of their own.

    Every parameter of a SET or CREATE must be accounted for: by `identity`, `attributes`, `controls` or the matcher. Otherwise the
    whole call is not understood. A DELETE or INVOKE concerns the thing as a whole, whatever else it says.
    """

    resource_type: str
    identity: Mapping[str, str | Identify] = field(default_factory=dict)
    """Parameter → attribute that it identifies the thing by. A list of values means so many things."""
    action: EffectAction = EffectAction.SET
    attributes: Mapping[str, str | Translate] = field(default_factory=dict)
    """Parameter path → attribute path, where the matcher does not find it."""
    constants: Mapping[str, Json] = field(default_factory=dict)
    """Attribute values that the operation itself means, e.g. `enable_key_rotation = true`."""
    controls: frozenset[str] = frozenset()
    """Parameters that say how the call is made and change nothing that the provider knows."""
    after_unknown: tuple[str, ...] = ()
    """Of an INVOKE: the attributes that it changes, to values that only AWS knows. Without any it leaves the thing's attributes alone."""
    secrets: frozenset[str] = frozenset()
    """Attributes whose value is secret although the provider does not say so."""
    upserts: bool = False
    """Whether it makes the thing where the state knows none yet."""
    defaults: Mapping[str, Json] = field(default_factory=dict)
    """Of an operation that overwrites the whole thing: attribute → what it falls back to where the call leaves it out."""
    handler: Handler | None = None
    """Understands the call instead of this row."""
    other_types: tuple[str, ...] = ()
    """Other resource types that `special` may speak of."""


def controls(*parameters: str) -> frozenset[str]:
    """Parameters without an effect of their own."""
    return frozenset(parameters)
