"""What a card says at its end."""

from typing import Any

import pytest

from gateway.model.record import Stage
from gateway.notices.card_closing import closing_of, decides
from tests.kit.held import record


@pytest.mark.parametrize(
    ("stage", "body", "sentence"),
    [
        (Stage.REJECTED, {"reason": "not now", "door": "console"}, "Rejected by agent-1 in the console: not now"),
        (Stage.REJECTED, {}, "Rejected by agent-1."),
        (Stage.BROKE_GLASS, {"reason": "fire", "door": "api"}, "Passed in an emergency by agent-1 with the API or the command line: fire"),
        (Stage.APPROVED, {"until": "T", "others": ["bob"], "missing": 0, "door": "chat"}, "Approved by bob and agent-1 in the chat until T: the identical call passes once."),
        (Stage.APPROVED, {"until": "T"}, "Approved by agent-1 until T: the identical call passes once."),
    ],
)  # fmt: skip
def test_who_decided_what_where_and_why(stage: Stage, body: dict[str, Any], sentence: str) -> None:
    end = record(stage, body)
    assert closing_of(end) == sentence
    assert decides(end)


def test_the_consent_of_the_first_of_two_decides_nothing() -> None:
    assert not decides(record(Stage.APPROVED, {"missing": 1}))
    assert not decides(record(Stage.SETTLED, {}))


def test_a_reason_cannot_hide_anything() -> None:
    assert closing_of(record(Stage.REJECTED, {"reason": "a\u202eb" + "x" * 2000})).startswith(
        "Rejected by agent-1: a\\u202eb"
    )
    assert len(closing_of(record(Stage.REJECTED, {"reason": "x" * 2000}))) < 600
