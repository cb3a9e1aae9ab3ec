"""The JSON form of a motive."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.motive import (
    Intent,
    Motivation,
    Motive,
    ceiling_text,
    exceeds,
    motive_from_json,
    motive_to_json,
)


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


@given(
    st.none()
    | st.builds(
        Motive,
        intent=st.sampled_from(Intent),
        motivation=st.sampled_from(Motivation),
        text=st.text(),
        evidence=st.lists(st.text(), max_size=3).map(tuple),
        wanted_for=st.none() | st.integers(1, 365 * 86_400).map(lambda seconds: timedelta(seconds=seconds)),
    )
)
def test_a_motive_reads_back(motive: Motive | None) -> None:
    assert motive_from_json(motive_to_json(motive)) == motive


CEILING = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)


@pytest.mark.parametrize(
    ("motive", "beyond"),
    [
        (CEILING, False),
        (Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="x", evidence=("T-1",)), False),
        (Motive(intent=Intent.COST, motivation=Motivation.ROUTINE), True),
        (Motive(intent=Intent.SECURITY, motivation=Motivation.BUDGET), True),
    ],
)
def test_text_and_evidence_are_free_under_a_ceiling(motive: Motive, beyond: bool) -> None:
    assert exceeds(motive, CEILING) is beyond


def test_the_ceiling_is_told() -> None:
    assert "cost/budget," in ceiling_text(CEILING)
    assert ceiling_text(None) == "The key may state no motive."
