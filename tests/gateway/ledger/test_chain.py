"""The hashed bytes are canonical and never change: records written by earlier versions load and verify."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from gateway.errors import LedgerBroken
from gateway.ledger.chain import FIRST_PREVIOUS, HASHED, record_hash, verify_chain
from gateway.ledger.rows import RecordRow
from gateway.ledger.serialize import record_from_row
from gateway.ledger.statements import Session
from gateway.ledger.store import Store, open_store
from gateway.ledger.tables import RECORDS
from gateway.model.json import canonical
from gateway.model.record import Stage

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "cases" / "records" / "v1.json").read_text(encoding="utf-8")
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


def verified(store: Store, rows: list[dict[str, Any]]) -> int:
    with store.connect(writes=True) as connection:
        connection.execute(insert(RECORDS), rows)
        return verify_chain(Session(connection))


def test_records_of_version_1_still_load_and_verify(store: Store) -> None:
    assert verified(store, GOLDEN) == len(GOLDEN) == 6
    records = [record_from_row(RecordRow(*(row[name] for name in RecordRow._fields))) for row in GOLDEN]
    stages = [Stage.DECIDED, Stage.APPROVED, Stage.DECIDED, Stage.SETTLED, Stage.RECONCILED, Stage.TURNED_AWAY]
    assert [record.stage for record in records] == stages
    assert records[4].body["commit"] == "c0ffee"
    assert records[5].body["reason"] == "Größe unbekannt."


def test_the_hash_is_what_the_readme_says() -> None:
    """Computed as the README describes it, so that another program can verify the chain."""
    previous = FIRST_PREVIOUS
    for row in GOLDEN:
        fields = [row[name] for name in HASHED]
        said = hashlib.sha256(previous.encode() + canonical([*fields, json.loads(row["body"])])).hexdigest()
        assert row["previous"] == previous
        assert row["hash"] == said
        previous = said


@given(st.lists(st.integers() | st.text(st.characters(exclude_categories=["Cs"])), min_size=10, max_size=10))
def test_any_fields_are_hashed_as_canonical_json(fields: list[int | str]) -> None:
    said = hashlib.sha256(FIRST_PREVIOUS.encode() + canonical([*fields, {"a": 1}])).hexdigest()
    assert record_hash(FIRST_PREVIOUS, fields, '{"a":1}') == said


def _flip(text: str, place: int) -> str:
    return text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]


_TAMPERS: dict[str, Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]] = {
    "edit": lambda rows, at: [*rows[:at], {**rows[at], "body": _flip(rows[at]["body"], 5)}, *rows[at + 1 :]],
    "hash": lambda rows, at: [*rows[:at], {**rows[at], "hash": _flip(rows[at]["hash"], 9)}, *rows[at + 1 :]],
    "delete": lambda rows, at: [*rows[:at], *rows[at + 1 :]],
}


@pytest.mark.parametrize("kind", _TAMPERS)
@pytest.mark.parametrize("at", range(5))
def test_an_altered_record_is_named(store: Store, kind: str, at: int) -> None:
    with pytest.raises(LedgerBroken, match=rf"^Record {at + 1} "):
        verified(store, _TAMPERS[kind](GOLDEN, at))


def test_a_rewritten_record_with_a_fitting_hash_breaks_at_the_next(store: Store) -> None:
    forged = {**GOLDEN[2], "actor": "eve"}
    forged["hash"] = record_hash(forged["previous"], [forged[name] for name in HASHED], forged["body"])
    with pytest.raises(LedgerBroken, match=r"^Record 4 "):
        verified(store, [*GOLDEN[:2], forged, *GOLDEN[3:]])


def test_a_record_of_an_unknown_version_is_refused(store: Store) -> None:
    newer = {**GOLDEN[0], "version": 2}
    newer["hash"] = record_hash(FIRST_PREVIOUS, [newer[name] for name in HASHED], newer["body"])
    with pytest.raises(LedgerBroken, match="version 2"):
        verified(store, [newer])


def test_an_empty_ledger_verifies(store: Store) -> None:
    with store.connect() as connection:
        assert verify_chain(Session(connection)) == 0
