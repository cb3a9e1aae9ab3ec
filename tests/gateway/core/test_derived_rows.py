"""Derived rows are read as they are written, a line at a time."""

import json
from pathlib import Path

import pytest

from gateway.core import derived_rows
from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm, file_text
from gateway.core.model.mutation import EffectAction

RULE = DerivedRow(
    service="made-up",
    operation="PutRule",
    resource_type="aws_cloudwatch_event_rule",
    actions=frozenset({EffectAction.CREATE, EffectAction.SET}),
    origin=Origin.TRACED,
    confidence=Confidence.ATTRIBUTES,
    identity={"Name": AttributeSource(attribute="name")},
    attributes={"EventPattern": AttributeSource(attribute="event_pattern", form=ValueForm.JSON)},
    removes={"tagKeys": "tags"},
    constants={"State": "ENABLED"},
    controls=frozenset({"DryRun"}),
    unexplained=frozenset({"Other"}),
)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(derived_rows, "DIRECTORY", tmp_path)
    derived_rows._lines.cache_clear()
    return tmp_path


def test_a_row_is_read_as_it_was_written(directory: Path) -> None:
    text = file_text("made-up", {"provider": "5.100.0"}, (RULE,))
    (directory / "made-up.json").write_text(text)

    assert derived_rows.derived_rows("made-up", "PutRule") == (RULE,)
    assert json.loads(text)["rows"][0]["identity"] == {"Name": "name"}
    assert derived_rows.services() == ("made-up",)


@pytest.mark.parametrize("service", ["made-up", "../secret", ""])
def test_a_service_without_a_file_has_no_rows(directory: Path, service: str) -> None:
    assert derived_rows.derived_rows(service, "PutRule") == ()
