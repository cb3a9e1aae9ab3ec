"""The canonical JSON: one form for each value, and an error for anything that is not JSON."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.json import canonical, digest, to_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, min_size=2))
def test_the_order_of_members_does_not_matter(value: dict[str, object]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (b"\x00\xff", b'"AP8="'),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))), b'"2026-01-02T02:00:00Z"'),
        (Decimal("4.0"), b"4"),
        (Decimal("4.5"), b"4.5"),
        ({"b", "a"}, b'["a","b"]'),
        ({"b": 1, "a": ("x", None)}, b'{"a":["x",null],"b":1}'),
        ("é", '"é"'.encode()),
    ],
)
def test_each_kind_of_value_has_one_form(value: object, form: bytes) -> None:
    assert canonical(value) == form


def test_a_value_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_json(object())


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


def test_a_digest_tells_values_apart() -> None:
    assert digest([1]) != digest(["1"])
    assert len(digest(datetime(2026, 1, 1, tzinfo=UTC))) == 64
