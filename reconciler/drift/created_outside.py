"""What events say was created outside of Sentinel and of the code: a change from outside of a whole resource, until the state has it.

What may be written into code, by `reconcile.adopt`, is marked so: policy decides whether it is, and a person may decide so of the rest.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from gateway.core.drift_book import ForeignDrift
from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json, canonical
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, type_of_named
from gateway.terraform.config.module import load_module
from reconciler.adoption.adoption import DeclaredStack, adopt
from reconciler.adoption.identified import NotIdentified, read_again
from reconciler.adoption.model import LeftCreation
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import KnownCreation
from reconciler.changes.event_creations import Created
from reconciler.changes.outside_changes import OutsideChange
from reconciler.errors import PluginUnavailable
from reconciler.line.loop import Line
from reconciler.model import DriftOrigin
from reconciler.rewrite.imports import imports_of
from reconciler.terraform.plan import ResourceChange
from reconciler.terraform.plugin.import_session import import_session
from reconciler.terraform.plugin.state_resources import identities_in
from reconciler.terraform.state import read_recorded

log = structlog.get_logger()

Live = Mapping[str, Mapping[str, Json]]
CREATED: Final = "created"
"""The member of a live value that says by which id something is imported that was created outside."""
_ADOPT, _GIVEN, _OF, _WHY = "adopt", "given", "of", "why"
"""Members of it: whether the settings want it written, the arguments that its block will have, the address of what it belongs to, and why the
settings do not want it written."""
_IDENTITY: Final = (CREATED, "arn", "event")
"""The members that stay the same while the resource does."""


class CreatedOutside(Protocol):
    """Finds what was created outside."""

    async def find(self, events: Sequence[Event], live: Live) -> tuple[OutsideChange, ...]:
        """What the events say was created, and what the stack does not have. `live` has live attributes by address, as far as they are known:
        what a declared resource names by now belongs to the stack. Raises `errors.GitFailed` and its like.
        """
        ...

    async def is_accounted(self, drift: ForeignDrift) -> bool:
        """Whether the state has it by now, or it is gone. Raises `errors.GitFailed` and its like."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedBesideCode:
    """Finds it beside the protected code of a stack."""

    line: Line

    async def find(self, events: Sequence[Event], live: Live) -> tuple[OutsideChange, ...]:
        """As `CreatedOutside.find`."""
        if not events:
            return ()
        root = await self.line.protected_root()
        code = load_module(root)
        stack = DeclaredStack(
            code=code,
            declared={address: {**own, **live.get(address, {})} for address, own in (await self._recorded()).items()},
            imported=imports_of(code),
            others=await asyncio.to_thread(self._of_other_stacks),
        )
        async with import_session(self.line.terraform, root) as session:
            adoption = await adopt(session.open, events, stack, self.line.adopt)
        writable = (_writable(created, origin) for created, origin in adoption.created)
        return (*writable, *(_listed(each) for each in adoption.left))

    def _of_other_stacks(self) -> frozenset[tuple[str, str]]:
        """What the other stacks of the settings have in their state files. One that cannot be read is logged: what it has is named then."""
        found = frozenset[tuple[str, str]]()
        for root, state in self.line.states.items():
            if root == self.line.source.resolve():
                continue
            try:
                found |= identities_in(state)
            except PluginUnavailable as error:
                log.warning("state_of_other_stack_not_read", stack=self.line.stack, error=str(error))
        return found

    async def is_accounted(self, drift: ForeignDrift) -> bool:
        """As `CreatedOutside.is_accounted`."""
        names = {drift.live.get(name) for name in (CREATED, "arn")} if isinstance(drift.live, Mapping) else set()
        recorded = await self._recorded()
        declared = any(own.get(name) in names - {""} for own in recorded.values() for name in ("id", "arn", "name"))
        return declared or await self._is_gone(drift)

    async def _is_gone(self, drift: ForeignDrift) -> bool:
        """Whether the provider says that there is no such resource any more; what it cannot tell stays."""
        known = known_creation(drift)
        if not known.resource_type.startswith("aws_") or not known.import_id:
            return False
        async with import_session(self.line.terraform, await self.line.protected_root()) as session:
            try:
                provider = await session.open()
                if known.resource_type not in provider.types:
                    return False
                found = await read_again(provider, known)
            except PluginUnavailable:
                return False
        return isinstance(found, NotIdentified) and found.absent

    async def _recorded(self) -> Mapping[str, Mapping[str, Json]]:
        found = await read_recorded(self.line.terraform, await self.line.protected_root(), self.line.state)
        return {
            address: own for address, own in found.items() if (parsed := parse_address(address)) and not parsed.data
        }


def is_created_outside(drift: ForeignDrift) -> bool:
    """Whether a change from outside is a resource that was created."""
    return drift.attribute == WHOLE and isinstance(drift.live, Mapping) and CREATED in drift.live


def known_creation(drift: ForeignDrift) -> KnownCreation:
    """What a change from outside that `is_created_outside` says of the resource."""
    live = drift.live if isinstance(drift.live, Mapping) else {}
    given = live.get(_GIVEN)
    return KnownCreation(
        resource_type=drift.resource_type or type_of_named(drift.address),
        import_id=str(live.get(CREATED) or ""),
        given=frozenset(map(str, given)) if isinstance(given, list) else frozenset(),
    )


def left_creation(drift: ForeignDrift) -> LeftCreation:
    """A change from outside that `is_created_outside`, as what is not written."""
    known, live = known_creation(drift), drift.live if isinstance(drift.live, Mapping) else {}
    origin = DriftOrigin(actor=drift.origin.actor if drift.origin else "", event=str(live.get("event")), at=drift.at)
    return LeftCreation(
        resource_type=known.resource_type,
        identity=known.import_id,
        origin=origin,
        why=drift.reason,
        arn=str(live.get("arn") or ""),
    )


def creation_id(outside: OutsideChange, stack: str, ended: int) -> str:
    """The id of a creation: the same while the resource stays, whatever the settings say of it."""
    change = outside.change
    live = {name: change.live.get(name) for name in _IDENTITY} if isinstance(change.live, Mapping) else {}
    return digest_id("fgn", stack, change.address, change.attribute, canonical(live).decode(), str(ended))


def _writable(created: Created, origin: DriftOrigin) -> OutsideChange:
    live: dict[str, Json] = {CREATED: created.import_id, "arn": created.arn, "event": origin.event}
    live |= {_ADOPT: True, _OF: created.owner, _GIVEN: [*sorted(created.attributes)]}
    return _outside(created.resource_type, live, origin)


def _listed(left: LeftCreation) -> OutsideChange:
    kind = left.resource_type or left.origin.event.partition(":")[0]
    live: dict[str, Json] = {CREATED: left.identity, "arn": left.arn, "event": left.origin.event}
    return _outside(kind, {**live, _ADOPT: False, _WHY: left.why}, left.origin)


def _outside(kind: str, live: Mapping[str, Json], origin: DriftOrigin) -> OutsideChange:
    change = ResourceChange(address=f"{kind}{{{live[CREATED]}}}", attribute=WHOLE, live=live, actions=("create",))
    return OutsideChange(change=change, origin=origin)
