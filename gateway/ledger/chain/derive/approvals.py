"""What the tables `holds` and `approvals` must hold: what waits for a human, and what humans consented to."""

from collections import defaultdict
from typing import Final, TypeAlias

import msgspec
from msgspec import Raw

from gateway.core.errors import LedgerBroken
from gateway.core.model.approval import HoldState
from gateway.core.model.json import canonical_text
from gateway.core.model.verdict import Verdict
from gateway.core.records.approvals import BrokeGlassBody, ConsentBody, RejectedBody, WithdrawnBody
from gateway.core.records.decided import SUMMARY, DecidedBody, RecordedDecision
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.expected_table import (
    DecodedRecord,
    Digests,
    ExpectedTable,
    Handlers,
    raw_text,
    text_digest,
)
from gateway.ledger.store.serialize import binding_text
from gateway.ledger.store.statements import Session
from gateway.ledger.store.states import ApprovalState
from gateway.ledger.store.tables import APPROVALS, HOLDS

HeldCall: TypeAlias = tuple[str, str]
"""An actor and the digest of its call."""

_DIGESTS: Final[Digests] = {
    "summary": (("summary",), text_digest),
    "binding": (("binding",), text_digest),
}
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode


class ExpectedHolds:
    """Follows DECIDED, APPROVED, REJECTED and WITHDRAWN. A row is final once it was rejected."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, HOLDS, _DIGESTS)
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.APPROVED: self._approved,
            Stage.BROKE_GLASS: self._approved,
            Stage.REJECTED: self._rejected,
            Stage.WITHDRAWN: self._withdrawn,
        }
        self._by_call: dict[HeldCall, list[str]] = defaultdict(list)

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        if body.decision.carried_out or body.decision.verdict != Verdict.HOLD or body.decision.attached:
            return
        row = {
            "mutation_id": record.mutation_id,
            "at": record.at,
            "actor": record.actor,
            "on_behalf_of": body.caller.on_behalf_of,
            "stack": record.stack,
            "call_digest": body.call.digest,
            "summary": text_digest(_summary_text(record.text)),
            "binding": _held_binding(body.decision),
            "state": HoldState.OPEN.value,
        }
        self.table.insert((record.mutation_id,), record.seq, row)
        self._by_call[record.actor, body.call.digest].append(record.mutation_id)

    def _approved(self, record: DecodedRecord) -> None:
        body: ConsentBody = record.body
        if body.missing:
            return
        binding = text_digest(binding_text(body.binding))
        for hold in self._by_call.get((body.requester, body.digest), ()):
            row = self.table.rows[hold,]
            if row["state"] == HoldState.OPEN and row["binding"] == binding:
                self.table.change((hold,), record.seq, state=HoldState.APPROVED.value)

    def _rejected(self, record: DecodedRecord) -> None:
        body: RejectedBody = record.body
        for hold in self._by_call.pop((body.requester, body.digest), ()):
            self.table.change((hold,), record.seq, state=HoldState.REJECTED.value)
            self.table.finish((hold,))

    def _withdrawn(self, record: DecodedRecord) -> None:
        row = self.table.rows.get((record.mutation_id,))
        if row is not None and row["state"] == HoldState.APPROVED:
            self.table.change((record.mutation_id,), record.seq, state=HoldState.OPEN.value)


class ExpectedApprovals:
    """Follows APPROVED, REJECTED, WITHDRAWN, and DECIDED, which uses an approval. A row is final once it can no longer be used."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, APPROVALS, {"binding": (("binding",), text_digest)})
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.APPROVED: self._approved,
            Stage.BROKE_GLASS: self._approved,
            Stage.REJECTED: self._rejected,
            Stage.WITHDRAWN: self._withdrawn,
        }
        self._unused: dict[HeldCall, str] = {}

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        approval = body.decision.approval
        if not body.decision.carried_out or not approval:
            return
        row = self.table.rows.get((approval,))
        if row is None or (row["actor"], row["call_digest"], row["state"]) != (
            record.actor,
            body.call.digest,
            ApprovalState.UNUSED,
        ):
            raise LedgerBroken(
                f"Record {record.seq} says that the approval {approval} let its call pass, and no record gave it for this call, or it was used before: its "
                "row in approvals was written past Sentinel, and removed. Nobody approved what was sent; compare with a backup."
            )
        self._end(approval, record, ApprovalState.USED, used_by=record.mutation_id)

    def _approved(self, record: DecodedRecord) -> None:
        body: ConsentBody = record.body
        call = (body.requester, body.digest)
        earlier = self.table.rows.get((self._unused.get(call, ""),))
        state = ApprovalState.PARTIAL if body.missing else ApprovalState.UNUSED
        others, keys = canonical_text(body.others), canonical_text(body.keys) if body.keys else None
        if earlier is not None and earlier["id"] == body.approval:
            given = {"approver": record.actor, "others": others, "at": record.at, "until": body.until, "keys": keys}
            self.table.change((body.approval,), record.seq, state=state.value, **given)
            return
        if earlier is not None:
            # One approval of a call stands at most, so this one has replaced it, or it had expired.
            expired = earlier["until"] <= record.at
            self._end(earlier["id"], record, ApprovalState.EXPIRED if expired else ApprovalState.WITHDRAWN)
        self._unused[call] = body.approval
        row = {
            "id": body.approval,
            "mutation_id": record.mutation_id,
            "actor": body.requester,
            "call_digest": body.digest,
            "approver": record.actor,
            "at": record.at,
            "until": body.until,
            "state": state.value,
            "used_by": "",
            "binding": text_digest(binding_text(body.binding)),
            "others": others,
            "broke_glass": int(isinstance(body, BrokeGlassBody)),
            "keys": keys,
        }
        self.table.insert((body.approval,), record.seq, row)

    def _rejected(self, record: DecodedRecord) -> None:
        body: RejectedBody = record.body
        if body.withdrawn:
            self._end(body.withdrawn, record, ApprovalState.WITHDRAWN)

    def _withdrawn(self, record: DecodedRecord) -> None:
        body: WithdrawnBody = record.body
        self._end(body.approval, record, ApprovalState.WITHDRAWN)

    def _end(self, approval: str, record: DecodedRecord, state: ApprovalState, *, used_by: str = "") -> None:
        row = self.table.change((approval,), record.seq, state=state.value, used_by=used_by)
        if row is not None:
            self._unused.pop((row["actor"], row["call_digest"]), None)
            self.table.finish((approval,))


def _held_binding(decision: RecordedDecision) -> bytes:
    """The digest of what an approval is bound to. The record of a large call holds only the digest."""
    return bytes.fromhex(decision.binding_sha256) or text_digest(binding_text(decision.binding))


def _summary_text(body: str) -> str:
    """The summary of a hold as it is stored: these members of the record, in canonical form."""
    members = _members(body)
    return "{" + ",".join(f'"{name}":{raw_text(members[name])}' for name in SUMMARY if name in members) + "}"
