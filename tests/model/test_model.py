"""The model of the line holds its invariants, and sees each bug that is planted into it. Traces of the code are replayed in `tests/chaos`."""

import re

import pytest

from tests.model.tlc import HERE, checked
from tests.model.traces import replayed

pytestmark = pytest.mark.slow

CONFIGURATION = (HERE / "Line.cfg").read_text()
_TWO = "{m1, m2}\n  Needing = {m1, m2}"
ONE_NEEDS_IT = CONFIGURATION.replace(_TWO, "{m1, m2}\n  Needing = {m1}")
"""Two changes of which one needs the approval: where both need it, only one of them can ever be open."""
LARGER = CONFIGURATION.replace(_TWO, "{m1, m2, m3}\n  Needing = {m1, m2}")
"""Three changes, so that a bug shows whether it is about two that need one approval or about two of which one needs none."""
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


@pytest.mark.parametrize("configuration", [CONFIGURATION, ONE_NEEDS_IT], ids=["both need the approval", "one does"])
def test_every_state_of_two_gateways_and_two_changes_holds(configuration: str) -> None:
    told = checked("Line", {"Line.cfg": configuration})
    assert "No error has been found" in told, told
    states = re.search(r"generated, (\d+) distinct states found, 0 states left on queue\.$", told, re.MULTILINE)
    assert states is not None
    assert int(states[1]) > 5_000


@pytest.mark.long
def test_every_state_of_three_changes_holds() -> None:
    assert "No error has been found" in checked("Line", {"Line.cfg": LARGER})


def test_the_configurations_differ() -> None:
    assert len({CONFIGURATION, ONE_NEEDS_IT, LARGER}) == 3


@pytest.mark.parametrize(
    "bug", [pytest.param(each, marks=pytest.mark.long if each != "absent at once" else ()) for each in PLANTED]
)
def test_a_planted_bug_breaks_its_invariant(bug: str) -> None:
    without_time = LARGER.partition("PROPERTY")[0]
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
