"""What events say was created outside of Sentinel and of the code: a change from outside of a whole resource, until the state has it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.drift_book import ForeignDrift
from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import load_module
from reconciler.adoption.adoption import DeclaredStack, adopt
from reconciler.adoption.extent import Adopt
from reconciler.adoption.model import LeftCreation
from reconciler.changes.cloudtrail import Event
from reconciler.drift.foreign_drift import OutsideChange
from reconciler.line.loop import Line
from reconciler.rewrite.imports import imports_of
from reconciler.terraform.plan import ResourceChange
from reconciler.terraform.plugin.import_session import import_session
from reconciler.terraform.state import read_recorded

CREATED: Final = "created"
"""The member of a live value that says by which id something is imported that was created outside."""
BY_HAND: Final = "It was created outside, and the service writes no block for that: `sentinel reconcile --events FILE --adopt all` writes it in a working copy."


class CreatedOutside(Protocol):
    """Finds what was created outside."""

    async def find(self, events: Sequence[Event]) -> tuple[OutsideChange, ...]:
        """What the events say was created, and what the stack does not have. Raises `errors.GitFailed` and its like."""
        ...

    async def is_declared(self, drift: ForeignDrift) -> bool:
        """Whether the state has it by now. Raises `errors.GitFailed` and its like."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedBesideCode:
    """Finds it beside the protected code of a stack."""

    line: Line

    async def find(self, events: Sequence[Event]) -> tuple[OutsideChange, ...]:
        """As `CreatedOutside.find`."""
        if not events:
            return ()
        root = await self.line.protected_root()
        code = load_module(root)
        stack = DeclaredStack(code=code, declared=await self._recorded(), imported=imports_of(code))
        async with import_session(self.line.terraform, root) as session:
            adoption = await adopt(session.open, events, stack, Adopt.NONE)
        return tuple(_outside(each) for each in adoption.left)

    async def is_declared(self, drift: ForeignDrift) -> bool:
        """As `CreatedOutside.is_declared`."""
        names = {drift.live.get(name) for name in (CREATED, "arn")} if isinstance(drift.live, Mapping) else set()
        recorded = await self._recorded()
        return any(own.get(name) in names - {""} for own in recorded.values() for name in ("id", "arn", "name"))

    async def _recorded(self) -> Mapping[str, Mapping[str, Json]]:
        found = await read_recorded(self.line.terraform, await self.line.protected_root(), self.line.state)
        return {
            address: own for address, own in found.items() if (parsed := parse_address(address)) and not parsed.data
        }


def is_created_outside(drift: ForeignDrift) -> bool:
    """Whether a change from outside is a resource that was created."""
    return drift.attribute == WHOLE and isinstance(drift.live, Mapping) and CREATED in drift.live


def _outside(left: LeftCreation) -> OutsideChange:
    kind = left.resource_type or left.origin.event.partition(":")[0]
    live: Mapping[str, Json] = {CREATED: left.identity, "arn": left.arn, "event": left.origin.event}
    change = ResourceChange(address=f"{kind}{{{left.identity}}}", attribute=WHOLE, live=live, actions=("create",))
    return OutsideChange(change=change, origin=left.origin)
