"""The model of the line holds its invariants, and sees each bug that is planted into it. Traces of the code are replayed in `tests/chaos`."""

import re

import pytest

from tests.model.tlc import HERE, checked
from tests.model.traces import replayed

pytestmark = pytest.mark.slow

CONFIGURATION = (HERE / "Line.cfg").read_text()
PLANTED = {
    "no unique index": "OneWinner",
    "sent before stored": "NothingUnlogged",
    "sent again": "AppliedAtMostOnce",
    "absent at once": "RecordIsTrue",
    "free in doubt": "DoubtHoldsItsClaim",
    "approval not spent": "ApprovedOnce",
}
"""Bug → an invariant that it breaks."""
GOOD = [
    ("Decide", "g1"),
    ("Commit", "g1"),
    ("Send", "g1"),
    ("Arrive", ""),
    ("Answer", "g1"),
    ("Settle", "g1"),
]


def test_every_state_of_two_gateways_and_two_changes_holds() -> None:
    told = checked("Line", {"Line.cfg": CONFIGURATION})
    assert "No error has been found" in told, told
    states = re.search(r"generated, (\d+) distinct states found, 0 states left on queue\.$", told, re.MULTILINE)
    assert states is not None
    assert int(states[1]) > 5_000


@pytest.mark.long
def test_every_state_of_three_changes_holds() -> None:
    larger = CONFIGURATION.replace("{m1, m2}\n  Needing = {m1, m2}", "{m1, m2, m3}\n  Needing = {m1, m2}")
    assert larger != CONFIGURATION
    assert "No error has been found" in checked("Line", {"Line.cfg": larger})


@pytest.mark.parametrize(
    "bug", [pytest.param(each, marks=pytest.mark.long if each != "absent at once" else ()) for each in PLANTED]
)
def test_a_planted_bug_breaks_its_invariant(bug: str) -> None:
    without_time = CONFIGURATION.partition("PROPERTY")[0]
    every = re.search(r"INVARIANTS (.*)", without_time)
    assert every is not None
    configuration = without_time.replace('Bug = "none"', f'Bug = "{bug}"').replace(every[1], PLANTED[bug])
    assert f"Invariant {PLANTED[bug]} is violated" in checked("Line", {"Line.cfg": configuration})


def test_a_behaviour_that_the_model_does_not_allow_is_refused() -> None:
    sent_twice = [*GOOD[:3], ("Send", "g1"), *GOOD[3:]]
    told = replayed([GOOD, sent_twice])
    assert "Deadlock reached" in told, told


def test_a_behaviour_that_the_model_allows_is_replayed_to_its_end() -> None:
    told = replayed([GOOD])
    assert "No error has been found" in told, told
