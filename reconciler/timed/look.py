"""What the live values say about a change whose time is up: it can be put back, or somebody changed it past Sentinel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.model.json import Json
from gateway.model.path import AttributePath
from gateway.model.time_box import TimeBoxPart, TimeBoxState
from gateway.terraform.address import split_stack
from gateway.time_box_ports import DueChange
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.refreshed import Refreshed

_CHANGED = "It was changed past Sentinel since, so it is left to a human: what the change set is not there any more."
_REASONS = {
    TimeBoxState.SUPERSEDED: "A later change has the attribute, so it is left as it is.",
    TimeBoxState.STILL_WANTED: "Another change for a time wants the same value for longer, and goes back at its own end.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftPart:
    """An attribute that is not put back."""

    address: str
    attribute: str
    state: TimeBoxState
    by: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """The form DBOS stores between steps."""
        return {
            "address": self.address,
            "attribute": self.attribute,
            "state": self.state.value,
            "by": self.by,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> "LeftPart":
        """The inverse of `to_json`."""
        return cls(**{**form, "state": TimeBoxState(form["state"])})


def left_to_others(change: DueChange) -> list[LeftPart]:
    """What others have by the ledger."""
    return [
        LeftPart(address=part.address, attribute=part.attribute, state=state, by=by, reason=_REASONS[state])
        for part, state, by in change.alone
    ]


def changed_outside(parts: Sequence[TimeBoxPart], live: Refreshed) -> list[LeftPart]:
    """The parts whose live value is neither what the change set nor what is to be put back."""
    return [
        LeftPart(address=part.address, attribute=part.attribute, state=TimeBoxState.CHANGED_OUTSIDE, reason=_CHANGED)
        for part in parts
        if not _is_ours(part, live)
    ]


def not_read(parts: Sequence[TimeBoxPart], live: Refreshed) -> list[str]:
    """The addresses that the look did not show."""
    return sorted({part.address for part in parts if live.exists(address_in_stack(part)) is None})


def address_in_stack(part: TimeBoxPart) -> str:
    """The address in the stack itself. The ledger names the stack too where several have the address."""
    stack, address = split_stack(part.address)
    return address if stack == part.stack else part.address


def _is_ours(part: TimeBoxPart, live: Refreshed) -> bool:
    """Whether the value is the one that was set. One that is as before may be so only until AWS carries the change out."""
    address = address_in_stack(part)
    if not live.exists(address):
        return False
    value = AttributePath(part.attribute).value_at(live.objects[address])
    return agrees(part.value, value) or same(part.base, value)
