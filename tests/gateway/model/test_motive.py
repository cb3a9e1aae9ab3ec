"""The JSON form of a motive."""

from datetime import timedelta

import pytest

from gateway.model.motive import Intent, Motivation, Motive, motive_to_json


def test_without_a_motive_it_is_none() -> None:
    assert motive_to_json(None) is None


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [(None, None), (timedelta(hours=1), 3600), (timedelta(milliseconds=1), 1), (timedelta(seconds=1.5), 2)],
)
def test_every_field_is_serialized_and_durations_are_rounded_up(wanted: timedelta | None, seconds: int | None) -> None:
    motive = Motive(
        intent=Intent.SECURITY, motivation=Motivation.VULNERABILITY, text="now", evidence=("CVE-1",), wanted_for=wanted
    )
    assert motive_to_json(motive) == {
        "intent": "security",
        "motivation": "vulnerability",
        "text": "now",
        "evidence": ["CVE-1"],
        "wanted_seconds": seconds,
    }
