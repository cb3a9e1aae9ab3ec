"""The types of bodies with only the members that tables follow from: a chain is verified several times as fast if the others are skipped."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.core.records.codec import BODIES
from gateway.core.records.decided import (
    DecidedBody,
    RecordedCall,
    RecordedCaller,
    RecordedDecision,
    RecordedEffect,
    RecordedFacts,
    RecordedSession,
)
from gateway.core.records.record import Stage
from gateway.core.records.time_boxes import RecordedTimeBox


def narrowed(kind: Any, *members: str, **parts: Any) -> type[msgspec.Struct]:
    """A type with only these members of the kind; `parts` have other types than there. A member that the kind lacks is a KeyError."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    return msgspec.defstruct(
        kind.__name__,
        [
            (name, parts.get(name, field.type), msgspec.field(default=field.default))
            if field.default is not msgspec.NODEFAULT
            else (name, parts.get(name, field.type))
            for name, field in ((name, fields[name]) for name in (*members, *parts))
        ],
        frozen=True,
        kw_only=True,
    )


FOLLOWED_EFFECT: Final = narrowed(RecordedEffect[msgspec.Raw], "address", "attribute", "action", "value", "implied")
"""The type of an effect in such a body."""
_DECIDED: Final = narrowed(
    DecidedBody[msgspec.Raw],
    "motive",
    "claims",
    "attempt",
    "puts_back",
    "refused_in_a_row",
    "refusals_until",
    "part",
    caller=narrowed(RecordedCaller, "kind", "key_id", "roles", "on_behalf_of"),
    call=narrowed(RecordedCall, "service", "operation", "digest"),
    effects=tuple[FOLLOWED_EFFECT, ...],  # type: ignore[valid-type]
    decision=narrowed(
        RecordedDecision,
        "verdict",
        "carried_out",
        "supersedes",
        "approval",
        "obligations",
        "binding",
        "binding_sha256",
        "attached",
    ),
    time_box=narrowed(RecordedTimeBox[msgspec.Raw], "until", "attributes") | None,
    plan=narrowed(RecordedSession, "key", "until") | None,
    facts=narrowed(RecordedFacts, "claims"),
)
"""Who follows DECIDED reads it as `DecidedBody[msgspec.Raw]`; the members that are not here are not there."""

FOLLOWED: Final[Mapping[str, Any]] = {
    stage.value: _DECIDED if stage is Stage.DECIDED else body for stage, body in BODIES.items()
}
"""The type of the body of each stage, as far as tables follow from it."""
