"""Members of a message are taken with the type they must have, without control characters, and cut."""

from typing import Any

import pytest

from gateway.core.errors import Malformed
from gateway.signals.forms import fields


def test_texts_lose_control_characters_and_are_cut() -> None:
    assert fields.clean(" a\x1b[31m\u202eb\n ") == "a[31mb"
    assert len(fields.clean("x" * 10_000)) == fields.LONGEST
    assert fields.text({"n": 7}, "n") == "7"
    assert fields.optional({}, "n") == fields.optional({"n": None}, "n") == ""


def test_labels_are_few() -> None:
    assert len(fields.labels({str(n): "v" for n in range(1_000)}, "labels")) == fields.MOST_LABELS
    assert fields.labels(None, "labels") == {}
    assert fields.labels({"\x00": "v", "a": 1}, "labels") == {"a": "1"}


def test_a_time_needs_a_zone() -> None:
    assert fields.moment("2026-11-22T06:00:00+01:00", "at").isoformat() == "2026-11-22T05:00:00+00:00"
    for wrong in ("2026-11-22T06:00:00", "noon", 5, None, "0001-01-01T00:00:00+23:00"):
        with pytest.raises(Malformed, match="`at`"):
            fields.moment(wrong, "at")


@pytest.mark.parametrize(
    ("ask", "value"),
    [
        (fields.mapping, []),
        (fields.items, "x"),
        (fields.items, {}),
        (lambda value, name: fields.text({name: value}, name), " "),
        (lambda value, name: fields.text({name: value}, name), True),
        (lambda _, name: fields.member({}, name), None),
        (fields.labels, {"a": {}}),
    ],
)
def test_another_type_is_refused_by_name(ask: Any, value: Any) -> None:
    with pytest.raises(Malformed, match="nothing of it was taken"):
        ask(value, "labels")
