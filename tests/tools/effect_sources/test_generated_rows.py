"""The committed rows of origin `model` are those that the sources of today give, without what traced rows say better."""

import json

import pytest

from gateway.core.derived_rows import (
    Confidence,
    DerivedRow,
    Origin,
    derived_rows,
    operations_of,
    row_to_json,
    services,
)
from gateway.core.model.mutation import EffectAction
from tests.tools.effect_sources import agreement
from tests.tools.effect_sources.generated_rows import _adds, all_rows, rows_by_siblings, rows_to_write

SET, INVOKE = EffectAction.SET, EffectAction.INVOKE


@pytest.mark.long
def test_the_files_are_up_to_date_and_no_certain_row_contradicts_a_hand_made_one() -> None:
    rows, siblings = all_rows(), rows_by_siblings()
    committed = {
        _text(row)
        for service in services()
        for operation in operations_of(service)
        for row in derived_rows(service, operation)
        if row.origin is Origin.MODEL
    }
    wrong = [
        each
        for each in agreement.compare(rows, agreement.hand_made())
        if each.confidence is Confidence.RESOURCE and not each.agrees
    ]
    by_siblings = [*agreement.compare(siblings, agreement.hand_made())]
    # A start or a stop is a change of the resource, where it is not an invocation.
    wrong += [each for each in by_siblings if not each.agrees and {each.ours, each.theirs} != {SET.value, INVOKE.value}]

    assert wrong == []
    assert {_text(row) for row in rows_to_write(rows, siblings)} == committed


def _made_up(
    operation: str, resource_type: str, confidence: Confidence, *, action: EffectAction = EffectAction.SET
) -> DerivedRow:
    return DerivedRow(
        service="made-up",
        operation=operation,
        resource_type=resource_type,
        actions=frozenset({action}),
        origin=Origin.MODEL,
        confidence=confidence,
    )


SURE, UNSURE = Confidence.RESOURCE, Confidence.TYPE


@pytest.mark.parametrize(
    ("row", "traced", "adds"),
    [
        (_made_up("PutLabel", "aws_a", SURE), _made_up("PutLabel", "aws_a", SURE), False),
        (_made_up("PutLabel", "aws_a", SURE), _made_up("PutLabel", "aws_a", UNSURE), True),
        (_made_up("PutLabel", "aws_a", SURE), _made_up("PutLabel", "aws_b", UNSURE), False),
        (_made_up("PutLabel", "aws_a", SURE), _made_up("PutLabel", "aws_a", UNSURE, action=EffectAction.DELETE), False),
        (_made_up("TagResource", "aws_a", UNSURE), _made_up("TagResource", "aws_b", SURE), True),
        (_made_up("TagResource", "aws_a", UNSURE), _made_up("TagResource", "aws_a", UNSURE), False),
    ],
)
def test_beside_a_traced_row_only_what_says_more_is_written(row: DerivedRow, traced: DerivedRow, adds: bool) -> None:
    assert _adds(row, [traced]) is adds


def _text(row: DerivedRow) -> str:
    return f"{row.service} {json.dumps(row_to_json(row))}"
