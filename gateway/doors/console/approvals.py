"""The approvals page: each held mutation with everything its approver decides about, alike ones together, and the bulk rejection of a filtered list."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import Malformed, SentinelError
from gateway.core.model.approval import HoldFilter, approval_rule_from_json, objection, own_objection
from gateway.core.times import utc_text
from gateway.doors.console.api_client import ApiProblem, segment
from gateway.doors.console.cards import MutationCard, card_of
from gateway.doors.console.forms import reason_in
from gateway.doors.console.rendering import plural
from gateway.doors.console.visit import Visit, go, rows_of

_CARDS: Final = 10
"""Held mutations on a page. Each shows its whole change."""
_COUNTED: Final = 100
"""Mutations by which a requester's record is told."""
MOST_AT_ONCE: Final = 200
"""Most that are rejected at once: each of them is listed first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequesterRecord:
    """What the requester asked for in the last seven days, among its newest mutations."""

    asked: int = 0
    applied: int = 0
    refused: int = 0
    more: bool = False
    """Whether there were more than were counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCard:
    """A held mutation as its approver sees it."""

    card: MutationCard
    headline: str
    risk: str
    """The first reason why it waits."""
    size: str
    """How much it touches, in words."""
    requester: RequesterRecord


async def approvals(visit: Visit) -> Response:
    """The held mutations of the filter, newest first; those of one requester for one reason stand together."""
    chosen = _filter(visit.query)
    answer = await visit.api.get("/holds", **chosen, before=visit.query.get("before", ""), limit=_CARDS + 1)
    holds, last = rows_of(answer["holds"], _CARDS)
    requesters = list(dict.fromkeys(hold["requester"] for hold in holds))
    records = dict(
        zip(requesters, await asyncio.gather(*(_record_of(visit, each) for each in requesters)), strict=True)
    )
    cards = await asyncio.gather(*(_card(visit, hold) for hold in holds))
    shown = [
        HeldCard(
            card=card,
            headline=hold["headline"],
            risk=next((reason["reason"] for reason in hold["reasons"]), ""),
            size=_size(card),
            requester=records[hold["requester"]],
        )
        for hold, card in zip(holds, cards, strict=True)
        if card
    ]
    return visit.page(
        "approvals.html",
        groups=_alike(shown),
        chosen=chosen,
        states=[state.value for state in HoldFilter],
        older=last["mutation_id"] if last else "",
    )


def _alike(cards: Sequence[HeldCard]) -> list[tuple[str, list[HeldCard]]]:
    """The cards in groups of one requester, one operation and one first reason, each with a title."""
    groups: dict[tuple[str, ...], list[HeldCard]] = {}
    for held in cards:
        told = held.card.explanation
        rules = [rule["rule"] for check in told["checks"] for rule in check["rules"] if rule["verdict"] != "allow"]
        groups.setdefault((told["operation"], told["actor"], *rules[:1]), []).append(held)
    return [(f"{operation} by {actor}", alike) for (operation, actor, *_), alike in groups.items()]


def _size(card: MutationCard) -> str:
    asked = [change for change in card.changes if not change.implied]
    resources = len({change.address for change in asked})
    dependants = len(card.explanation["facts"]["dependants"])
    touched = f"{plural(len(asked), 'attribute', 'attributes')} of {plural(resources, 'resource', 'resources')}"
    return f"{touched}, {plural(dependants, 'resource depends', 'resources depend')} on it" if asked else ""


async def _record_of(visit: Visit, actor: str) -> RequesterRecord:
    since = utc_text(visit.clock.now() - timedelta(days=7))
    try:
        rows = (await visit.api.get("/mutations", actor=actor, since=since, limit=_COUNTED))["mutations"]
    except ApiProblem:
        return RequesterRecord()
    return RequesterRecord(
        asked=len(rows),
        applied=sum(row["state"] == "applied" for row in rows),
        refused=sum(row["state"] in ("denied", "rejected") for row in rows),
        more=len(rows) == _COUNTED,
    )


async def ask_rejection(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """The list of all that match the filter and that the visitor may reject, with the question for a reason."""
    chosen = {**_filter(visit.query), "state": HoldFilter.OPEN.value}
    holds = (await visit.api.get("/holds", **chosen, limit=MOST_AT_ONCE))["holds"]
    mine = [hold for hold in holds if not _why_not(visit, hold)]
    values = {"holds": mine, "others": len(holds) - len(mine), "chosen": chosen, "most": MOST_AT_ONCE}
    return visit.page("reject_all.html", problem=problem, status=status, **values)


async def reject_all(visit: Visit) -> Response:
    """Reject exactly those that were listed, each in a transaction of its own, with the reason."""
    fields = await visit.form()
    wanted = fields.get("mutations", "").split()
    reason = reason_in(fields)
    if not 0 < len(wanted) <= MOST_AT_ONCE:
        raise Malformed(f"At most {MOST_AT_ONCE} are rejected at once, and at least one. Nothing was changed.")
    kept = [problem for each in wanted if (problem := await _reject(visit, each, reason))]
    if kept:
        told = f"{len(wanted) - len(kept)} were rejected, {len(kept)} were not. {' '.join(kept[:5])}"
        return await ask_rejection(visit, told, status=409)
    return go("/approvals", done="all-rejected")


async def _reject(visit: Visit, mutation_id: str, reason: str) -> str:
    """Why this one was not rejected, as a sentence; empty if it was."""
    try:
        await visit.api.post(f"/mutations/{segment(mutation_id)}/reject", {"reason": reason})
    except SentinelError as error:
        return str(error)
    return ""


def _why_not(visit: Visit, hold: Mapping[str, Any]) -> str:
    requesters = (hold["requester"], hold["on_behalf_of"])
    rule = approval_rule_from_json(hold["approvers"])
    return objection(visit.caller, rule) or own_objection(visit.caller, hold["mutation_id"], requesters)


def _filter(query: Mapping[str, str]) -> dict[str, str]:
    state = query.get("state", "")
    known = state if state in set(HoldFilter) else HoldFilter.OPEN.value
    return {"state": known, "actor": query.get("actor", ""), "stack": query.get("stack", "")}


async def _card(visit: Visit, hold: Mapping[str, Any]) -> MutationCard | None:
    """The card of a held mutation; None if the visitor may not see it after all."""
    mutation = str(hold["mutation_id"])
    try:
        explanation = await visit.api.get(f"/mutations/{segment(mutation)}/explanation")
    except ApiProblem:
        return None
    return card_of(mutation, explanation, hold, visit.caller)
