"""Values take the provider's form or are not understood."""

from datetime import UTC, datetime

import pytest

from gateway.core.model.json import Json
from gateway.effects.values import NotUnderstood, in_kind


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("60", "number", 60),
        ("0.5", "number", 0.5),
        (100.0, "number", 100),
        ("true", "bool", True),
        (False, "string", "false"),
        (0.0, "string", "0"),
        (80, "string", "80"),
        (datetime(2026, 1, 2, tzinfo=UTC), "string", "2026-01-02T00:00:00Z"),
        ([1, "2"], "set(number)", [1, 2]),
        ({"a": 1}, "map(string)", {"a": "1"}),
        (None, "number", None),
    ],
)
def test_values_take_the_form_of_their_kind(value: object, kind: str, expected: Json) -> None:
    assert in_kind(value, kind) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("many", "number"),
        ("3_1", "number"),
        (" 31", "number"),
        ("1e3", "number"),
        ("\uff13\uff11", "number"),
        (True, "number"),
        (float("inf"), "number"),
        (float("nan"), "number"),
        (1, "bool"),
        ("yes", "bool"),
        (b"x", "string"),
        ({}, "string"),
        ("a", "list(string)"),
        ({"a": 1}, "list(string)"),
        ([{}], "set(string)"),
        ("a", "map(string)"),
        ({}, "block"),
    ],
)
def test_values_that_do_not_fit_are_not_understood(value: object, kind: str) -> None:
    with pytest.raises(NotUnderstood):
        in_kind(value, kind)
