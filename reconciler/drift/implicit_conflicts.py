"""Finds implicit conflicts: claims whose value is live no more, although nothing that contested them was allowed.

Somebody went past Sentinel, or a later change of the resource had a consequence that nobody foresaw. A value that went back to what the code
declares is no drift, so plans do not show it; only the claim tells that somebody wanted it otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from gateway.core.errors import SentinelError
from gateway.core.model.claim import Claim, SeenValue, UndoneBy
from gateway.core.model.json import Json, canonical
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from gateway.core.ports import Clock, LedgerQueries, RecordQuery
from gateway.core.records.codec import bodies_of
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.terraform.address import split_stack
from gateway.terraform.secrets import may_hold_secret, shows_secret
from reconciler.changes.applied_mutation import AppliedMutation, carried_out, readable_mutations
from reconciler.changes.outside_changes import Origins
from reconciler.drift.in_doubt.live_evidence import may_come_later
from reconciler.drift.in_doubt.read_back import LiveReader
from reconciler.terraform.compare import agrees
from reconciler.terraform.refresh import Refreshed

log = structlog.get_logger()

_SETTLES: Final = timedelta(minutes=2)
"""How long AWS may take until every read shows a change."""
_MOST_CLAIMS: Final = 500
"""How many claims of a stack are looked at in one go, the newest first; the others are named in the log."""
_LONGEST_LIVE: Final = 4_096
"""Bytes of a live value that is recorded; of a longer one only that it is another."""
_MOST_LATER: Final = 20
"""How many later changes of a resource are looked at."""


class ConflictLedger(Protocol):
    """Where what was seen is recorded."""

    async def record_seen(self, seen: Sequence[SeenValue], at: datetime) -> Sequence[str]:
        """Record which claimed values are live no more, and which are again; the ids of the claims of which that is news."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed:
    """A claim on an attribute whose value can be compared."""

    claim: Claim
    effect: Effect
    applied: AppliedMutation


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplicitConflicts:
    """Compares the standing claims of one stack with what is live."""

    stack: str
    ledger: ConflictLedger
    queries: LedgerQueries
    clock: Clock
    read_live: LiveReader
    decided: dict[str, AppliedMutation | None] = field(default_factory=dict)
    """The mutations of standing claims; None for one of another stack, or that cannot be read."""

    async def look(self, origins: Origins) -> Sequence[str]:
        """Compare, and record what changed; the ids of the claims of which something is news. `origins` says what CloudTrail knows.

        Live values that cannot be read now are compared the next time. Raises `errors.LedgerUnavailable`.
        """
        claimed = await self._claimed()
        if not claimed:
            return ()
        try:
            live = await self.read_live(sorted({each.effect.address for each in claimed}))
        except (SentinelError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("claims_not_compared", stack=self.stack, error=str(error))
            return ()
        seen = [await self._seen(each, live, origins) for each in claimed if _can_tell(each, live)]
        news = await self.ledger.record_seen(seen, self.clock.now()) if seen else ()
        for claim in news:
            log.warning("claimed_value_changed", stack=self.stack, claim=claim)
        return news

    async def _claimed(self) -> list[_Claimed]:
        claims = [claim for claim in await self.queries.claims() if not claim.unsettled and claim.attribute != WHOLE]
        for forgotten in self.decided.keys() - {claim.mutation_id for claim in claims}:
            del self.decided[forgotten]
        found = [each for claim in claims if (each := await self._of_this_stack(claim)) is not None]
        if len(found) > _MOST_CLAIMS:
            log.warning("claims_left_out", stack=self.stack, looked_at=_MOST_CLAIMS, left_out=len(found) - _MOST_CLAIMS)
        return found[:_MOST_CLAIMS]

    async def _of_this_stack(self, claim: Claim) -> _Claimed | None:
        if claim.mutation_id not in self.decided:
            self.decided[claim.mutation_id] = await self._decided(claim.mutation_id)
        applied = self.decided[claim.mutation_id]
        if applied is None or self.clock.now() - applied.at < _SETTLES:
            return None
        effect = next((each for each in applied.effects if _is_of(each, claim)), None)
        return _Claimed(claim=claim, effect=effect, applied=applied) if effect is not None else None

    async def _decided(self, mutation_id: str) -> AppliedMutation | None:
        query = RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED, limit=1)
        found = readable_mutations(await self.queries.records(query), {})
        return next((applied for applied in found if applied.stack == self.stack), None)

    async def _seen(self, claimed: _Claimed, live: Refreshed, origins: Origins) -> SeenValue:
        claim = claimed.claim
        value = _live_value(claimed, live)
        if agrees(claimed.effect.value, value):
            return SeenValue(claim=claim.id, stands=True)
        shown = value if _may_be_shown(claimed.effect, value) else None
        return SeenValue(claim=claim.id, stands=False, live=shown, by=await self._by(claimed, origins))

    async def _by(self, claimed: _Claimed, origins: Origins) -> UndoneBy | None:
        """Who probably did it: whom CloudTrail names, else the last one who changed the resource through Sentinel since then."""
        for (address, attribute), origin in origins.items():
            if address == claimed.effect.address and overlaps(attribute, claimed.claim.attribute):
                return UndoneBy(actor=origin.actor, event=origin.event)
        query = RecordQuery(
            resource=claimed.claim.address, stage=Stage.DECIDED, after_seq=claimed.applied.seq, limit=_MOST_LATER
        )
        records = [record for record in await self.queries.records(query) if carried_out(record)]
        for later in readable_mutations(records, {}):
            touched = later.stack == self.stack and any(
                each.address == claimed.effect.address for each in later.changed
            )
            if touched and await self._was_applied(later):
                return UndoneBy(actor=later.actor, mutation_id=later.id)
        return None

    async def _was_applied(self, later: AppliedMutation) -> bool:
        query = RecordQuery(mutation_id=later.id, stage=Stage.SETTLED, limit=1)
        return any(body.outcome == "applied" for body in bodies_of(await self.queries.records(query), SettledBody))


def _is_of(effect: Effect, claim: Claim) -> bool:
    # A claim names its stack too where others have the same address; the reconciler's effects are all of one stack.
    here = split_stack(claim.address)[1]
    return (effect.address, effect.attribute, effect.action) == (here, claim.attribute, EffectAction.SET)


def _can_tell(claimed: _Claimed, live: Refreshed) -> bool:
    """Whether the live value shows anything: it was read, is no secret, and is not one that AWS still may change to the claimed one."""
    if claimed.effect.sensitive or live.exists(claimed.effect.address) is None:
        return False
    before = claimed.applied.before.get((claimed.effect.address, claimed.effect.attribute))
    waits = may_come_later(claimed.effect.resource_type) and agrees(before, _live_value(claimed, live))
    return not waits or agrees(claimed.effect.value, _live_value(claimed, live))


def _may_be_shown(effect: Effect, value: Json) -> bool:
    """Whether a record may hold the value: it is short, and neither is nor may hold a secret."""
    kind, attribute = effect.resource_type, effect.attribute
    secret = may_hold_secret(kind, attribute) or shows_secret(value, resource_type=kind, attribute=attribute)
    return not secret and len(canonical(value)) <= _LONGEST_LIVE


def _live_value(claimed: _Claimed, live: Refreshed) -> Json:
    attributes: Mapping[str, Json] = live.objects.get(claimed.effect.address, {})
    return AttributePath(claimed.effect.attribute).value_at(attributes)
