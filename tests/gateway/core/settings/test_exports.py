"""Exports in the settings: formats, places, and a beginning with a time zone."""

import pytest
from pydantic import ValidationError

from gateway.core.settings.exports import ExportSettings


def test_a_directory_and_a_bucket_are_places() -> None:
    assert ExportSettings.model_validate({"format": "ocsf", "to": "s3://audit/sentinel"}).since is None
    given = ExportSettings.model_validate({"format": "csv", "to": "exports", "since": "2026-11-01T00:00:00Z"})
    assert given.since is not None


@pytest.mark.parametrize(
    "given",
    [
        {"format": "xml", "to": "a"},
        {"format": "csv", "to": ""},
        {"format": "csv", "to": "gs://a"},
        {"format": "csv", "to": "a", "since": "2026-11-01T00:00:00"},
        {"format": "csv", "to": "a", "since": "yesterday"},
    ],
)
def test_a_mistake_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ExportSettings.model_validate(given)
