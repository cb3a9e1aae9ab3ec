"""What is stored is canonical JSON, and reads back as it was."""

import math
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ledger.serialize import motive_of, text_of
from gateway.model.json import canonical
from gateway.model.motive import Intent, Motivation, Motive, motive_to_json

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner) | st.tuples(inner),
)


@given(_JSON)
def test_the_quick_text_is_the_canonical_one(value: object) -> None:
    assert text_of(value).encode() == canonical(value)


@pytest.mark.parametrize("value", [{"a": {"z", "b"}}, [b"\x00\xff"], Decimal("1.5"), {"d": (1, 2)}, Intent.COST])
def test_what_json_does_not_know_has_its_canonical_text_too(value: object) -> None:
    assert text_of(value).encode() == canonical(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), "\ud800", {"a": "\udfff"}])
def test_what_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        text_of(value)


@given(
    st.none()
    | st.builds(
        Motive,
        intent=st.sampled_from(Intent),
        motivation=st.sampled_from(Motivation),
        text=_TEXT,
        evidence=st.lists(_TEXT, max_size=3).map(tuple),
        wanted_for=st.none() | st.integers(1, 365 * 86_400).map(lambda seconds: timedelta(seconds=seconds)),
    )
)
def test_a_motive_reads_back(motive: Motive | None) -> None:
    form = motive_to_json(motive)
    assert form is None or isinstance(form, dict)
    assert motive_of(form) == motive
