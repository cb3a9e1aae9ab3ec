"""A body of plain parts is written by msgspec at once, and its text is the canonical one whatever its open members hold."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import canonical_text
from gateway.core.records.codec import BODIES, encode
from gateway.core.records.plain_parts import has_plain_parts
from gateway.core.records.record import Body, Stage, unpacked
from tests.kit.bodies import sample_body


class _Kind(StrEnum):
    ONE = "one"


_STRANGE = [1.5, 1e16, -0.0, b"\x00", datetime(2026, 3, 1, tzinfo=UTC), Decimal("1.50"), _Kind.ONE, {1: "a number as a name"}, frozenset({"b", "a"})]  # fmt: skip
_PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(exclude_categories=["Cs"]))
_VALUES = st.recursive(
    _PLAIN | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(_STRANGE),
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
)


def _decided(value: object) -> Body:
    """A decision with this value in some of its open members."""
    body: Any = sample_body(Stage.DECIDED, {})
    call = msgspec.structs.replace(body.call, parameters={"Given": value})
    decision = msgspec.structs.replace(body.decision, obligations={"deep": [{"er": value}]})
    changed: Body = msgspec.structs.replace(body, call=call, decision=decision)
    return changed


@given(_VALUES)
def test_the_text_is_the_canonical_one(value: object) -> None:
    body = _decided(value)
    assert encode(body) == canonical_text(unpacked(body))


@pytest.mark.parametrize("stage", Stage)
def test_a_body_as_it_is_written_most_often_is_plain(stage: Stage) -> None:
    body = sample_body(stage, {})
    assert has_plain_parts(body) is (stage is not Stage.NOTIFIED)  # which says in seconds when it goes on
    assert encode(body) == canonical_text(unpacked(body))


@pytest.mark.parametrize("strange", _STRANGE[:-2], ids=lambda value: type(value).__name__)
def test_what_msgspec_writes_in_another_way_is_seen_wherever_it_may_stand(strange: object) -> None:
    assert not has_plain_parts(_decided(strange))


def _open_members(kind: type[msgspec.Struct]) -> Iterator[str]:
    return (field.name for field in msgspec.structs.fields(kind) if field.type is Any)


@pytest.mark.parametrize("stage", [stage for stage, kind in BODIES.items() if any(_open_members(kind))])
def test_an_open_member_is_looked_at(stage: Stage) -> None:
    body = sample_body(stage, {})
    for name in _open_members(type(body)):
        assert not has_plain_parts(msgspec.structs.replace(body, **{name: 1.5})), name
