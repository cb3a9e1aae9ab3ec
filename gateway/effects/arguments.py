"""Accounts for the parameters of a DELETE or INVOKE: what its effect carries of them, or that the call is not understood.

A call is held for a human if it is not understood, so a parameter is listed only if it makes the call do nothing else than its name says.
"""

from collections.abc import Callable, Mapping, Sequence

from gateway.core.model.json import Json, to_json
from gateway.effects.call_context import CallContext, Target
from gateway.effects.values import NotUnderstood

Argument = Callable[[CallContext, Target, object], Json]
"""What the effect on the target carries of a parameter's value. Raises `NotUnderstood`."""


def carried(_context: CallContext, _target: Target, value: object) -> Json:
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
    """What the effect on the target carries of the call; None if nothing.

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
