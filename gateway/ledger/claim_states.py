"""The states of a claim and every transition between them, in one table. What changes a claim asks it first; what it does not name is refused."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.errors import ImpossibleTransition
from gateway.ledger.rows import ClaimRow


class ClaimState(StrEnum):
    """What a claim means for others. Those after STANDING are ends."""

    UNSETTLED = "unsettled"
    """Its mutation is in flight or in doubt: nobody sets the attribute, and the claim does not expire."""
    STANDING = "standing"
    """It keeps out who does not outrank it."""
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    """A mutation that outranked it took its place. If that one fails or changes nothing, the claim is reopened."""
    RELEASED = "released"
    MERGED = "merged"
    FAILED = "failed"
    UNNEEDED = "unneeded"
    RESTATED = "restated"


class ClaimEvent(StrEnum):
    """What happens to a claim."""

    TAKEN = "taken"
    APPLIED = "applied"
    RESTATED = "restated"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    RELEASED = "released"
    MERGED = "merged"
    UNNEEDED = "unneeded"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTransition:
    """One line of the table."""

    before: ClaimState | None
    """None for a claim that there was not."""
    event: ClaimEvent
    after: ClaimState
    cause: str
    """When it happens, as half a sentence."""
    record: str
    """The stage of the record that tells of it."""


def _line(
    before: ClaimState | None, event: ClaimEvent, after: ClaimState, cause: str, *, record: str
) -> ClaimTransition:
    return ClaimTransition(before=before, event=event, after=after, cause=cause, record=record)


_S, _E = ClaimState, ClaimEvent
TRANSITIONS: Final[tuple[ClaimTransition, ...]] = (
    _line(None, _E.TAKEN, _S.UNSETTLED, "a mutation that sets or deletes is carried out", record="decided"),
    _line(_S.UNSETTLED, _E.APPLIED, _S.STANDING, "AWS applied the mutation", record="settled"),
    _line(_S.UNSETTLED, _E.RESTATED, _S.RESTATED, "it was applied, and set the value that was there", record="settled"),
    _line(_S.UNSETTLED, _E.FAILED, _S.FAILED, "AWS refused the mutation, or never carried it out", record="settled"),
    _line(_S.UNSETTLED, _E.RELEASED, _S.RELEASED, "an approver ends a claim in doubt", record="released"),
    _line(_S.UNSETTLED, _E.SUPERSEDED, _S.SUPERSEDED, "in observe mode only: another change is applied", record="decided"),
    _line(_S.STANDING, _E.SUPERSEDED, _S.SUPERSEDED, "a mutation that outranks it, or its own actor's, is carried out", record="decided"),
    _line(_S.STANDING, _E.EXPIRED, _S.EXPIRED, "its time is up", record="expired"),
    _line(_S.STANDING, _E.RELEASED, _S.RELEASED, "its holder or an approver ends it early", record="released"),
    _line(_S.STANDING, _E.FAILED, _S.FAILED, "it came back after an approver had ended its mutation's claims, which then proved failed", record="settled"),
    _line(_S.STANDING, _E.MERGED, _S.MERGED, "the code declares the value", record="reconciled"),
    _line(_S.STANDING, _E.UNNEEDED, _S.UNNEEDED, "the code came to declare the value by itself", record="unneeded"),
    _line(_S.SUPERSEDED, _E.REOPENED, _S.STANDING, "what superseded it failed, or only restated its value", record="settled"),
    _line(_S.SUPERSEDED, _E.REOPENED, _S.UNSETTLED, "the same, while its own outcome is not known", record="settled"),
)  # fmt: skip
"""Every transition that there is."""

_ALLOWED: Final = frozenset((line.before, line.event) for line in TRANSITIONS)


def state_of(row: ClaimRow) -> ClaimState:
    """The state that a row says. An end counts whatever else the row says."""
    if row.ended_at is not None:
        return ClaimState(row.end or "")
    return ClaimState.UNSETTLED if row.unsettled else ClaimState.STANDING


def require(rows: Iterable[ClaimRow], event: ClaimEvent) -> None:
    """Raise `errors.ImpossibleTransition` unless the event can happen to each of these claims, as they are now."""
    for row in rows:
        if (state_of(row), event) not in _ALLOWED:
            raise ImpossibleTransition(
                f"Claim {row.id} on {row.attribute} of {row.address} is {state_of(row).value}, so it cannot be {event.value}. "
                "Nothing was stored; read the claim again."
            )


def table_text() -> str:
    """The table in Markdown, for `README.md`."""
    lines = [
        f"| {line.before.value if line.before else '–'} | {line.event.value} | {line.after.value} | {line.cause} | `{line.record}` |"
        for line in TRANSITIONS
    ]
    return "\n".join(["| State | Event | Next state | When | Record |", "|---|---|---|---|---|", *lines])
