"""What the table `claims` must hold: who took which claim, and how it ended."""

from collections.abc import Iterable

from msgspec import Raw

from gateway.core.errors import LedgerBroken
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.json import canonical_text
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE, overlaps
from gateway.core.records.claims import DowngradedBody, ExpiredBody, ReleasedBody, UndoneBody, UnneededBody
from gateway.core.records.decided import MOST_NAMED, DecidedBody, RecordedEffect
from gateway.core.records.plans import PlanEndedBody
from gateway.core.records.record import Stage, to_members
from gateway.core.records.settled import SettledBody
from gateway.core.records.time_boxes import RescheduledBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.chain.derive.expected_table import (
    DecodedRecord,
    ExpectedTable,
    Handlers,
    OneOf,
    raw_text,
    sorted_text,
)
from gateway.ledger.store.statements import Session
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import CLAIMS


class ExpectedClaims:
    """Follows every stage that takes, ends or reopens claims.

    A row is final once it has ended and is settled. One that was superseded can be reopened until the mutation that superseded
    it is settled. A decision that neither saw nor ended a claim in its way is named: the row was away for a moment.
    """

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, CLAIMS)
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.SETTLED: self._settled,
            Stage.RELEASED: self._released,
            Stage.EXPIRED: self._expired,
            Stage.RECONCILED: self._reconciled,
            Stage.DOWNGRADED: self._downgraded,
            Stage.UNDONE: self._undone,
            Stage.RESCHEDULED: self._rescheduled,
            Stage.UNNEEDED: self._unneeded,
            Stage.PLAN_ENDED: self._plan_ended,
        }
        self._unsettled: dict[str, list[str]] = {}
        """The claims of each mutation whose outcome is not known."""
        self._superseded: dict[str, tuple[str, ...]] = {}
        """The claims that such a mutation superseded."""
        self._open: dict[str, dict[str, tuple[str, str]]] = {}
        """Of each address the claims that nothing has ended, with their attribute and actor."""

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        if not body.decision.carried_out:
            return
        for claim in body.decision.supersedes:
            self._close(claim)
            self.table.change(
                (claim,), record.seq, ended_at=record.at, end=ClaimEnd.SUPERSEDED.value, ended_by=record.mutation_id
            )
        self._require_seen(record, body)
        if body.decision.supersedes:
            self._superseded[record.mutation_id] = body.decision.supersedes
        if not body.claims:
            return
        values = _claimed_values(body.effects)
        motive = sorted_text(body.motive) if body.motive is not None else None
        for taken in body.claims:
            row = {
                "id": taken.id,
                "mutation_id": record.mutation_id,
                "address": taken.address,
                "attribute": taken.attribute,
                "value": values[taken.address, taken.attribute],
                "actor": record.actor,
                "kind": body.caller.kind,
                "motive": motive,
                "since": record.at,
                "until": taken.until,
                "unsettled": int(body.plan is None),
                "ended_at": None,
                "end": None,
                "ended_by": None,
                "proof": canonical_text(taken.proof),
                "undone": "",
                "motivation": body.motive.motivation.value if body.motive is not None else "",
            }
            self.table.insert((taken.id,), record.seq, row)
            self._open.setdefault(taken.address, {})[taken.id] = taken.attribute, record.actor
        if body.plan is None:
            self._unsettled[record.mutation_id] = [taken.id for taken in body.claims]

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        if body.outcome == AttemptState.IN_DOUBT:
            return
        failed = body.outcome == AttemptState.FAILED
        self._end(record, body.claims_ended or (), ClaimEnd.FAILED if failed else ClaimEnd.RESTATED)
        for claim in body.claims_reopened or ():
            self._reopen(record, claim)
        self._settle(record)
        self._finish(self._superseded.pop(record.mutation_id, ()))

    def _released(self, record: DecodedRecord) -> None:
        body: ReleasedBody = record.body
        self._end(record, body.claims, ClaimEnd.RELEASED)
        self._settle(record)
        self._finish(body.claims)

    def _expired(self, record: DecodedRecord) -> None:
        body: ExpiredBody = record.body
        self._end(record, (body.claim,), ClaimEnd.EXPIRED)
        self._finish((body.claim,))

    def _unneeded(self, record: DecodedRecord) -> None:
        body: UnneededBody = record.body
        self._end(record, (body.claim,), ClaimEnd.UNNEEDED)
        self._finish((body.claim,))

    def _plan_ended(self, record: DecodedRecord) -> None:
        body: PlanEndedBody = record.body
        self._end(record, body.claims_released, ClaimEnd.RELEASED)
        for claim in body.claims_reopened:
            self._reopen(record, claim)
        self._finish(body.claims_released)
        self._finish(self._superseded.pop(record.mutation_id, ()))

    def _reconciled(self, record: DecodedRecord) -> None:
        body: ReconciledBody = record.body
        self._end(record, body.claims_ended or (), ClaimEnd.MERGED)
        self._finish(body.claims_ended or ())

    def _downgraded(self, record: DecodedRecord) -> None:
        body: DowngradedBody = record.body
        self.table.change((body.claim,), record.seq, proof="[]")

    def _undone(self, record: DecodedRecord) -> None:
        body: UndoneBody = record.body
        seen = canonical_text({"at": record.at, "by": to_members(body.by), "live": body.live})
        self.table.change((body.claim,), record.seq, undone="" if body.stands else seen)

    def _rescheduled(self, record: DecodedRecord) -> None:
        body: RescheduledBody = record.body
        for claim in body.claims:
            self.table.change((claim.id,), record.seq, until=claim.until)

    def _end(self, record: DecodedRecord, claims: Iterable[str], how: ClaimEnd) -> None:
        for claim in claims:
            self._close(claim)
            self.table.change((claim,), record.seq, ended_at=record.at, end=how.value)

    def _reopen(self, record: DecodedRecord, claim: str) -> None:
        row = self.table.change((claim,), record.seq, ended_at=None, end=None, ended_by=None)
        if row is not None:
            self._open.setdefault(row["address"], {})[claim] = row["attribute"], row["actor"]

    def _close(self, claim: str) -> None:
        row = self.table.rows.get((claim,))
        if row is not None and (there := self._open.get(row["address"])) is not None:
            there.pop(claim, None)
            if not there:
                del self._open[row["address"]]

    def _require_seen(self, record: DecodedRecord, body: DecidedBody[Raw]) -> None:
        """Raise `errors.LedgerBroken` if a claim stood in the way that the decision neither saw nor ended: its own transaction refuses that
        (`decide.decision`). A record names only some of the claims that were seen; of one that may have seen more, only the claim on the very
        attribute counts.
        """
        taken = {(claim.address, claim.attribute) for claim in body.claims}
        seen = body.facts.claims
        for effect in body.effects:
            there = self._open.get(effect.address)
            if there is None or (effect.action == EffectAction.INVOKE and effect.attribute == WHOLE):
                continue
            for claim, (attribute, actor) in there.items():
                same = (effect.address, attribute) in taken
                unseen = actor != record.actor and claim not in seen and len(seen) < MOST_NAMED
                if (same or unseen) and overlaps(attribute, effect.attribute):
                    raise LedgerBroken(
                        f"Record {record.seq} says that {attribute} of {effect.address} was changed while the claim {claim} of {actor} stood, "
                        "which the decision did not see: the row of the claim was away or another one for a moment. Look at who can write to "
                        "the database, and at what this change did."
                    )

    def _settle(self, record: DecodedRecord) -> None:
        """The mutation's outcome is known, or a human has released its claims: none of them is unsettled any more."""
        claims = self._unsettled.pop(record.mutation_id, [])
        for claim in claims:
            row = self.table.rows.get((claim,))
            if row is not None:
                row["unsettled"] = 0
        self._finish(claims)

    def _finish(self, claims: Iterable[str]) -> None:
        for claim in claims:
            row = self.table.rows.get((claim,))
            if row is not None and row["end"] is not None and not row["unsettled"] and not self._can_reopen(row):
                self.table.finish((claim,))

    def _can_reopen(self, row: dict[str, object]) -> bool:
        return row["end"] == ClaimEnd.SUPERSEDED and row["ended_by"] in self._superseded


def _claimed_values(effects: Iterable[RecordedEffect[Raw]]) -> dict[tuple[str, str], str | OneOf]:
    """The value of a claim on each attribute: that of the effect that claims it, or one of them if several do."""
    values: dict[tuple[str, str], str | OneOf] = {}
    for effect in effects:
        key = (effect.address, WHOLE if effect.action == EffectAction.DELETE else effect.attribute)
        value = raw_text(effect.value)
        earlier = values.get(key, value)
        if earlier != value:
            values[key] = OneOf([value, *(earlier if isinstance(earlier, OneOf) else [earlier])])
        else:
            values[key] = value
    return values
