"""Shows a recorded contest with standing claims: whole to people, to agents only who holds what and until when."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOR_ALL = ("address", "attribute", "actor", "outcome")
_FOR_PEOPLE = ("kind", "intent", "motivation", "score", "terms")
WINNERS_SHOWN = 12
"""How many of the motives that would have won are listed, the weakest first: those are the nearest to what was asked."""


def contest_of(contest: Mapping[str, Any] | None, *, sees_all: bool) -> dict[str, Any] | None:
    """The contest as this caller may see it; None if there was none."""
    if contest is None:
        return None
    rivals = [
        {"claim": claim, **_rival(rival, sees_all=sees_all)} for claim, rival in sorted(contest["rivals"].items())
    ]
    if not sees_all:
        return {"rivals": rivals}
    winning = sorted(contest["winning"], key=lambda each: (each["score"], each["intent"], each["motivation"]))
    return {
        "incoming": contest["incoming"],
        "rivals": rivals,
        "needed": contest["needed"],
        "winning": winning[:WINNERS_SHOWN],
        "more_winning": max(0, len(winning) - WINNERS_SHOWN),
    }


def _rival(rival: Mapping[str, Any], *, sees_all: bool) -> dict[str, Any]:
    names = (*_FOR_ALL, *_FOR_PEOPLE) if sees_all else _FOR_ALL
    return {
        **{name: rival[name] for name in names},
        "class": rival.get("class", ""),
        "since": _time(rival["since_ns"]),
        "until": _time(rival["until_ns"]),
    }


def _time(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return (_EPOCH + timedelta(microseconds=nanoseconds // 1000)).isoformat().replace("+00:00", "Z")
