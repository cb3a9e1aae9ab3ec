"""The hashed bytes are canonical and never change: the records of the golden file load and verify, and none is written without the key."""

import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical
from gateway.core.records.record import Stage, UnreadableBody
from gateway.ledger.chain.hashes import HASHED, keyed_hash, verified_records
from gateway.ledger.store.database import Store
from gateway.ledger.store.rows import ChainEndRow, RecordRow
from gateway.ledger.store.serialize import record_from_row
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import FIRST_PREVIOUS, RECORDS, RESOURCES

CASES = Path(__file__).parents[3] / "cases" / "records"
GOLDEN: list[dict[str, Any]] = json.loads((CASES / "v1.json").read_text(encoding="utf-8"))
KEY = b"k" * 32


def verified(store: Store, rows: list[dict[str, Any]], after: int = 0, key: bytes = KEY) -> int:
    records = [{name: value for name, value in row.items() if name != "resources"} for row in rows]
    resources = [
        {"seq": row["seq"], "address": address, "attribute": attribute}
        for row in rows
        for address, attribute in row.get("resources", ())
    ]
    end = ChainEndRow(after, rows[after - 1]["hash"] if after else FIRST_PREVIOUS)
    with store.connect(writes=True) as connection:
        connection.execute(insert(RECORDS), records)
        if resources:
            connection.execute(insert(RESOURCES), resources)
        return len(list(verified_records(Session(connection), key, end)))


def keyed(row: dict[str, Any], previous: str, **changes: Any) -> dict[str, Any]:
    """The row with the hash that the holder of the key computes."""
    made = {**row, "previous": previous, "resources": [], **changes}
    made["hash"] = keyed_hash(KEY, previous, [made[name] for name in HASHED], made["resources"], made["body"])
    return made


def test_the_golden_records_verify(store: Store) -> None:
    assert verified(store, GOLDEN) == len(GOLDEN) == 4


def test_the_golden_records_load() -> None:
    records = [record_from_row(RecordRow(*(row[name] for name in RecordRow._fields))) for row in GOLDEN]
    stages = [Stage.KEY_ISSUED, Stage.DECIDED, Stage.SETTLED, Stage.TURNED_AWAY]
    assert [record.stage for record in records] == stages
    assert not any(isinstance(record.body, UnreadableBody) for record in records)
    assert records[1].body.members["call"]["parameters"]["Attributes"] == {"DelaySeconds": "6"}
    assert records[2].body.members["request_id"] == "r-1"
    assert records[3].body.members["reason"] == "Größe unbekannt."


def test_the_hash_is_what_the_document_says() -> None:
    """Computed as `docs/investigators.md` describes it, so that another program can verify the chain."""
    previous = FIRST_PREVIOUS
    for row in GOLDEN:
        fields = [row[name] for name in HASHED]
        message = previous.encode() + canonical([*fields, row["resources"], json.loads(row["body"])])
        assert row["previous"] == previous
        assert row["hash"] == hmac.new(KEY, message, hashlib.sha256).hexdigest()
        previous = row["hash"]


_FIELDS = st.lists(
    st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(exclude_categories=["Cs"])), min_size=10, max_size=10
)


@given(_FIELDS, st.lists(st.tuples(st.text(), st.text()), max_size=3))
def test_any_fields_are_hashed_with_a_key_as_canonical_json(
    fields: list[int | str], resources: list[tuple[str, str]]
) -> None:
    message = FIRST_PREVIOUS.encode() + canonical([*fields, resources, {"a": 1}])
    said = hmac.new(KEY, message, hashlib.sha256).hexdigest()
    assert keyed_hash(KEY, FIRST_PREVIOUS, fields, resources, '{"a":1}') == said


def _flip(text: str, place: int) -> str:
    return text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :]


_TAMPERS: dict[str, Callable[[list[dict[str, Any]], int], list[dict[str, Any]]]] = {
    "edit": lambda rows, at: [*rows[:at], {**rows[at], "body": _flip(rows[at]["body"], 5)}, *rows[at + 1 :]],
    "hash": lambda rows, at: [*rows[:at], {**rows[at], "hash": _flip(rows[at]["hash"], 9)}, *rows[at + 1 :]],
    "delete": lambda rows, at: [*rows[:at], *rows[at + 1 :]],
}


@pytest.mark.parametrize("kind", _TAMPERS)
@pytest.mark.parametrize("at", range(3))
def test_an_altered_record_is_named(store: Store, kind: str, at: int) -> None:
    with pytest.raises(LedgerBroken, match=rf"^Record {at + 1} "):
        verified(store, _TAMPERS[kind](GOLDEN, at))


def test_a_rewritten_record_with_a_fitting_hash_breaks_at_the_next(store: Store) -> None:
    forged = keyed({**GOLDEN[2], "actor": "eve"}, GOLDEN[2]["previous"])
    with pytest.raises(LedgerBroken, match=r"^Record 4 "):
        verified(store, [*GOLDEN[:2], forged, *GOLDEN[3:]])


def test_a_hash_without_the_key_is_refused(store: Store) -> None:
    forged = {**GOLDEN[0], "seq": 5, "previous": GOLDEN[-1]["hash"]}
    message = FIRST_PREVIOUS.encode() + canonical([*(forged[name] for name in HASHED), [], json.loads(forged["body"])])
    forged["hash"] = hashlib.sha256(message).hexdigest()
    with pytest.raises(LedgerBroken, match=r"^Record 5 or .* without the master key"):
        verified(store, [*GOLDEN, forged])


@pytest.mark.parametrize("version", [0, 2, -1])
def test_a_record_of_an_unknown_version_is_refused(store: Store, version: int) -> None:
    newer = keyed(GOLDEN[0], FIRST_PREVIOUS, version=version)
    with pytest.raises(LedgerBroken, match=f"version {version}"):
        verified(store, [newer])


def test_another_key_verifies_nothing(store: Store) -> None:
    with pytest.raises(LedgerBroken, match=r"^Record 1 or .* without the master key"):
        verified(store, GOLDEN, key=b"x" * 32)


def test_verification_can_start_in_the_middle(store: Store) -> None:
    assert verified(store, GOLDEN, after=2) == 2


@pytest.mark.parametrize("change", ["removed", "added", "other"])
def test_the_list_of_resources_is_part_of_a_keyed_record(store: Store, change: str) -> None:
    pairs = {"removed": [], "added": [*GOLDEN[1]["resources"], ("a", "b")], "other": [("a", "b")]}[change]
    rows = [GOLDEN[0], {**GOLDEN[1], "resources": pairs}, *GOLDEN[2:]]
    with pytest.raises(LedgerBroken, match=r"^Record 2 or its list of resources"):
        verified(store, rows)


def test_resources_of_a_record_that_is_not_there_are_named(store: Store) -> None:
    with store.connect(writes=True) as connection:
        connection.execute(insert(RESOURCES), [{"seq": 9, "address": "a", "attribute": "b"}])
        connection.commit()
    with pytest.raises(LedgerBroken, match=r"^Record 5 is missing .* names record 9"):
        verified(store, GOLDEN)


def test_an_empty_ledger_verifies(store: Store) -> None:
    with store.connect() as connection:
        assert list(verified_records(Session(connection), KEY)) == []
