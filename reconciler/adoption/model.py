"""The nouns of adoption: what was created and is not, and the result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from reconciler.changes.event_creations import Created
from reconciler.model import DriftOrigin

SHORTEST_NAME: Final = 3
"""Characters of a name; shorter texts name nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftCreation:
    """Something that was created and is not written into code."""

    resource_type: str
    """Empty if it is not known."""
    identity: str
    """The id to import it by, or what the event says of its name; empty if the event says none."""
    origin: DriftOrigin
    why: str
    """A sentence."""
    arn: str = ""
    """Empty if it is not known."""
    diff: str = ""
    """As in `reconciler.model.Left`."""
    named_by: Mapping[str, str] = field(default_factory=dict)
    """As in `Created`."""

    @property
    def names(self) -> Mapping[str, str]:
        """The attributes by which others name it, as far as they are known."""
        known = {"id": self.identity, "arn": self.arn, **self.named_by}
        return {name: value for name, value in known.items() if len(value) >= SHORTEST_NAME}


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What becomes of the creations that events tell of."""

    created: tuple[tuple[Created, DriftOrigin], ...] = ()
    """Is to be written."""
    left: tuple[LeftCreation, ...] = ()
    inside: tuple[LeftCreation, ...] = ()
    """Parts that the block of what they belong to declares itself: a plan shows them as a change of that one."""
    noted: tuple[str, ...] = ()
    """What is accounted for otherwise, a sentence each."""


def left_creation_to_json(left: LeftCreation) -> dict[str, Json]:
    """Its members in the report: `type`, `identity`, `arn`, `by`, `at`, `event`, `why`, and those of every other entry under `left`."""
    return {
        "address": "",
        "attribute": WHOLE,
        "value": None,
        "reason": left.why,
        "chain": [],
        "type": left.resource_type,
        "identity": left.identity,
        "arn": left.arn,
        "by": left.origin.actor,
        "at": left.origin.at.isoformat(),
        "event": left.origin.event,
        "why": left.why,
        **({"diff": left.diff} if left.diff else {}),
    }


Declared = Mapping[str, Mapping[str, Json]]
"""The attributes of the declared resources by address."""
