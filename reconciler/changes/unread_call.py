"""What is known of an applied call of which nobody understood what it changes: what it may concern, and what it names."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.derived_rows import derived_rows, types_of_service
from gateway.core.model.mutation import Basis, CallClass, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.records.decided import DecidedBody, RecordedEffect

_MOST_NAMES: Final = 1_000
"""Texts of a call's parameters that are compared with the names of resources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadCall:
    """A call of which nobody understood what it changes, or only the resource."""

    types: frozenset[str]
    """The resource types that operations of its service concern."""
    names: frozenset[str]
    """The texts among its parameters, by which it may name what it is about."""
    touched: frozenset[str] = frozenset()
    """The addresses of which any attribute may have changed."""
    only_invokes: bool = False
    """Whether the rows say that it does something, and changes nothing."""


def is_unread(body: DecidedBody[Any]) -> bool:
    """Whether nobody understood what the call changes: nothing of it, or only on which resource it is."""
    if not body.effects:
        return body.call.call_class.changes_state
    return any(_is_touched(effect) for effect in body.effects)


def _is_touched(effect: RecordedEffect[Any]) -> bool:
    return (
        effect.basis is Basis.RESOURCE
        and effect.action is EffectAction.INVOKE
        and effect.attribute == WHOLE
        and effect.in_code
    )


def unread_call(body: DecidedBody[Any], effects: Iterable[RecordedEffect[Any]]) -> UnreadCall | None:
    """What is known of the call of a record that nobody understood, with the effects on the record's stack; None of every other one."""
    if body.call.call_class is CallClass.DATA or body.plan is not None or not is_unread(body):
        return None
    call = body.call
    rows = derived_rows(call.service, call.operation)
    return UnreadCall(
        types=frozenset() if body.effects else types_of_service(call.service),
        names=frozenset(_texts(call.parameters, [_MOST_NAMES])),
        touched=frozenset(each.address for each in effects if _is_touched(each)),
        only_invokes=bool(rows) and all(row.actions == {EffectAction.INVOKE} for row in rows),
    )


def _texts(value: object, left: list[int]) -> Iterator[str]:
    """The texts in the value, as many as `left` says."""
    if left[0] <= 0:
        return
    if isinstance(value, str):
        left[0] -= 1
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, left)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, left)
