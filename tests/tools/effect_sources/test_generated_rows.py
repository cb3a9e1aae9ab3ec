"""The committed rows of origin `model` are those that the sources of today give."""

import json

import pytest

from gateway.effects.derived_rows import (
    Confidence,
    DerivedRow,
    Origin,
    derived_rows,
    operations_of,
    row_to_json,
    services,
)
from tests.tools.effect_sources import agreement
from tests.tools.effect_sources.generated_rows import all_rows, rows_to_write


@pytest.mark.long
def test_the_files_are_up_to_date_and_no_certain_row_contradicts_a_hand_made_one() -> None:
    rows = all_rows()
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

    assert wrong == []
    assert {_text(row) for row in rows_to_write(rows)} == committed


def _text(row: DerivedRow) -> str:
    return f"{row.service} {json.dumps(row_to_json(row))}"
