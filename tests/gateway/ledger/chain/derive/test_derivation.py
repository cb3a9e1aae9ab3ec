"""Every table of the ledger is compared with the records, or hashed with them."""

from typing import Any

import pytest

from gateway.core.errors import LedgerBroken
from gateway.core.records.codec import encode
from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.derivation import DERIVED, NOT_DERIVED, Derivation
from gateway.ledger.chain.hashes import ChainRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import METADATA
from tests.kit.bodies import sample_body


def row(stage: str, body: str, verdict: str = "") -> ChainRow:
    fields: dict[str, Any] = dict.fromkeys(ChainRow._fields, "")
    return ChainRow(
        **{**fields, "version": 1, "seq": 7, "mutation_id": "m", "stage": stage, "body": body, "verdict": verdict}
    )


def test_every_table_is_checked(session: Session) -> None:
    """A new table needs a module in `derive`, or must be part of the hashed bytes."""
    derived = {derive(session).table.name for derive in DERIVED}
    assert set(METADATA.tables) == derived | set(NOT_DERIVED)
    assert not derived & set(NOT_DERIVED)


def test_an_empty_ledger_has_empty_tables(session: Session) -> None:
    assert set(Derivation(session).compare().values()) == {0}


@pytest.mark.parametrize("body", ["{}", '{"decision":{"carried_out":false}}', '{"decision":{"verdict":"deny"}}'])
def test_a_denial_is_not_even_decoded(session: Session, body: str) -> None:
    derivation = Derivation(session)
    derivation.follow(row(Stage.DECIDED, body + "broken"))
    assert set(derivation.compare().values()) == {0}


@pytest.mark.parametrize("body", ['{"decision":{"carried_out":true},"claims":7}', '{"decision":{"carried_out":true}'])
def test_a_body_that_cannot_be_read_is_named(session: Session, body: str) -> None:
    with pytest.raises(LedgerBroken, match=r"^Record 7 is intact, but its body"):
        Derivation(session).follow(row(Stage.DECIDED, body))


def test_only_records_of_these_stages_change_no_table(session: Session) -> None:
    followed = {stage for derive in DERIVED for stage in derive(session).handlers}
    from_outside = {Stage.DRIFTED, Stage.DRIFT_LOOKED, Stage.DRIFT_DECIDED, Stage.DRIFT_SETTLED}
    assert set(Stage) - followed == {
        Stage.TURNED_AWAY,
        Stage.PASSED,
        Stage.PROPOSED,
        Stage.PLAN_CHECKED,
        Stage.POLICY_STAGED,
        Stage.NOTIFIED,
        Stage.RESEND_ASKED,
        Stage.CHAT_LINKED,
        Stage.CHAT_LINK_ASKED,
        *from_outside,
    }


def test_what_was_carried_out_must_be_in_the_tables(session: Session) -> None:
    derivation = Derivation(session)
    derivation.follow(row(Stage.DECIDED, encode(sample_body(Stage.DECIDED, {"decision": {"carried_out": True}}))))
    with pytest.raises(LedgerBroken, match=r"^The row m of attempts is missing"):
        derivation.compare()
