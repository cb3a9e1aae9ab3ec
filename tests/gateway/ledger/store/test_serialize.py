"""Stored JSON is canonical text, and claims read back unchanged."""

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gateway.core.errors import LedgerBroken
from gateway.core.model.claim import ClaimEnd
from gateway.core.model.json import canonical, canonical_text, to_json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.records.record import Stage
from gateway.ledger.store.rows import ClaimRow, RecordRow
from gateway.ledger.store.serialize import claim_from_row, claim_to_row, record_from_row
from tests.kit import nouns

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner) | st.tuples(inner),
)


def plainly(value: object) -> bytes:
    """The canonical form, made in two steps: the value as plain JSON, then its text."""
    return json.dumps(
        to_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


@pytest.mark.slow
@given(_JSON)
def test_the_fast_encoder_writes_canonical_json(value: object) -> None:
    assert canonical_text(value).encode() == canonical(value) == plainly(value)


@pytest.mark.parametrize("value", [{"a": {"z", "b"}}, [b"\x00\xff"], Decimal("1.5"), {"d": (1, 2)}, Intent.COST])
def test_values_outside_json_have_the_same_text(value: object) -> None:
    assert canonical_text(value).encode() == canonical(value) == plainly(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), "\ud800", {"a": "\udfff"}])
def test_what_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_text(value)


@pytest.mark.parametrize("unsettled", [0, 1])
@pytest.mark.parametrize("ended", [False, True])
def test_a_claim_reads_back_and_has_no_end_while_it_is_open_and_unsettled(unsettled: int, ended: bool) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    claim = nouns.claim(
        "aws_lb.front",
        "tags",
        {"a": [1, None]},
        motive=Motive(intent=Intent.COST, motivation=Motivation.BUDGET),
        since=at,
        until=at,
    )
    stored = {**claim_to_row(claim), "unsettled": unsettled}
    if ended:
        stored |= {"ended_at": "2026-03-01T00:00:00.000000Z", "end": "released"}
        claim = replace(claim, ended_at=at, end=ClaimEnd.RELEASED)
    expected = replace(claim, until=None) if unsettled and not ended else claim
    assert claim_from_row(ClaimRow._make(stored[name] for name in ClaimRow._fields)) == expected


def test_a_row_whose_body_does_not_fit_is_a_record_and_is_logged() -> None:
    row = RecordRow(
        7, 1, "decided", "2026-11-22T12:00:00.000001Z", "mut_1", "ann", "shop", '{"call":3}', "0" * 64, "ab"
    )
    with capture_logs() as logs:
        record = record_from_row(row)
    assert (record.stage, record.seq, record.body.members) == (Stage.DECIDED, 7, {"call": 3})
    assert [(entry["event"], entry["seq"], entry["mutation"]) for entry in logs] == [("record_unreadable", 7, "mut_1")]
    with pytest.raises(LedgerBroken, match="unheard_of"):
        record_from_row(row._replace(stage="unheard_of"))
