"""The parsed body decides, not its text: parameters may contain any names. tests/ports runs the filters on both databases."""

from datetime import UTC, datetime

import pytest

from gateway.core.model.json import Json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ask.body_filter import body_conditions, fits_body

KEY = "SNTL1"


def decided(key_id: str, motive: Json) -> Record:
    body = {"caller": {"key_id": key_id}, "motive": motive, "call": {"key_id": KEY, "evidence": []}}
    return Record(stage=Stage.DECIDED, at=datetime(2026, 3, 1, tzinfo=UTC), body=body)


@pytest.mark.parametrize(
    ("record", "by_key", "bare"),
    [
        (decided(KEY, None), True, True),
        (decided(KEY, {"evidence": []}), True, True),
        (decided(KEY, {"evidence": ["A-1"]}), True, False),
        (decided("SNTL2", {"evidence": ["A-1"]}), False, False),
    ],
)
def test_the_body_decides(record: Record, by_key: bool, bare: bool) -> None:
    key, evidence = fits_body(RecordQuery(key_id=KEY)), fits_body(RecordQuery(no_evidence=True))
    assert key is not None
    assert evidence is not None
    assert (key(record), evidence(record)) == (by_key, bare)


def test_other_queries_look_into_no_body() -> None:
    assert fits_body(RecordQuery(actor="a", refused=True)) is None
    assert body_conditions(RecordQuery(actor="a")) == []
    assert len(body_conditions(RecordQuery(key_id=KEY, no_evidence=True))) == 2
