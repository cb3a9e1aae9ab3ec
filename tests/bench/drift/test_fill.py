"""Placeholders are filled with the scenario's values, the state's, and those of earlier replies."""

import pytest

from tests.bench.drift.fill import Values, fill

VALUES = Values(
    state={"aws_x.a": {"id": "a-1", "size": 3}, 'module.m["k"].aws_y.b[0]': {"arn": "arn:b"}},
    on="aws_x.a",
    own={"value": True, "size": 9, "other": '$module.m["k"].aws_y.b[0]#arn'},
    replies=({"Group": {"Ids": ["g-1"]}},),
)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("$id", "a-1"),
        ("$size", 9),
        ("$value", True),
        ("is ${value} of ${id}", "is true of a-1"),
        ("$other", "arn:b"),
        ("${other}/x", "arn:b/x"),
        ("$@0.Group.Ids[0]", "g-1"),
        ('$module.m["k"].aws_y.b[0]#arn', "arn:b"),
        ("$$Latest", "$Latest"),
        ({"$id": ["$size", 1, None]}, {"a-1": [9, 1, None]}),
        ('{"a":${size}}', '{"a":9}'),
    ],
)
def test_fill(template: object, filled: object) -> None:
    assert fill(template, VALUES) == filled


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="nothing"):
        fill("$nothing", VALUES)
