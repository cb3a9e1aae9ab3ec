"""An implicit conflict survives being stored."""

from datetime import UTC, datetime

import pytest

from gateway.model.undone import Undone, UndoneBy, undone_by_to_json, undone_from_json

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("by", [None, UndoneBy(actor="a", mutation_id="mut_1"), UndoneBy(actor="arn:x", event="E")])
def test_it_is_the_same_after_it_was_stored(by: UndoneBy | None) -> None:
    form = {"live": {"a": [1]}, "by": undone_by_to_json(by)}
    assert undone_from_json(form, AT) == Undone(at=AT, live={"a": [1]}, by=by)
