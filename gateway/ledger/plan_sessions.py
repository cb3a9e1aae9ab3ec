"""The sessions of plans on the ledger: opened together with their key, read by every gateway, and ended."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.core.model.caller import Caller
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json
from gateway.core.model.masking import is_masked
from gateway.core.model.mutation import Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE
from gateway.core.model.plan_session import PlanOpening, PlanSession, SessionChange, UsedChange
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.off_loop import mutation_size, off_loop
from gateway.core.ports import Key
from gateway.core.records.codec import decode_as
from gateway.core.records.decided import DecidedBody, RecordedChange
from gateway.ledger.decide.decision import decide
from gateway.ledger.decide.key_revocation import revoke_key
from gateway.ledger.decide.plan_sessions import (
    SessionRow,
    created_addresses,
    end_plan,
    made_ids,
    session_row,
    used_changes,
)
from gateway.ledger.decide.revocation import refuse_revoked
from gateway.ledger.decide.write_set import write_set
from gateway.ledger.keyring import SqlKeyRing, issue_key
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.timestamps import from_text
from gateway.ledger.store.transaction import Transaction

_MOST_KEPT: Final = 32
"""Sessions whose planned changes are kept in memory. What a session planned never changes."""


class SqlPlanSessions:
    """The port `PlanLedger` on the ledger's database."""

    def __init__(self, ledger: SqlLedger, keys: SqlKeyRing) -> None:
        self._ledger = ledger
        self._keys = keys
        self._kept: OrderedDict[str, PlanSession] = OrderedDict()

    async def record_plan(
        self,
        mutation: Mutation,
        facts: Facts,
        decision: Decision,
        changes: tuple[SessionChange, ...],
        lasts: timedelta,
    ) -> Key | None:
        """Record the decision about a plan, and open its session in the same transaction; its key, or None if it is not carried out."""
        row = await self._keys.session_row(mutation.caller, motive=mutation.motive, lasts=lasts)
        opening = PlanOpening(key_id=str(row["id"]), until=from_text(str(row["expires_at"])), changes=changes)
        opened = replace(mutation, opens=opening)
        write = await off_loop(
            mutation_size(opened), lambda: write_set(opened, facts, decision, asked_version=self._ledger.asked_version)
        )

        def store(transaction: Transaction) -> None:
            decide(transaction, write)
            if decision.carried_out:
                issue_key(transaction, row, facts.now)

        await self._ledger.write(store)
        return await self._keys.stored(opening.key_id) if decision.carried_out else None

    async def session(self, key_id: str) -> PlanSession | None:
        """The session of a key, even if it has ended; None if the key is no plan's."""
        kept = self._kept.get(key_id)
        if kept is not None:
            self._kept.move_to_end(key_id)
            return kept
        found = await self._ledger.read(lambda session: session_row(session, key_id))
        if found is None:
            return None
        session = await off_loop(len(found.body), lambda: _session(found))
        self._kept[key_id] = session
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return session

    async def used(self, plan: str) -> Mapping[UsedChange, int]:
        """How often calls of a session used each of its changes."""
        return await self._ledger.read(lambda session: used_changes(session, plan))

    async def created(self, plan: str) -> frozenset[str]:
        """The addresses of what calls of a session created, without those that AWS has not answered."""
        return await self._ledger.read(lambda session: created_addresses(session, plan))

    async def made(self, plan: str) -> Mapping[str, str]:
        """The id that AWS chose for each planned resource that was created in a session, by its address."""
        return await self._ledger.read(lambda session: made_ids(session, plan))

    async def end(self, plan: str, *, by: Caller, at: datetime, exit_code: int | None = None) -> None:
        """End a session, and its key at once. Raises `errors.NotFound`."""

        def end(transaction: Transaction) -> None:
            refuse_revoked(transaction, by)
            key = end_plan(transaction, plan, by=by.actor, at=at, exit_code=exit_code)
            revoke_key(transaction, key, at, distrust=False)  # its owner needs it no more

        await self._ledger.write(end)
        self._keys.forget()


def _session(row: SessionRow) -> PlanSession:
    """The session as its DECIDED record tells it. Raises `errors.LedgerBroken`."""
    body: DecidedBody[Any] = decode_as(DecidedBody, row.body)
    effects: dict[str, list[Effect]] = {}
    for effect in body.effects:
        effects.setdefault(effect.address, []).append(effect.to_effect())
    held = [each for each in body.decision.findings if each.verdict is Verdict.HOLD]
    lifted = {f"{each.rule} {each.address}" for each in held}
    lifted |= {f"{each.rule} {each.address} {each.attribute}" for each in held}
    planned = body.plan.changes if body.plan is not None else ()
    return PlanSession(
        id=row.mutation_id,
        key_id=row.key_id,
        actor=row.actor,
        stack=row.stack,
        digest=row.digest,
        opened_at=from_text(row.opened_at),
        until=from_text(row.until),
        changes=tuple(_change(change, effects.get(change.address, ())) for change in planned),
        lifted=frozenset(lifted),
    )


def _change(change: RecordedChange, effects: Sequence[Effect]) -> SessionChange:
    values, free = _values(effects)
    return SessionChange(
        address=change.address,
        resource_type=change.type,
        action=change.action,
        region=change.region,
        values=values,
        free=free.union(change.computed),
        tags=change.tags,
    )


def _values(effects: Sequence[Effect]) -> tuple[dict[str, Json], frozenset[str]]:
    """The planned values of a resource, and its changed attributes whose value the plan does not tell."""
    told: dict[str, Json] = {}
    free: set[str] = set()
    for effect in effects:
        if effect.attribute == WHOLE:
            continue
        if effect.action is EffectAction.INVOKE or is_masked(effect.value):
            free.add(effect.attribute)
        else:
            told[effect.attribute] = effect.value
    return told, frozenset(free)
