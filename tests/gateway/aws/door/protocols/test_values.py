"""Single values fit their shape exactly, or are refused without quoting them."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.aws.door.protocols.values import check_members, from_text, from_typed
from gateway.core.errors import Malformed


def _shape(kind: str) -> Any:
    return SimpleNamespace(type_name=kind, serialization={}, metadata={})


TEXT = [
    ("integer", "-2147483648", -(2**31)),
    ("long", "9223372036854775807", 2**63 - 1),
    ("double", "1.5e3", 1500.0),
    ("boolean", "True", True),
    ("blob", "AAE=", b"\x00\x01"),
    ("string", "", ""),
    ("timestamp", "2026-11-21T01:02:03Z", datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)),
    ("timestamp", "2026-11-21T01:02:03", datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)),
    ("timestamp", "Sat, 21 Nov 2026 01:02:03 GMT", datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)),
]


@pytest.mark.parametrize("case", TEXT)
def test_text_is_read(case: tuple[str, str, Any]) -> None:
    kind, text, expected = case
    assert from_text(_shape(kind), text, "X") == expected


BAD_TEXT = [
    ("integer", "2147483648"),
    ("integer", "1.0"),
    ("integer", " 1"),
    ("integer", "1_0"),
    ("integer", "٧"),
    ("integer", ""),
    ("long", "9223372036854775808"),
    ("long", "9" * 5000),
    ("double", "nan"),
    ("double", "Infinity"),
    ("double", "0x10"),
    ("boolean", "yes"),
    ("boolean", "1"),
    ("blob", "A"),
    ("blob", "A A="),
    ("timestamp", "soon"),
    ("timestamp", "1e300"),
    ("timestamp", "x" * 100),
    ("structure", "x"),
]


@pytest.mark.parametrize("case", BAD_TEXT)
def test_text_that_does_not_fit_is_refused(case: tuple[str, str]) -> None:
    kind, text = case
    with pytest.raises(Malformed) as refused:
        from_text(_shape(kind), text, "X")
    assert len(text) < 3 or text not in str(refused.value)


BAD_TYPED = [
    ("integer", True),
    ("integer", 1.0),
    ("integer", "1"),
    ("integer", 2**31),
    ("boolean", 1),
    ("boolean", "true"),
    ("string", 1),
    ("string", b"x"),
    ("double", True),
    ("double", "1"),
    ("timestamp", True),
    ("timestamp", 1e300),
    ("timestamp", -1e300),
    ("timestamp", []),
    ("blob", 1),
    ("integer", None),
]


@pytest.mark.parametrize("case", BAD_TYPED)
def test_a_value_of_another_type_is_refused(case: tuple[str, Any]) -> None:
    kind, value = case
    with pytest.raises(Malformed):
        from_typed(_shape(kind), value, "X")


def test_a_number_is_a_time_in_utc() -> None:
    assert from_typed(_shape("timestamp"), 1_795_222_923, "X") == datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize("value", [{}, {"A": 1, "B": 2}])
def test_a_union_has_exactly_one_member(value: dict[str, Any]) -> None:
    union: Any = SimpleNamespace(required_members=[], is_tagged_union=True)
    with pytest.raises(Malformed):
        check_members(union, value, "X")


def test_a_required_member_is_named_by_its_path() -> None:
    name: Any = SimpleNamespace(type_name="string", serialization={})
    shape: Any = SimpleNamespace(required_members=["Name"], is_tagged_union=False, members={"Name": name})
    with pytest.raises(Malformed, match=r"Tags\[0\]\.Name is required"):
        check_members(shape, {}, "Tags[0]", is_form=True)


@pytest.mark.parametrize(
    ("type_name", "serialization", "format_of", "added"),
    [
        ("list", {}, {"is_form": True}, []),
        ("map", {}, {"is_form": True}, {}),
        ("list", {"location": "querystring"}, {}, []),
        ("list", {"location": "header"}, {}, []),
        ("map", {"location": "headers"}, {}, {}),
        ("list", {"flattened": True}, {"is_xml": True}, []),
    ],
)
def test_a_required_list_or_map_that_is_written_as_nothing_is_empty(
    type_name: str, serialization: dict[str, Any], format_of: dict[str, bool], added: Any
) -> None:
    member: Any = SimpleNamespace(type_name=type_name, serialization=serialization)
    shape: Any = SimpleNamespace(required_members=["Tags"], is_tagged_union=False, members={"Tags": member})
    value: dict[str, Any] = {}
    check_members(shape, value, "", **format_of)
    assert value == {"Tags": added}


@pytest.mark.parametrize("serialization", [{}, {"flattened": True}])
def test_a_required_list_that_json_could_write_empty_is_missing(serialization: dict[str, Any]) -> None:
    member: Any = SimpleNamespace(type_name="list", serialization=serialization)
    shape: Any = SimpleNamespace(required_members=["Tags"], is_tagged_union=False, members={"Tags": member})
    with pytest.raises(Malformed, match="Tags is required"):
        check_members(shape, {}, "")
