"""How calls of the data plane are treated."""

from collections.abc import Mapping
from enum import StrEnum

from gateway.core.model.caller import ActorKind


class DataTreatment(StrEnum):
    """What happens to a call of the data plane. The later, the stricter."""

    PASS = "pass"  # noqa: S105  not a password
    """Sent without a decision, and counted."""
    RECORD = "record"
    """Sent without a decision, and counted by resource."""
    POLICY = "policy"
    """Treated as a mutation."""


STRICTNESS = tuple(DataTreatment)
"""From the least to the most strict."""

DEFAULT_TREATMENTS: Mapping[ActorKind, DataTreatment] = {
    ActorKind.SERVICE: DataTreatment.PASS,
    ActorKind.HUMAN: DataTreatment.RECORD,
    ActorKind.PIPELINE: DataTreatment.RECORD,
    ActorKind.AGENT: DataTreatment.POLICY,
}
"""An application works with its own data; people and pipelines leave a trace; an agent acts within contracts and policies."""
