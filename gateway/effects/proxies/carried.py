"""What an unpacked call consists of: each `Carried` call, or what is `Unread` of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gateway.core.model.mutation import Call
from gateway.effects.call_context import CallContext
from gateway.effects.operation import Operation

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A call that another one makes AWS carry out."""

    call: Call
    role: str = ""
    """ARN of the role with whose rights AWS makes it, or a text that says that one is used; empty if it has the rights of the outer call."""
    row: Operation | None = None
    """What it does, where the parameters are not those of the operation; None to look the operation up."""
    now: bool = False
    """Whether it is done when the outer call is answered. Otherwise AWS does it later, or manages what it makes."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A part that cannot be unpacked. The rest is unpacked nevertheless: it may hold what is refused to everybody."""

    reason: str
    """The rest of a sentence. It may name what the caller sent, but no values of parameters."""


Parcel: TypeAlias = "Carried | Unread"
Unpack: TypeAlias = Callable[[CallContext], Iterator[Parcel]]
"""Unpacks a call. May raise `NotUnderstood`, which ends what it can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """How the calls inside an operation's calls are found."""

    unpack: Unpack
    own: bool = True
    """Whether the outer call does something itself, by its own row. An entry of a batch is all that a batch does."""


class Runtime(str):
    """A value that AWS fills in when it makes the call. Its text is the expression. It may stand only where nobody interprets the value."""

    __slots__ = ()


def holds_runtime(value: object) -> bool:
    """Whether a value, or a part of it, is filled in by AWS when it makes the call."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, Runtime):
            return True
        if isinstance(part, Mapping):
            todo.extend(part.values())
            todo.extend(part)
        elif isinstance(part, list | tuple):
            todo.extend(part)
    return False


def inner_call(outer: CallContext, service: str, operation: str, parameters: Mapping[str, object]) -> Call:
    """A call in the place of the outer one."""
    return Call(
        service=service,
        operation=operation,
        parameters=parameters,
        account=outer.call.account,
        region=outer.call.region,
        digest_key=outer.call.digest_key,
    )


def shown(text: object) -> str:
    """What a caller wrote, short and on one line, for a sentence."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in str(text)[: _LONGEST_SHOWN + 1])
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"
