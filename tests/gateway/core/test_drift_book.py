"""The book of changes from outside follows from the ledger's records alone, in whatever pieces they are read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.core.drift_book import DriftAction, DriftBook, DriftOutcome
from gateway.core.model.json import Json
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS

NOW = datetime(2026, 1, 2, tzinfo=UTC)
KEY = ("shop", "aws_sqs_queue.a", "delay_seconds")


def _record(stage: Stage, actor: str = "", drift: str = "fgn_1", **body: Json) -> Record:
    return sample_record(stage=stage, at=NOW, mutation_id=drift, actor=actor, stack="shop", body=body)


FOUND = _record(Stage.DRIFTED, address=KEY[1], attribute=KEY[2], live=5, declared=0, resource_type="aws_sqs_queue", origin={"actor": "bob", "at": NOW.isoformat()})  # fmt: skip


def test_the_last_look_at_each_stack_is_known() -> None:
    book = DriftBook()
    assert book.looked == {}
    book.add(FOUND)
    assert book.looked == {"shop": NOW}, "who found something has looked"
    later = NOW + timedelta(hours=2)
    book.add(replace(_record(Stage.DRIFT_LOOKED, drift="look_1", found=0), at=later))
    book.add(_record(Stage.DRIFT_LOOKED, drift="look_1", found=0))
    assert (book.looked, list(book.open)) == ({"shop": later}, ["fgn_1"])


async def test_a_life_from_found_to_reverted(tmp_path: Path) -> None:
    ledger = await SqlLedger.open(f"sqlite:///{tmp_path}/ledger.db", KEYS)
    book, again = DriftBook(), DriftBook()
    try:
        await ledger.record_event(FOUND)
        await book.read(ledger)
        drift = book.open["fgn_1"]
        assert (drift.key, drift.live, drift.declared, drift.action, drift.waits) == (KEY, 5, 0, None, False)
        await ledger.record_event(_record(Stage.DRIFT_DECIDED, action="human", rule="SEN-F001", reason="Why."))
        await book.read(ledger)
        assert book.open["fgn_1"].needs_human
        await ledger.record_event(_record(Stage.DRIFT_DECIDED, "ann", action="revert"), repeat=True)
        await book.read(ledger)
        assert (book.open["fgn_1"].waits, book.open["fgn_1"].decided_by) == (True, "ann")
        await ledger.record_event(_record(Stage.DRIFT_SETTLED, outcome="failed", reason="No."))
        await book.read(ledger)
        assert book.open["fgn_1"].needs_human
        assert not book.open["fgn_1"].waits
        await ledger.record_event(_record(Stage.DRIFT_DECIDED, "ann", action="codify"), repeat=True)
        await ledger.record_event(_record(Stage.DRIFT_SETTLED, outcome="codified", commit="c0ffee"), repeat=True)
        await book.read(ledger)
        assert book.open["fgn_1"].outcome is DriftOutcome.CODIFIED
        assert book.commits == {"shop": {"c0ffee"}}
        await ledger.record_event(_record(Stage.DRIFT_SETTLED, outcome="gone"), repeat=True)
        await book.read(ledger)
        await book.read(ledger)
        await again.read(ledger)
        assert book.open == again.open == {}
        assert book.ended == again.ended == {KEY: 1}
    finally:
        await ledger.close()


def test_what_is_not_open_changes_nothing() -> None:
    book = DriftBook()
    book.add(_record(Stage.DRIFT_SETTLED, outcome="gone"))
    book.add(_record(Stage.DECIDED, drift="mut_1"))
    assert not book.open
    assert not book.ended


async def test_a_record_of_a_newer_version_is_skipped_and_the_rest_is_read(tmp_path: Path) -> None:
    ledger = await SqlLedger.open(f"sqlite:///{tmp_path}/ledger.db", KEYS)
    try:
        await ledger.record_event(FOUND)
        await ledger.record_event(_record(Stage.DRIFT_DECIDED, action="teleport"))
        await ledger.record_event(_record(Stage.DRIFT_DECIDED, action="leave"), repeat=True)
        book = DriftBook()
        await book.read(ledger)
        assert book.open["fgn_1"].action is DriftAction.LEAVE
    finally:
        await ledger.close()


@pytest.mark.parametrize("action", list(DriftAction))
def test_only_codify_and_revert_are_carried_out(action: DriftAction) -> None:
    book = DriftBook()
    book.add(FOUND)
    book.add(_record(Stage.DRIFT_DECIDED, action=action.value))
    assert book.open["fgn_1"].waits is (action in (DriftAction.CODIFY, DriftAction.REVERT))
    assert book.open["fgn_1"].needs_human is (action in (DriftAction.HUMAN, DriftAction.QUARANTINE))
