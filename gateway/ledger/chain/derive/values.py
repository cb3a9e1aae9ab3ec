"""What the table `applied_values` must hold: the last value applied to each attribute, until the code declares it."""

from collections import defaultdict

from msgspec import Raw

from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.records.decided import DecidedBody, RecordedEffect, asked_effects
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.chain.derive.expected_table import DecodedRecord, ExpectedTable, Handlers, raw_text
from gateway.ledger.store.statements import Session
from gateway.ledger.store.states import AttemptState
from gateway.ledger.store.tables import VALUES


class ExpectedValues:
    """Follows DECIDED for the effects, SETTLED for what was applied, RECONCILED for what was merged. There is one row per attribute."""

    def __init__(self, session: Session) -> None:
        self.table = ExpectedTable(session, VALUES)
        self.handlers: Handlers = {
            Stage.DECIDED: self._decided,
            Stage.SETTLED: self._settled,
            Stage.RECONCILED: self._reconciled,
        }
        self._effects: dict[str, tuple[RecordedEffect[Raw], ...]] = {}
        """The effects of each mutation whose outcome is not known."""
        self._attributes: dict[str, set[str]] = defaultdict(set)
        """The attributes with a value, by address."""
        self._of_mutation: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def _decided(self, record: DecodedRecord) -> None:
        body: DecidedBody[Raw] = record.body
        if body.decision.carried_out:
            self._effects[record.mutation_id] = asked_effects(body)

    def _settled(self, record: DecodedRecord) -> None:
        body: SettledBody = record.body
        if body.outcome == AttemptState.IN_DOUBT:
            return
        effects = self._effects.pop(record.mutation_id, ())
        if body.outcome == AttemptState.APPLIED:
            self._apply(record, effects)

    def _apply(self, record: DecodedRecord, effects: tuple[RecordedEffect[Raw], ...]) -> None:
        for effect in effects:
            if effect.attribute == WHOLE and effect.action in (EffectAction.CREATE, EffectAction.DELETE):
                for attribute in list(self._attributes[effect.address]):
                    self._forget(effect.address, attribute)
            elif effect.attribute != WHOLE and effect.action == EffectAction.INVOKE:
                self._forget(effect.address, effect.attribute)
        for effect in effects:
            if effect.attribute != WHOLE and effect.action in (EffectAction.SET, EffectAction.CREATE):
                self._store(record, effect)

    def _store(self, record: DecodedRecord, effect: RecordedEffect[Raw]) -> None:
        key = (effect.address, effect.attribute)
        self._forget(*key)
        row = {
            "address": effect.address,
            "attribute": effect.attribute,
            "value": raw_text(effect.value),
            "mutation_id": record.mutation_id,
            "at": record.at,
            "seq": record.seq,
        }
        self.table.insert(key, record.seq, row)
        self._attributes[effect.address].add(effect.attribute)
        self._of_mutation[record.mutation_id].add(key)

    def _reconciled(self, record: DecodedRecord) -> None:
        body: ReconciledBody = record.body
        if body.merged:
            for address, attribute in list(self._of_mutation.get(record.mutation_id, ())):
                self._forget(address, attribute)

    def _forget(self, address: str, attribute: str) -> None:
        row = self.table.rows.get((address, attribute))
        if row is None:
            return
        self.table.remove((address, attribute))
        self._attributes[address].discard(attribute)
        if not self._attributes[address]:
            del self._attributes[address]
        values = self._of_mutation[row["mutation_id"]]
        values.discard((address, attribute))
        if not values:
            del self._of_mutation[row["mutation_id"]]
