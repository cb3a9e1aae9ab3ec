"""A contest as people and as agents see it."""

from typing import Any

from gateway.doors.contest import WINNERS_SHOWN, contest_of

RIVAL = {
    "address": "aws_lb.a",
    "attribute": "idle_timeout",
    "actor": "rescuer",
    "kind": "agent",
    "intent": "availability",
    "motivation": "incident",
    "since_ns": 0,
    "until_ns": 1_000_000_000,
    "outcome": "loses",
    "score": 1500,
    "terms": {"intent": 600, "motivation": 900, "kind": 0, "unproven": 0},
}
WINNING: list[dict[str, Any]] = [
    {"intent": "security", "motivation": f"m{number:02}", "score": 2000 - number} for number in range(20)
]
CONTEST: dict[str, Any] = {
    "incoming": {"score": 450, "terms": {"intent": 200, "motivation": 250}},
    "rivals": {"clm_1": RIVAL, "clm_2": {**RIVAL, "until_ns": None}},
    "needed": 1600,
    "winning": WINNING,
}


def test_people_see_scores_and_the_weakest_motives_that_would_have_won() -> None:
    found: Any = contest_of(CONTEST, sees_all=True)
    first, second = found["rivals"]
    assert (first["claim"], first["until"], first["terms"]) == ("clm_1", "1970-01-01T00:00:01Z", RIVAL["terms"])
    assert second["until"] is None
    scores = [each["score"] for each in found["winning"]]
    assert (scores, found["more_winning"]) == (sorted(scores), len(WINNING) - WINNERS_SHOWN)
    assert min(each["score"] for each in WINNING) == scores[0]


def test_agents_see_who_holds_what_and_until_when() -> None:
    found: Any = contest_of(CONTEST, sees_all=False)
    assert set(found) == {"rivals"}
    assert set(found["rivals"][0]) == {"claim", "address", "attribute", "actor", "outcome", "since", "until", "class"}


def test_no_contest() -> None:
    assert contest_of(None, sees_all=True) is None
