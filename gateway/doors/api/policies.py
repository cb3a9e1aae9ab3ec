"""The API's routes about the policies in force: rules by pack and how often they spoke, one rule with its text, the numbers, and who would win."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.routers import keyed_router
from gateway.policy.rule_counts import LONGEST, RuleCount
from gateway.policy.who_wins import side_of
from gateway.presentation.serialize import time_to_json

_NOTHING = RuleCount()
_MOST_HOURS = int(LONGEST / timedelta(hours=1))
Word = Annotated[str, Query(max_length=64)]

router = keyed_router()


@router.get("/policy", summary="The rules in force by pack, each with its stage, its place, and how often it spoke")
async def policy(
    ports: Ports, caller: Authenticated, hours: Annotated[int, Query(ge=1, le=_MOST_HOURS)] = 168
) -> dict[str, Any]:
    """The rules and packs; people and pipelines are told how often each rule spoke in the last hours, the running one included."""
    rules, packs = ports.catalogue.rules()
    shown: dict[str, Any] = {"revision": ports.catalogue.engine.revision, "packs": [each.to_json() for each in packs]}
    if not caller.sees_all:
        return {**shown, "counted": None, "rules": [{**each.to_json(), "counts": None} for each in rules]}
    found = await ports.rule_tally.since(ports.clock.now() - timedelta(hours=hours - 1))
    known = {each.id for each in rules}
    gone = [
        {"id": rule, "title": "", "source": "", "pack": "gone", "stage": "gone", "exceptions": [], "controls": []}
        for rule in sorted(found.by_rule.keys() - known)
    ]
    every = [*(each.to_json() for each in rules), *gone]
    return {
        **shown,
        "counted": {
            "since": time_to_json(found.since),
            "counted_from": time_to_json(found.counted_from),
            "reading": found.reading,
        },
        "rules": [{**each, "counts": _counts(found.by_rule.get(each["id"], _NOTHING))} for each in every],
    }


def _counts(count: RuleCount) -> dict[str, Any]:
    return {
        "denied": count.denied,
        "held": count.held,
        "warned": count.warned,
        "last": None if count.last is None else time_to_json(count.last),
    }


@router.get(
    "/policy/rules/{rule}",
    summary="One rule: its text, its tests, its stage, and the latest mutations that it spoke against",
)
async def one_rule(ports: Ports, caller: Authenticated, rule: str) -> dict[str, Any]:
    """The rule as its file has it. People and pipelines may ask."""
    _require_reader(caller)
    found = await ports.catalogue.rule(rule)
    count = (await ports.rule_tally.since(ports.clock.now() - LONGEST)).by_rule.get(rule, _NOTHING)
    latest = [
        {
            "mutation_id": each.mutation_id,
            "at": time_to_json(each.at),
            "verdict": each.verdict.value,
            "tried": each.tried,
        }
        for each in count.latest
    ]
    return {**found, "counts": _counts(count), "latest": latest}


@router.get("/policy/numbers", summary="The data of the policies, file by file, and who changed each last")
async def numbers(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """The values of each file. People and pipelines may ask: agents are not told with which motives others win."""
    _require_reader(caller)
    return {"revision": ports.catalogue.engine.revision, "files": await ports.catalogue.numbers(ports.clock.now())}


@router.get("/policy/contest", summary="Who would win: a change with one motive against a claim with another")
async def contest(
    ports: Ports,
    caller: Authenticated,
    *,
    stack: Word = "",
    asks_kind: Word = "agent",
    asks_intent: Word = "availability",
    asks_motivation: Word = "incident",
    asks_proven: bool = True,
    holds_kind: Word = "agent",
    holds_intent: Word = "cost",
    holds_motivation: Word = "budget",
    holds_proven: bool = True,
) -> dict[str, Any]:
    """The outcome, both scores as sums of their terms, and a table of all motivations. People and pipelines may ask; nothing is recorded."""
    _require_reader(caller)
    asks = side_of(asks_kind, asks_intent, asks_motivation, proven=asks_proven)
    holds = side_of(holds_kind, holds_intent, holds_motivation, proven=holds_proven)
    return await ports.who_wins.between(asks, holds, stack)


def _require_reader(caller: Caller) -> None:
    if not caller.sees_all:
        raise NotAllowed(
            "Only people and pipelines may read rules and numbers: they tell with which motives others win. GET /v1/policy lists the rules."
        )
