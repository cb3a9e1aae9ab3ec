"""Puts time-boxed changes back at their end, extends them, ends them early, and lists them for the API."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.core.errors import AttemptInFlight, NotAllowed, NotFound, PolicyUnavailable
from gateway.core.model.approval import is_approver
from gateway.core.model.caller import RECONCILER, ActorKind, Caller
from gateway.core.model.json import Json, to_json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, PutBack
from gateway.core.model.path import put_all
from gateway.core.model.time_box import NO_SPANS, OPEN, ClaimSpans, TimeBoxPart, TimeBoxState
from gateway.core.ports import Clock, DueChange, PolicyEngine, TimeBoxLedger
from gateway.doors.api.decoder import ApiDecoder
from gateway.effects.inventory import Inventory
from gateway.effects.put_back import put_back_call
from gateway.effects.resolver import EffectResolver
from gateway.line.checks.priorities import priorities_of
from gateway.line.pipeline import MutationResult, Pipeline
from gateway.policy.longer import LongerChanges
from gateway.presentation.serialize import time_to_json

_LONGEST: Final = timedelta(days=365)
"""The longest time for which a change may be wanted, as at every door."""
_DECLARED: Final = "The code has come to declare the value since, so it is left as it is."


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBoxes:
    """The commands for time-boxed changes: put back, extend, end, list."""

    ledger: TimeBoxLedger
    pipeline: Pipeline
    decoder: ApiDecoder
    resolver: EffectResolver
    inventory: Inventory
    declared: Callable[[str, str], Json]
    """Returns the value that the code declares now, by address and attribute."""
    policy: PolicyEngine
    longer: LongerChanges
    clock: Clock

    async def put_back(self, caller: Caller, mutation_id: str) -> MutationResult:
        """Put a change back whose end has come, by the same line as any other change; the result of that mutation.

        Raises `errors.NotAllowed` if the caller is not the reconciler, the end has not come, or others have all of it; `errors.AttemptInFlight`
        while an outcome is not known; `errors.NotFound`; and what the pipeline raises. Nothing was sent then.
        """
        if caller.kind is not ActorKind.SERVICE or RECONCILER not in caller.roles:
            raise NotAllowed(
                f"Only Sentinel's own reconciler, whose key has the kind `service` and the role `{RECONCILER}`, puts changes back. To end one "
                "early, end it."
            )
        change = await self._without_declared(await self._due(mutation_id))
        if change.waits:
            raise AttemptInFlight(f"{change.waits} Nothing was sent; ask again later.")
        if not change.back:
            raise NotAllowed(f"Others have everything that {mutation_id} changed, so nothing is put back.")
        request = await self.decoder.request_of(await self._call(change))
        puts_back = PutBack(mutation_id=mutation_id, bases=change.bases)
        return await self.pipeline.execute(
            caller, replace(request, motive=_motive(mutation_id, change.until), puts_back=puts_back)
        )

    async def extend(self, caller: Caller, mutation_id: str, lasts: timedelta, reason: str) -> Sequence[TimeBoxPart]:
        """Have a change last for this long from now on; its parts.

        Raises `errors.NotFound`, and `errors.NotAllowed` for longer than policy grants, or than those approved it who did.
        """
        parts = await self.ledger.time_boxes(mutation_id=mutation_id)
        now = self.clock.now()
        spans = NO_SPANS
        if parts:
            numbers = await self._numbers(parts[0])
            most = _longest(caller, numbers)
            spans = _claim_spans(numbers)
            if now + lasts > parts[0].since + most:
                message = f"A change of yours may be wanted for {most} at most, from its beginning. Make the change again, without a time if it is to stay."
                raise NotAllowed(message)
            if now + lasts > parts[0].until and (caller.actor == parts[0].actor or is_approver(caller)):
                refusal = await self.longer.refusal(mutation_id, now + lasts - parts[0].since, caller)
                if refusal:
                    raise NotAllowed(refusal)
        return await self.ledger.extend_time_box(
            mutation_id, now + lasts, caller=caller, reason=reason, at=now, spans=spans
        )

    async def end(self, caller: Caller, mutation_id: str, reason: str) -> Sequence[TimeBoxPart]:
        """Let the end of a change come now; its parts. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.ledger.end_time_box(mutation_id, caller=caller, reason=reason, at=self.clock.now())

    async def shown(
        self, caller: Caller, *, address: str = "", actor: str = "", mutation_id: str = ""
    ) -> list[dict[str, Any]]:
        """The time-boxed changes that the caller may see: agents and services their own."""
        return [
            part_to_json(part)
            for part in await self.ledger.time_boxes(actor=actor if caller.sees_all else caller.actor)
            if (caller.sees_all or part.actor == caller.actor)
            and (not address or part.address == address)
            and (not actor or part.actor == actor)
            and (not mutation_id or part.mutation_id == mutation_id)
        ]

    async def _due(self, mutation_id: str) -> DueChange:
        change = await self.ledger.due_change(self.clock.now(), mutation_id)
        if change is not None:
            return change
        parts = await self.ledger.time_boxes(mutation_id=mutation_id, ended=True)
        if not parts:
            raise NotFound(f"Mutation {mutation_id} is not a change for a time.")
        standing = [part for part in parts if part.state in OPEN]
        if standing:
            raise NotAllowed(f"The end of {mutation_id} comes at {time_to_json(standing[0].until)}. Nothing was sent.")
        states = ", ".join(sorted({part.state.value for part in parts}))
        raise NotAllowed(f"The change {mutation_id} is over ({states}). Nothing was sent.")

    async def _without_declared(self, change: DueChange) -> DueChange:
        """The change without the values that the code declares meanwhile, because the person who merged them wants them to stay.

        The ledger records that those values are left alone.
        """
        declared = {part.key: self.declared(*part.key) for part in change.back}
        live = [part for part in change.back if part.value is not None and declared[part.key] == part.value]
        before = await self.ledger.declared_before(live) if live and not change.waits else {}
        stays = [part for part in live if part.key in before and before[part.key] != part.value]
        if not stays:
            return change
        await self.ledger.leave_time_box(
            change.mutation_id, stays, TimeBoxState.SUPERSEDED, by="", reason=_DECLARED, at=self.clock.now()
        )
        return await self._due(change.mutation_id)

    async def _call(self, change: DueChange) -> Call:
        """The call that puts back what nobody else has. Raises `errors.NotAllowed` if no call does only that."""
        call = await self.ledger.put_back_call(change.mutation_id)
        every = await self.ledger.time_boxes(mutation_id=change.mutation_id, ended=True)
        back = change.bases
        others = frozenset(part.key for part in every) - frozenset(back)
        if not others:
            return call
        current = {part.address: put_all(self._recorded(part.address), _values(every, part.address)) for part in every}
        found = await asyncio.to_thread(put_back_call, self.resolver, call, back, current, others)
        if found is None:
            raise NotAllowed(
                f"Others have a part of what {change.mutation_id} changed, and no call is known that puts only the rest back."
            )
        return found

    def _recorded(self, address: str) -> Mapping[str, Json]:
        return self.inventory.recorded(address) or {}

    async def _numbers(self, part: TimeBoxPart) -> Mapping[str, Json]:
        """The numbers that policy ranks and limits by in the stack. Raises `errors.NotAllowed` if the policies cannot tell."""
        try:
            numbers = (await priorities_of(self.policy, [part.stack])).numbers
        except PolicyUnavailable as error:
            raise NotAllowed(f"The policies do not say how long a change may last. {error}") from error
        return numbers if isinstance(numbers, Mapping) else {}


