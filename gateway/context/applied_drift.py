"""What Sentinel applied and the code does not declare yet: the other cause of drift, beside changes from outside."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gateway.context.excerpt import excerpt
from gateway.context.ports import AppliedValue, ContextLedger
from gateway.core.errors import Ambiguous
from gateway.core.model.caller import Caller
from gateway.core.model.equality import equal
from gateway.core.model.json import Json, to_json
from gateway.core.model.masking import holds_mask
from gateway.core.model.path import WHOLE
from gateway.terraform.stacks import Stacks

APPLIED: Final = "applied"
FOREIGN: Final = "foreign"
MOST_APPLIED: Final = 500
"""Applied values in one answer."""
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftQuery:
    """Which drift to list. Empty members do not restrict the result."""

    stack: str = ""
    cause: str = ""
    """`applied` or `foreign`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedDrift:
    """One value by which live and code differ because Sentinel applied it."""

    stack: str
    declared: Json
    applied: AppliedValue

    def to_json(self, caller: Caller) -> dict[str, Any]:
        """The members that every drift has."""
        at: datetime = self.applied.at
        return {
            "cause": APPLIED,
            "since": to_json(at),
            "stack": self.stack,
            "address": self.applied.address,
            "attribute": self.applied.attribute,
            "live": excerpt(self.applied.value, caller),
            "declared": excerpt(self.declared, caller),
            "sensitive": holds_mask(self.applied.value),
            "origin": {"mutation_id": self.applied.mutation_id},
            "proposal": {"branch": self.applied.branch, "commit": self.applied.commit} if self.applied.commit else None,
        }


async def applied_drift(stacks: Stacks, ledger: ContextLedger, query: DriftQuery) -> tuple[list[AppliedDrift], bool]:
    """The applied values that the code does not declare, by address, and whether there are more. Raises `errors.LedgerUnavailable`."""
    found: list[AppliedDrift] = []
    after = ("", "")
    while page := await ledger.applied(after=after, limit=_PAGE):
        for value in page:
            drift = _drift(stacks, value, query.stack)
            if drift is not None and len(found) == MOST_APPLIED:
                return found, True
            if drift is not None:
                found.append(drift)
        after = (page[-1].address, page[-1].attribute)
    return found, False


def _drift(stacks: Stacks, value: AppliedValue, wanted: str) -> AppliedDrift | None:
    """The drift by an applied value; None if the code declares it, or no stack (or another one) has the resource."""
    try:
        stack = stacks.declaring(value.address)
    except Ambiguous:
        return None
    if stack is None or wanted not in ("", stack.name) or value.attribute == WHOLE:
        return None
    declared = stack.declared(value.address, value.attribute)
    if declared is not None and equal(declared, value.value):
        return None
    return AppliedDrift(stack=stack.name, declared=declared, applied=value)
