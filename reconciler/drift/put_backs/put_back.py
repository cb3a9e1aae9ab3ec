"""Puts the changes of one stack back whose time is up. The gateway does it, by its line; here is decided when, and what is left to a human."""

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Protocol

import structlog

from gateway.core.errors import SentinelError
from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.core.model.time_box import TimeBoxPart, TimeBoxState
from gateway.core.ports import Clock, DueChange, TimeBoxLedger
from gateway.terraform.address import split_stack
from reconciler.drift.put_backs.gateway_api import GatewayAnswer
from reconciler.errors import GatewayUnreachable, TerraformFailed
from reconciler.retry import Retry
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.refresh import Refreshed

_CHANGED = "It was changed past Sentinel since, so it is left to a human: what the change set is not there any more."
_REASONS = {
    TimeBoxState.SUPERSEDED: "A later change has the attribute, so it is left as it is.",
    TimeBoxState.STILL_WANTED: "Another change for a time wants the same value for longer, and goes back at its own end.",
}
log = structlog.get_logger()
_AT_ONCE: Final = 4
"""Changes that one round puts back, so that many of them do not keep others from being written back."""
_TRIES: Final = 5
"""How often it is refused at least before a human is asked."""


class LiveValues(Protocol):
    """Reads live values."""

    async def __call__(self, targets: list[str]) -> Refreshed:
        """The live attributes of resources. Raises an `errors.SentinelError` if they cannot be read now."""
        ...


class PutBackGateway(Protocol):
    """The gateway, as far as it puts changes back."""

    async def put_back(self, mutation_id: str) -> GatewayAnswer:
        """Have a change put back. Raises `errors.GatewayUnreachable`."""
        ...


class PutBackRuns(Protocol):
    """Runs a put-back durably."""

    def run(self, stack: str, mutation_id: str) -> Awaitable[Mapping[str, Any]]:
        """Put a change back; what came of it, as `PutBacks.send` returns it."""
        ...


@dataclass(slots=True, kw_only=True)
class PutBacks:
    """The time-boxed changes of one stack."""

    stack: str
    ledger: TimeBoxLedger
    clock: Clock
    read_live: LiveValues
    gateway: PutBackGateway
    patience: timedelta
    """How long after its end a change that is refused is tried again before it is left to a human."""
    retries: dict[str, Retry] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    """How often each was refused. What met a stop or a spent budget for a while may be refused as often as any other."""

    async def round(self, runs: PutBackRuns) -> None:
        """Put back what is due, the earliest end first. A failure does not stop the others. Raises `errors.LedgerUnavailable`."""
        due = await self.ledger.due_mutations(self.clock.now(), stack=self.stack)
        for known in set(self.retries).difference(due):
            del self.retries[known]
            del self.refusals[known]
        for change in await self._ready(due):
            await self._try(runs, change)

    async def look(self, mutation_id: str) -> dict[str, Json]:
        """The values that stay as they are, and whether any value is to be put back. Changes nothing."""
        change = await self._due(mutation_id)
        if change is None or change.waits:
            return {"left": [], "send": False}
        left = left_to_others(change)
        if change.back:
            live = await self.read_live(sorted({address_in_stack(part) for part in change.back}))
            if missing := not_read(change.back, live):
                raise TerraformFailed(
                    f"The live values of {', '.join(missing)} could not be read, so nothing is put back yet."
                )
            left += changed_outside(change.back, live)
        send = len(left) < len(change.back) + len(change.alone)
        return {"left": [part.to_json() for part in left], "send": send}

    async def leave(self, mutation_id: str, left: Sequence[Mapping[str, Any]]) -> None:
        """Record what is not put back, and why; once, however often this runs."""
        change = await self._due(mutation_id)
        known = {part.key: part for part in _parts(change)}
        for part in map(LeftPart.from_json, left):
            found = known.get((part.address, part.attribute))
            if found is not None:
                await self._record(mutation_id, [found], part.state, part.by, part.reason)

    async def send(self, mutation_id: str) -> dict[str, Json]:
        """Have the gateway put it back; what it said. May be repeated: the ledger lets it happen once."""
        answer = await self.gateway.put_back(mutation_id)
        return {"status": answer.status, "code": answer.code, "detail": answer.detail}

    async def _ready(self, due: Sequence[str]) -> list[DueChange]:
        """The first few that may be tried now: what waits for an outcome, or was tried just before, keeps no other from being put back."""
        ready: list[DueChange] = []
        for mutation_id in due:
            if len(ready) == _AT_ONCE:
                break
            if self._may_be_tried(mutation_id):
                change = await self._due(mutation_id)
                ready += [change] if change is not None and not change.waits else []
        return ready

    async def _try(self, runs: PutBackRuns, change: DueChange) -> None:
        mutation = change.mutation_id
        bound = log.bind(stack=self.stack, mutation=mutation)
        try:
            said = await runs.run(self.stack, mutation)
        except (SentinelError, OSError, ValueError, KeyError, TypeError) as error:
            wait = self._retry(mutation).failed()
            bound.error("not_put_back", error=str(error), again_in_seconds=wait)
            if not isinstance(error, GatewayUnreachable):
                await self._give_up(change, str(error))
            return
        if not said or said["status"] == 200:  # noqa: PLR2004  HTTP
            self.retries.pop(mutation, None)
            bound.info("put_back" if said else "left_as_it_is")
            return
        answer = GatewayAnswer(status=said["status"], code=said["code"], detail=said["detail"])
        bound.warning(
            "not_put_back", code=answer.code, reason=answer.detail, again_in_seconds=self._retry(mutation).failed()
        )
        if answer.refused:
            await self._give_up(change, answer.detail)

    async def _give_up(self, change: DueChange, reason: str) -> None:
        """Leave it to a human if it was refused often and is overdue for long enough."""
        overdue = self.clock.now() - change.until
        self.refusals[change.mutation_id] += 1
        if self.refusals[change.mutation_id] < _TRIES or overdue < self.patience:
            return
        text = f"It could not be put back, so it is left to a human: {reason}"
        await self._record(change.mutation_id, change.back, TimeBoxState.LEFT, "", text)

    async def _record(
        self, mutation_id: str, parts: Sequence[TimeBoxPart], state: TimeBoxState, by: str, reason: str
    ) -> None:
        now = self.clock.now()
        if await self.ledger.leave_time_box(mutation_id, parts, state, by=by, reason=reason, at=now):
            log.warning("not_put_back", stack=self.stack, mutation=mutation_id, state=state.value, reason=reason)

    async def _due(self, mutation_id: str) -> DueChange | None:
        found = await self.ledger.due_change(self.clock.now(), mutation_id)
        return found if found is not None and found.stack == self.stack else None

    def _may_be_tried(self, mutation_id: str) -> bool:
        return mutation_id not in self.retries or self.retries[mutation_id].due

    def _retry(self, mutation_id: str) -> Retry:
        return self.retries.setdefault(mutation_id, Retry())


def _parts(change: DueChange | None) -> list[TimeBoxPart]:
    return [] if change is None else [*change.back, *(part for part, _, _ in change.alone)]


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
    """The attributes that other mutations hold, by the ledger."""
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
