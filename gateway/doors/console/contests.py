"""The page of contests: for each attribute that several wanted, who wanted it when, with which score, and why the winner won."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.doors.console.pictures import ContestPicture, contest_picture
from gateway.doors.console.visit import Visit

_LOOKED_AT: Final = 300
"""The newest decisions in which contests are looked for."""
_SHOWN: Final = 20
"""Attributes on a page."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RESULTS: Final[Mapping[str, str]] = {
    "wins": "outranked it",
    "loses": "was outranked",
    "close": "ranks about as high, so a person decides",
    "unsettled": "must wait until that change is settled",
    "agrees": "wants the same value",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One actor's wish for an attribute that another one held."""

    mutation: str
    at: datetime
    actor: str
    motive: str
    score: int | None
    verdict: str
    holder: str
    holder_motive: str
    holder_score: int | None
    since: datetime
    until: datetime | None
    result: str
    """What the ranks said, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The wishes for one attribute, newest first."""

    address: str
    attribute: str
    wishes: tuple[Wish, ...]
    picture: ContestPicture


async def contests(visit: Visit) -> Response:
    """The contested attributes among the newest decisions, the latest first. Agents see no ranks of others."""
    found = await visit.api.get("/records", stage="decided", limit=_LOOKED_AT)
    by_attribute: dict[tuple[str, str], list[Wish]] = {}
    for record in found["records"]:
        for where, wish in _wishes(record):
            by_attribute.setdefault(where, []).append(wish)
    now = visit.clock.now()
    shown = [
        Contest(address=address, attribute=attribute, wishes=tuple(wishes), picture=_picture(wishes, now))
        for (address, attribute), wishes in list(by_attribute.items())[:_SHOWN]
    ]
    return visit.page(
        "contests.html", contests=shown, more=len(by_attribute) - len(shown), looked_at=len(found["records"])
    )


def _wishes(record: Mapping[str, Any]) -> list[tuple[tuple[str, str], Wish]]:
    """What a decision wanted of attributes that others held, as far as the record says how they were ranked."""
    decision = record["body"]["decision"]
    contest = decision.get("contest") or {}
    motive = record["body"].get("motive")
    return [
        (
            (str(rival["address"]), str(rival["attribute"])),
            Wish(
                mutation=record["mutation_id"],
                at=datetime.fromisoformat(record["at"]),
                actor=record["actor"],
                motive=_motive(motive or {}),
                score=(contest.get("incoming") or {}).get("score"),
                verdict=decision["verdict"],
                holder=str(rival["actor"]),
                holder_motive=_motive(rival),
                holder_score=rival.get("score"),
                since=_time(rival["since_ns"]),
                until=None if rival["until_ns"] is None else _time(rival["until_ns"]),
                result=_RESULTS.get(str(rival["outcome"]), str(rival["outcome"])),
            ),
        )
        for rival in contest.get("rivals", {}).values()
    ]


def _motive(members: Mapping[str, Any]) -> str:
    return " / ".join(str(members[name]) for name in ("intent", "motivation") if members.get(name)) or "no motive"


def _time(nanoseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _picture(wishes: Sequence[Wish], now: datetime) -> ContestPicture:
    return contest_picture(
        held=[(wish.holder, wish.since, min(wish.until or now, now)) for wish in wishes],
        wished=[(wish.actor, wish.at, wish.verdict) for wish in wishes],
        now=now,
    )
