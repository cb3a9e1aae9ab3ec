"""The bodies of TURNED_AWAY and PASSED: requests that no decision was made about."""

from typing import ClassVar

import msgspec

from gateway.core.model.caller import ActorKind
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.mutation import CallClass, Door
from gateway.core.records.record import Body, Stage


class TurnedAwayBody(Body, frozen=True, kw_only=True):
    """A request that was refused before it became a mutation."""

    stage: ClassVar[Stage] = Stage.TURNED_AWAY

    code: str
    reason: str
    peer: str
    about: str
    """Method and path, or the operation."""
    key_id: str
    """Of an unauthenticated caller its last four characters and SHA-256."""
    suppressed: int
    """How many refusals before it were not recorded."""


class KeyedCaller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asked, with which key."""

    kind: ActorKind
    key_id: str
    on_behalf_of: str


class CountedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The operation whose calls are counted."""

    service: str
    operation: str
    call_class: CallClass = msgspec.field(name="class")
    """`data`, or `read` for reads with a presigned URL."""


class CountedResource(msgspec.Struct, frozen=True, kw_only=True):
    """How often one resource was named."""

    address: str
    count: int


class PassedBody(Body, frozen=True, kw_only=True):
    """How many calls of the data plane passed, for each key, stack, operation and door a minute."""

    stage: ClassVar[Stage] = Stage.PASSED

    caller: KeyedCaller
    call: CountedCall
    door: Door
    treatment: DataTreatment
    count: int
    errors: int
    """How many of AWS's replies were errors, or did not come."""
    since: str
    until: str
    resources: tuple[CountedResource, ...]
    """At most 100."""
    other_resources: int