def _longest(caller: Caller, numbers: Mapping[str, Json]) -> timedelta:
    """For how long a change may be wanted that this caller extends."""
    spans = [_LONGEST]
    if caller.motive_only and caller.motive is not None and caller.motive.wanted_for is not None:
        spans.append(caller.motive.wanted_for)
    seconds = _seconds(numbers, "longest_claim_seconds").get(caller.kind.value)
    if seconds is not None:
        spans.append(timedelta(seconds=seconds))
    return min(spans)


def _claim_spans(numbers: Mapping[str, Json]) -> ClaimSpans:
    """For how long policy grants claims."""
    without = numbers.get("claim_seconds_without_motive")
    return ClaimSpans(
        by_motivation=_seconds(numbers, "claim_seconds"),
        without_motive=without if isinstance(without, int | float) else 0,
        longest={kind: span for kind, span in _seconds(numbers, "longest_claim_seconds").items() if span is not None},
    )


def _seconds(numbers: Mapping[str, Json], name: str) -> dict[str, float | None]:
    """The spans of a table of the numbers; what is neither a number nor null is left out."""
    table = numbers.get(name)
    given = table.items() if isinstance(table, Mapping) else ()
    return {key: value for key, value in given if value is None or isinstance(value, int | float)}


def part_to_json(part: TimeBoxPart) -> dict[str, Any]:
    """All members of one attribute of a time-boxed change."""
    return {
        "mutation_id": part.mutation_id,
        "address": part.address,
        "attribute": part.attribute,
        "value": to_json(part.value),
        "goes_back_to": to_json(part.base),
        "goes_back_at": time_to_json(part.until),
        "actor": part.actor,
        "stack": part.stack,
        "state": part.state.value,
        "ended_by": part.ended_by or None,
    }


def with_ends(claims: list[dict[str, Any]], boxes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The claims, each with the time at which its change goes back; null if it stays."""
    ends = {
        (box["mutation_id"], box["address"], box["attribute"]): box["goes_back_at"]
        for box in boxes
        if box["state"] != TimeBoxState.SUPERSEDED
    }
    return [
        {**claim, "goes_back_at": ends.get((claim["mutation_id"], claim["address"], claim["attribute"]))}
        for claim in claims
    ]


def _values(parts: Sequence[TimeBoxPart], address: str) -> list[tuple[str, Json]]:
    return [(part.attribute, part.value) for part in parts if part.address == address]


def _motive(mutation_id: str, until: datetime) -> Motive:
    return Motive(
        intent=Intent.CONSISTENCY,
        motivation=Motivation.SCHEDULE,
        text=f"{mutation_id} was wanted until {until.isoformat(timespec='seconds')}, so what was there before is put back.",
        evidence=(mutation_id,),
    )
