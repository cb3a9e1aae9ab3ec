"""Coverage counts an operation once, by its best row, and lists the operations of a type by how well each is understood."""

from pathlib import Path

import pytest

from gateway.core import derived_rows
from gateway.core.derived_rows import Confidence, DerivedRow, Origin, file_text
from gateway.core.model.mutation import EffectAction
from gateway.effects import coverage
from gateway.effects.coverage import HAND, Understanding, service_coverage, type_coverage, understanding
from gateway.effects.registry import SERVICES


def _row(operation: str, resource_type: str, origin: Origin, confidence: Confidence) -> DerivedRow:
    return DerivedRow(
        service="made-up",
        operation=operation,
        resource_type=resource_type,
        actions=frozenset({EffectAction.SET}),
        origin=origin,
        confidence=confidence,
    )


ROWS = (
    _row("PutRule", "aws_made_up", Origin.TRACED, Confidence.RESOURCE),
    _row("SetLabel", "aws_made_up", Origin.TRACED, Confidence.ATTRIBUTES),
    _row("StopAll", "aws_made_up", Origin.MODEL, Confidence.TYPE),
    _row("StopAll", "aws_other", Origin.LEARNED, Confidence.RESOURCE),
)


@pytest.fixture(autouse=True)
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made-up.json").write_text(file_text("made-up", {}, ROWS))
    monkeypatch.setattr(derived_rows, "DIRECTORY", tmp_path)
    derived_rows._lines.cache_clear()
    monkeypatch.setattr(coverage, "SERVICES", {"sqs": SERVICES["sqs"]})


def test_the_best_row_counts() -> None:
    assert understanding("made-up", "StopAll") == Understanding(origin="learned", confidence=Confidence.RESOURCE)
    assert understanding("sqs", "CreateQueue") == Understanding(origin=HAND, confidence=Confidence.ATTRIBUTES)
    assert understanding("made-up", "NoSuch") is None


def test_a_service_is_counted_by_origin_and_confidence() -> None:
    found = service_coverage("made-up", ("PutRule", "SetLabel", "StopAll", "NoSuch"))

    assert (found.operations, found.unknown) == (4, 1)
    assert found.origins == {"traced": 2, "learned": 1}
    assert found.confidences == {Confidence.ATTRIBUTES: 1, Confidence.RESOURCE: 2}


def test_a_type_lists_its_operations() -> None:
    (found,) = type_coverage({"aws_made_up"})

    assert found.exactly == ("made-up:SetLabel",)
    assert found.as_a_whole == ("made-up:PutRule",)
    assert found.with_a_plan == ("made-up:StopAll",)


def test_hand_made_rows_are_listed_with_the_types_that_they_look_up() -> None:
    queue, policy = type_coverage({"aws_sqs_queue", "aws_sqs_queue_policy"})

    assert "sqs:SetQueueAttributes" in queue.exactly
    assert "sqs:SetQueueAttributes" in policy.exactly


def test_a_type_without_rows_is_listed_as_such() -> None:
    (found,) = type_coverage({"aws_nothing"})

    assert (found.exactly, found.as_a_whole, found.with_a_plan) == ((), (), ())
