"""Follows the records in order, and compares every other table with what they say."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from gateway.core.errors import LedgerBroken
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.approvals import ExpectedApprovals, ExpectedHolds
from gateway.ledger.chain.derive.claims import ExpectedClaims
from gateway.ledger.chain.derive.decisions import ExpectedAttempts, ExpectedBudgets, ExpectedSignatures
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers
from gateway.ledger.chain.derive.latest import ExpectedKeys, ExpectedSignals, ExpectedStops
from gateway.ledger.chain.derive.narrowed import FOLLOWED
from gateway.ledger.chain.derive.plan_sessions import ExpectedPlanSessions, ExpectedPlanUses
from gateway.ledger.chain.derive.time_boxes import ExpectedTimeBoxes
from gateway.ledger.chain.derive.values import ExpectedValues
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import ARCHIVE_PARTS, ARCHIVES, EXPORTS, FORMS


class DerivedTable(Protocol):
    """A table whose rows follow from the records. A new one costs a module and a line in `DERIVED`."""

    table: ExpectedTable
    handlers: Handlers


DERIVED: tuple[Callable[[Session], DerivedTable], ...] = (
    ExpectedKeys,
    ExpectedAttempts,
    ExpectedClaims,
    ExpectedHolds,
    ExpectedApprovals,
    ExpectedValues,
    ExpectedSignatures,
    ExpectedSignals,
    ExpectedTimeBoxes,
    ExpectedStops,
    ExpectedBudgets,
    ExpectedPlanSessions,
    ExpectedPlanUses,
)
"""In the order in which they are compared at the end."""

NOT_DERIVED: Final = {
    "records": "hashed",
    "record_resources": "hashed with their records",
    FORMS.name: "what they say is in the bodies that are stored by them, which are hashed whole",
    "leases": "renewed every few seconds without a record; they only decide how early an attempt is taken to be in doubt",
    ARCHIVES.name: "each row has a MAC of its own",
    ARCHIVE_PARTS.name: "has a MAC of its own",
    EXPORTS.name: "how far exports have come; each one verifies that what it writes follows from what it wrote last",
}
"""The tables that do not follow from records, and why."""

_DECIDED: Final = Stage.DECIDED.value
_HOLD: Final = Verdict.HOLD.value
_TELLING: Final = ('"carried_out":true', '"budgets":{"', '"refused_in_a_row":')
"""One of these stands in the canonical text of every decision that was carried out, charged or counted. The others, unless they hold, change no table."""
_DECODERS: Final = {stage: msgspec.json.Decoder(body).decode for stage, body in FOLLOWED.items()}


class Derivation:
    """What the records followed so far say about the other tables."""

    def __init__(self, session: Session, *, remember: bool = False, sum_key: bytes | None = None) -> None:
        """With `remember`, every key is kept in memory, so that a row that no record made can be named. With `sum_key` the compared rows are
        summed under this key, so that they can be checked later without their records.
        """
        self.parts = tuple(derive(session) for derive in DERIVED)
        handlers: dict[str, list[Callable[[DecodedRecord], None]]] = defaultdict(list)
        for part in self.parts:
            if remember:
                part.table.seen = set()
            if sum_key is not None:
                part.table.sum_rows(sum_key)
            for stage, handler in part.handlers.items():
                handlers[stage].append(handler)
        self._handlers = dict(handlers)

    def follow(self, row: Sequence[Any]) -> None:
        """Take the members of the next verified `ChainRow` into account. Raises `errors.LedgerBroken` for a row that it says is wrong."""
        _, seq, stage, at, mutation_id, actor, stack, _, _, verdict, _, _, _, text, _, _ = row
        if stage not in self._handlers or (
            stage == _DECIDED and verdict != _HOLD and not any(each in text for each in _TELLING)
        ):
            return
        try:
            body = _DECODERS[stage](text)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            message = f"Record {seq} is intact, but its body is not one that this Sentinel can read ({error}). Use a newer one."
            raise LedgerBroken(message) from error
        record = DecodedRecord(seq, at, mutation_id, actor, stack, text, body)
        for handle in self._handlers[stage]:
            handle(record)

    def compare(self) -> Mapping[str, int]:
        """Compare what is left, and the size of each table; the number of rows by table. Raises `errors.LedgerBroken`, which names the first bad row."""
        return {part.table.name: part.table.compare_all() for part in self.parts}
