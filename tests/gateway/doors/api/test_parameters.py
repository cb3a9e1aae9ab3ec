"""Converting JSON parameters: bytes and times are converted; errors name the location and never quote the value."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.model import DenormalizedStructureBuilder
from hypothesis import given
from hypothesis import strategies as st

from gateway.doors.api.parameters import parameters
from gateway.errors import Malformed
from gateway.service_models import Shape

MEMBERS: dict[str, Any] = {
    "Name": {"type": "string"},
    "Size": {"type": "integer"},
    "Ratio": {"type": "double"},
    "Data": {"type": "blob"},
    "When": {"type": "timestamp"},
    "Flag": {"type": "boolean"},
    "Tags": {"type": "map", "key": {"type": "string"}, "value": {"type": "blob"}},
    "Steps": {"type": "list", "member": {"type": "structure", "members": {"At": {"type": "timestamp"}}}},
}


@pytest.fixture(scope="module")
def shape() -> Shape:
    built: Shape = DenormalizedStructureBuilder().with_members(MEMBERS).build_model()
    return built


@pytest.mark.parametrize(
    ("given_", "converted"),
    [
        ({}, {}),
        ({"Name": "n", "Size": 3, "Ratio": 0.5, "Flag": True}, {"Name": "n", "Size": 3, "Ratio": 0.5, "Flag": True}),
        ({"Data": "aGk="}, {"Data": b"hi"}),
        ({"When": "2026-11-21T09:00:00Z"}, {"When": datetime(2026, 11, 21, 9, tzinfo=UTC)}),
        ({"Tags": {"a": "aGk="}}, {"Tags": {"a": b"hi"}}),
        ({"When": 1795251600}, {"When": datetime(2026, 11, 21, 9, tzinfo=UTC)}),
        ({"Steps": [{"At": "2026-11-21T09:00:00Z"}]}, {"Steps": [{"At": datetime(2026, 11, 21, 9, tzinfo=UTC)}]}),
    ],
)
def test_parameters_are_as_boto3_takes_them(shape: Shape, given_: dict[str, Any], converted: dict[str, Any]) -> None:
    assert parameters(shape, given_) == converted


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"Colour": "red"}, "no member 'Colour'"),
        ({"Steps": [{"By": 1}]}, r"Steps\[0\] has no member 'By'"),
        ({"Size": "6"}, "Size"),
        ({"Size": True}, "Size is of type integer"),
        ({"Ratio": False}, "Ratio is of type"),
        ({"Size": 1.5}, "Size"),
        ({"Name": 3}, "Name"),
        ({"Name": None}, "Name"),
        ({"Name": ["n"]}, "Name"),
        ({"Flag": "true"}, "Flag"),
        ({"Tags": ["a"]}, "Tags"),
        ({"Steps": {"At": 1}}, "Steps"),
        ({"Data": "not base64!"}, "base64"),
        ({"Data": "aGk"}, "base64"),
        ({"When": "yesterday"}, "must be a time"),
        ({"When": "2026-11-21T09:00:00"}, "needs a zone"),
        ({"When": 6.77680361916768e16}, "outside the calendar"),
        ({"When": -1e300}, "outside the calendar"),
        ({"When": 10**400}, "outside the calendar"),
        ({"When": "0001-01-01T00:00:00+14:00"}, "outside the calendar"),
        ({"When": "9999-12-31T23:59:59-14:00"}, "outside the calendar"),
        ({"When": True}, "When"),
    ],
)
def test_what_does_not_fit_is_named(shape: Shape, given_: dict[str, Any], says: str) -> None:
    with pytest.raises(Malformed, match=says):
        parameters(shape, given_)


def test_a_mistake_is_not_quoted(shape: Shape) -> None:
    with pytest.raises(Malformed) as caught:
        parameters(shape, {"Size": "hunter2", "Name": {"password": "hunter2"}})
    assert "hunter2" not in str(caught.value)


def test_an_operation_without_parameters_takes_none() -> None:
    assert parameters(None, {}) == {}
    with pytest.raises(Malformed, match="takes no parameters"):
        parameters(None, {"Name": "n"})


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*MEMBERS, "At", "x"]), inner),
    max_leaves=8,
)


@given(value=st.dictionaries(st.sampled_from([*MEMBERS, "Other"]), _json, max_size=4))
def test_any_value_is_converted_or_refused(shape: Shape, value: dict[str, Any]) -> None:
    try:
        converted = parameters(shape, value)
    except Malformed:
        return
    assert converted.keys() == value.keys()
