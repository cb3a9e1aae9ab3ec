"""A motive as records, policies and replies show it."""

from datetime import timedelta

import pytest

from gateway.model.motive import Intent, Motivation, Motive, motive_to_json


def test_no_motive_has_no_form() -> None:
    assert motive_to_json(None) is None


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [(None, None), (timedelta(hours=1), 3600), (timedelta(milliseconds=1), 1), (timedelta(seconds=1.5), 2)],
)
def test_all_of_a_motive_is_in_its_form_and_no_time_is_cut_short(wanted: timedelta | None, seconds: int | None) -> None:
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
