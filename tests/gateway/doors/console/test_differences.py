"""Differences line by line, whose size is bounded whatever the values are."""

import json

import pytest

from gateway.doors.console.differences import MOST_LINES, LineKind, difference, text_difference
from gateway.model.json import Json


def _shown(before: Json, after: Json) -> list[str]:
    return [line.text for line in difference(before, after).lines]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (4, 6, ["-4", "+6"]),
        (None, "a", ['+"a"']),
        ("a", None, ['-"a"']),
        (5, 5, []),
        ({"a": 1}, {"a": 2}, ['-{"a": 1}', '+{"a": 2}']),
        ("one\ntwo", "one\nthree", [" one", "-two", "+three"]),
        ({"hmac_sha256": "00"}, 1, ["-(secret)", "+1"]),
    ],
)
def test_a_value_replaces_another(before: Json, after: Json, lines: list[str]) -> None:
    assert _shown(before, after) == lines


def test_json_in_a_text_is_compared_as_json() -> None:
    before = {"Statement": [{"Action": f"s3:Get{number}", "Effect": "Allow"} for number in range(5)]}
    after = json.loads(json.dumps(before).replace("Get3", "Put3"))
    lines = difference(json.dumps(before), json.dumps(after)).lines
    assert [line.text.strip("+- ") for line in lines if line.kind is not LineKind.SAME] == [
        '"Action": "s3:Get3",',
        '"Action": "s3:Put3",',
    ]
    assert _shown("{not json", "{no json") == ["-{not json", "+{no json"]


def test_places_are_named_only_where_there_are_several() -> None:
    long = [str(number) for number in range(100)]
    changed = ["x" if number in {"3", "90"} else number for number in long]
    kinds = [line.kind for line in text_difference(long, changed).lines]
    assert kinds.count(LineKind.PLACE) == 2


def test_a_large_difference_is_cut_and_says_so() -> None:
    found = text_difference([], [str(number) for number in range(10_000)])
    assert len(found.lines) == MOST_LINES
    assert found.left_out
    assert not difference(1, 2).left_out
