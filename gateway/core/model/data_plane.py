"""The calls of the data plane that pass, and what is recorded of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway.core.model.caller import Caller
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.mutation import CallClass, Door


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A call of the data plane that passes."""

    caller: Caller
    service: str
    operation: str
    stack: str
    """The stack that declares the resource; empty if none does, and for a call that names none or several stacks' resources."""
    addresses: tuple[str, ...]
    """The resources that the call is about; empty if it names none."""
    treatment: DataTreatment
    call_class: CallClass = CallClass.DATA
    door: Door = Door.AWS
    durable: bool = False
    """Whether it is recorded before it is sent, not with the others of its minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedCalls:
    """The calls of one key to one operation in one stack that passed in a short time, as the ledger records them."""

    caller: Caller
    service: str
    operation: str
    stack: str
    treatment: DataTreatment
    count: int
    errors: int
    """How many of AWS's replies were errors, or did not come."""
    since: datetime
    """When the first of them passed."""
    until: datetime
    """When the last of them passed."""
    resources: Mapping[str, int] = field(default_factory=dict)
    """How often each resource was named, with the treatment `record`."""
    others: int = 0
    """How often resources beyond the first `data_plane.MOST_RESOURCES` were named."""
    call_class: CallClass = CallClass.DATA
    """DATA; READ for reads with a presigned URL."""
    door: Door = Door.AWS
