"""What records say about changes for a time: what DECIDED foresees for their end, and the bodies of RESCHEDULED and NOT_PUT_BACK."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from gateway.core.model.json import to_json
from gateway.core.model.mutation import Call
from gateway.core.model.time_box import TimeBoxState
from gateway.core.records.record import Body, Stage

Value = TypeVar("Value")


class BoxedAttribute(msgspec.Struct, Generic[Value], frozen=True, kw_only=True, omit_defaults=True):
    """An attribute that is put back."""

    address: str
    attribute: str
    value: Value
    base: Value
    """The value to set."""
    root: str = ""
    """The first of several changes for a time on top of each other; absent if this is the first."""


class RecordedPutBack(msgspec.Struct, frozen=True, kw_only=True):
    """The call that puts all of it back."""

    service: str
    operation: str
    account: str
    region: str
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, call: Call) -> "RecordedPutBack":
        """The recorded form of a call."""
        parameters: Any = to_json(call.parameters)
        return cls(
            service=call.service,
            operation=call.operation,
            account=call.account,
            region=call.region,
            parameters=parameters,
        )

    def to_call(self) -> Call:
        """The call itself."""
        return Call(**{name: getattr(self, name) for name in self.__struct_fields__})


class RecordedTimeBox(msgspec.Struct, Generic[Value], frozen=True, kw_only=True):
    """What is put back at the end of a change for a time."""

    until: str
    call: RecordedPutBack
    attributes: tuple[BoxedAttribute[Value], ...]


class PutsBack(msgspec.Struct, frozen=True, kw_only=True):
    """Which change for a time a mutation puts back."""

    mutation: str
    attributes: tuple[tuple[str, str], ...]
    """Address and attribute."""


class AttributeKey(msgspec.Struct, frozen=True, kw_only=True):
    """One attribute of one resource."""

    address: str
    attribute: str


class MovedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim whose end was moved."""

    id: str
    until: str


class RescheduledBody(Body, frozen=True, kw_only=True):
    """The end of a change for a time was moved; the record's actor is who moved it. Ended early, `until` is the record's time."""

    stage: ClassVar[Stage] = Stage.RESCHEDULED

    until: str
    was: str
    holder: str
    reason: str
    claims: tuple[MovedClaim, ...]
    attributes: tuple[AttributeKey, ...]


class NotPutBackBody(Body, frozen=True, kw_only=True):
    """Attributes of a change for a time stay as they are at its end; the record's actor is the holder."""

    stage: ClassVar[Stage] = Stage.NOT_PUT_BACK

    state: TimeBoxState
    """`superseded`, `still_wanted`, `changed_outside` or `left`: the last two wait for a human."""
    by: str
    """The mutation that has them."""
    reason: str
    attributes: tuple[AttributeKey, ...]
