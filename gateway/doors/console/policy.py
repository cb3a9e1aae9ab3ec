"""The pages of policy: rules by pack with how often they spoke, one rule with its text and tests, the numbers, and who would win."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation
from gateway.doors.console.api_client import segment
from gateway.doors.console.visit import Visit

_DAY: Final = timedelta(days=1)
RANGES: Final[Mapping[str, timedelta]] = {"24h": _DAY, "7d": 7 * _DAY, "30d": 30 * _DAY, "90d": 90 * _DAY}
_USUAL: Final = "7d"
_MOST_SHOWN: Final = 5
"""Rules in the list of those that spoke most."""
_SIDES: Final = ("asks", "holds")
_SIDE_MEMBERS: Final = ("kind", "intent", "motivation", "proven")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackSection:
    """The rules of one pack."""

    name: str
    about: str
    stage: str
    """Empty for rules of no pack."""
    rules: tuple[Mapping[str, Any], ...]
    """Those that spoke most in the range first."""
    spoke: int
    """How often its rules spoke in the range."""
    speakers: int
    """How many of its rules did."""


async def policy(visit: Visit) -> Response:
    """Rules by pack, the packs that spoke most first, and above them the rules that did."""
    chosen = visit.query.get("span", "")
    span = RANGES.get(chosen, RANGES[_USUAL])
    found = await visit.api.get("/policy", hours=int(span / timedelta(hours=1)))
    words = visit.query.get("q", "").casefold()
    rules = [each for each in found["rules"] if words in _text_of(each)]
    sections = sorted(_sections(rules, found["packs"]), key=lambda each: -each.spoke)
    most = sorted((each for each in found["rules"] if _spoke(each)), key=lambda each: -_spoke(each))
    return visit.page(
        "policy.html",
        sections=sections,
        most=most[:_MOST_SHOWN],
        counted=found["counted"],
        revision=found["revision"],
        q=visit.query.get("q", ""),
        spans=list(RANGES),
        span=chosen if chosen in RANGES else _USUAL,
    )


def _text_of(rule: Mapping[str, Any]) -> str:
    told = [rule[name] for name in ("id", "title", "source", "pack", "stage")]
    return " ".join([*told, *rule["controls"]]).casefold()


def _spoke(rule: Mapping[str, Any]) -> int:
    counts = rule["counts"] or {}
    return sum(int(counts.get(name, 0)) for name in ("denied", "held", "warned"))


def _sections(rules: Sequence[Mapping[str, Any]], packs: Sequence[Mapping[str, Any]]) -> Iterator[PackSection]:
    known = {each["name"]: each for each in packs}
    for name in dict.fromkeys([*known, *(rule["pack"] for rule in rules)]):
        own = sorted((rule for rule in rules if rule["pack"] == name), key=lambda each: (-_spoke(each), each["id"]))
        if own:
            pack = known.get(name, {})
            yield PackSection(
                name=name,
                about=pack.get("about", _ABOUT.get(name, "")),
                stage=pack.get("stage", ""),
                rules=tuple(own),
                spoke=sum(map(_spoke, own)),
                speakers=sum(1 for each in own if _spoke(each)),
            )


_ABOUT: Final[Mapping[str, str]] = {
    "built in": "Sentinel's own checks: contracts, dependencies, fairness, and what is refused in every mode.",
    "arbitration": "Who wins where several want one attribute.",
    "gone": "These spoke in the records and are in force no more.",
}


async def rule(visit: Visit) -> Response:
    """One rule."""
    name = segment(str(visit.request.path_params["rule"]))
    return visit.page("policy_rule.html", rule=await visit.api.get(f"/policy/rules/{name}"))


async def numbers(visit: Visit) -> Response:
    """The data of the policies."""
    found = await visit.api.get("/policy/numbers")
    wanted = visit.query.get("file", "")
    return visit.page("policy_numbers.html", files=found["files"], wanted=wanted, revision=found["revision"])


async def who_wins(visit: Visit) -> Response:
    """The outcome for the two that the address names, and the table of all motivations."""
    named = {f"{side}_{name}" for side in _SIDES for name in _SIDE_MEMBERS}
    given = {name: visit.query[name] for name in visit.query if name in named or name == "stack"}
    return visit.page(
        "who_wins.html",
        found=await visit.api.get("/policy/contest", **given),
        kinds=[each.value for each in ActorKind],
        intents=[each.value for each in Intent],
        motivations=[each.value for each in Motivation],
    )
