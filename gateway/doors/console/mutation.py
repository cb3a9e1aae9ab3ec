"""The page of one mutation, its whole life, and the acts on it: approve, reject, pass in an emergency, release, settle."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import Malformed
from gateway.core.model.approval import is_approver
from gateway.core.model.time_box import TimeBoxState
from gateway.doors.console.api_client import segment
from gateway.doors.console.cards import MutationCard, card_of
from gateway.doors.console.differences import FileDifference, code_diff
from gateway.doors.console.forms import reason_in
from gateway.doors.console.pictures import DependencyPicture, graph
from gateway.doors.console.visit import Visit, go, part
from gateway.presentation.mutation_state import MutationState

_LASTS: Final = ("1h", "15m", "4h", "1d")
"""How long an approval may be asked to wait for the call; the first is the usual one."""
_DRAWN: Final = 4
"""Changed resources in the picture of what depends on what."""
_PROPOSALS: Final = 100
"""The newest records of pull requests among which that of a commit is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCode:
    """The commit by which a mutation came into the code."""

    commit: str
    files: tuple[FileDifference, ...] = ()
    branch: str = ""
    commit_url: str = ""
    """Its page at the host of the repository; empty without a pull request."""
    pull_url: str = ""
    number: int = 0
    state: str = ""
    """Of the pull request."""


async def mutation(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """The page."""
    mutation_id = segment(visit.request.path_params["mutation_id"])
    found = await visit.api.get(f"/mutations/{mutation_id}")
    records: list[dict[str, Any]] = found["records"]
    claimed = await _claimed(visit, mutation_id, records)
    values = {
        "id": mutation_id,
        "state": found["state"],
        "records": records,
        "change": _with_durations(found["change"]),
        "card": await _card(visit, mutation_id, records),
        "lasts": _LASTS,
        "code": await _code(visit, records),
        "claims": claimed["claims"],
        "depends": await _depends(visit, records),
        "undo": await _undo(visit, mutation_id, found["state"], claimed["time_boxes"]),
        "may_end": is_approver(visit.caller) or any(each["actor"] == visit.caller.actor for each in claimed["claims"]),
    }
    return visit.page("mutation.html", problem=problem, status=status, **values)


def _with_durations(change: dict[str, Any] | None) -> dict[str, Any] | None:
    """The row of the mutation, with the seconds that each step of its path took since the step before."""
    if change is None:
        return None
    marks, before = [], None
    for mark in change["path"]:
        at = datetime.fromisoformat(mark["at"]) if mark["at"] else None
        marks.append({**mark, "took": (at - before).total_seconds() if at and before else 0})
        before = at or before
    return {**change, "path": marks}


async def act(visit: Visit) -> Response:
    """Do what the form asks for, as the API does it; then show the page."""
    mutation_id, action = segment(visit.request.path_params["mutation_id"]), visit.request.path_params["action"]
    return go(f"/mutations/{mutation_id}", done=await _do(visit, mutation_id, action, await visit.form()))


async def _do(visit: Visit, mutation_id: str, action: str, fields: Mapping[str, str]) -> str:
    """Do the act; the word of `DONE` for it."""
    path = f"/mutations/{mutation_id}/{action}"
    match action:
        case "approve":
            body = {"lasts": fields.get("lasts", _LASTS[0]), "reason": reason_in(fields)}
            answer = await visit.api.post(path, body)
            return "partly" if answer["missing"] else "approved"
        case "reject" | "break-glass":
            await visit.api.post(path, {"reason": reason_in(fields)})
            return "rejected" if action == "reject" else "passed"
        case "settle":
            await visit.api.post(path, {"outcome": fields.get("outcome", ""), "reason": reason_in(fields)})
            return "settled"
        case "end":
            await visit.api.post(path, {"reason": "Ended in the console."})
            return "put-back"
        case "release":
            await visit.api.post(path, {})
            return "released"
        case _:
            raise Malformed("The console has no such act. Nothing was changed.")


async def _code(visit: Visit, records: Sequence[Mapping[str, Any]]) -> WrittenCode | None:
    """The newest commit that wrote the mutation into code, and what it changes. The change only for those who see everybody's: it may hold several."""
    written = [record for record in records if record["stage"] == "reconciled" and record["body"].get("commit")]
    if not written:
        return None
    body, commit = written[-1]["body"], str(written[-1]["body"]["commit"])
    stack = visit.checkouts.get(written[-1]["stack"])
    if not visit.caller.sees_all:
        return WrittenCode(commit=commit)
    proposals = (await visit.api.get("/records", stage="proposed", limit=_PROPOSALS))["records"]
    files = await asyncio.to_thread(code_diff, stack, commit) if stack is not None else ()
    found = WrittenCode(commit=commit, branch=str(body.get("branch") or ""), files=files)
    mutation = str(written[-1]["mutation_id"])
    return next((pulled for each in proposals if (pulled := _in_pull_request(found, mutation, each["body"]))), found)


def _in_pull_request(code: WrittenCode, mutation: str, proposed: Mapping[str, Any]) -> WrittenCode | None:
    """The commit with its pull request; None if this is not a pull request that has it, or its address is not one of a page."""
    url, number = str(proposed.get("url") or ""), proposed.get("number")
    holds = code.commit == proposed.get("commit") or mutation in (proposed.get("mutations") or ())
    if not holds or not number or not url.startswith("https://"):
        return None
    repository, pull, _ = url.rpartition("/pull/")
    return replace(
        code,
        pull_url=url,
        number=int(number),
        state=str(proposed.get("state") or ""),
        commit_url=f"{repository}/commit/{code.commit}" if pull else "",
    )


async def _card(visit: Visit, mutation_id: str, records: Sequence[Mapping[str, Any]]) -> MutationCard | None:
    """The card; None for what was never decided: a signal, a stop, a change from outside."""
    decided = next((record for record in records if record["stage"] == "decided"), None)
    if decided is None:
        return None
    explanation = await visit.api.get(f"/mutations/{mutation_id}/explanation")
    call = decided["body"]["call"]
    return card_of(mutation_id, explanation, {**call, "whole": call.get("whole") is True}, visit.caller)


async def _depends(visit: Visit, records: Sequence[Mapping[str, Any]]) -> DependencyPicture | None:
    """The first resources that the mutation changes, with what they need and what depends on them now; None where none of them is declared."""
    effects = [
        each for record in records if record["stage"] == "decided" for each in record["body"].get("effects") or ()
    ]
    addresses = list(dict.fromkeys(str(each["address"]) for each in effects))[:_DRAWN]
    parts = await asyncio.gather(*(part(visit.api.get("/context", address=each)) for each in addresses))
    known = [each.answer for each in parts if not each.why_not]
    return graph(known) if known else None


async def _undo(
    visit: Visit, mutation_id: str, state: str, boxes: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """How to undo it: a command, or why none is known; None for what was not applied. What is wanted for a time only is ended."""
    if state not in (MutationState.APPLIED, MutationState.ENDED):
        return None
    standing = [box for box in boxes if box["state"] == TimeBoxState.STANDING and box["goes_back_at"]]
    if standing:
        return {"at_end": standing[0]["goes_back_at"], "command": ["sentinel", "end", mutation_id]}
    found = await visit.api.get(f"/mutations/{mutation_id}/undo")
    call = found["call"]
    if call is None:
        return {"at_end": "", "why_not": found["why_not"], "command": []}
    motive = ["--intent", "consistency", "--motivation", "routine", "--why", f"Undo {mutation_id}"]
    region = ["--region", call["region"]] if call["region"] else []
    parameters = json.dumps(call["parameters"], sort_keys=True)
    return {
        "at_end": "",
        "command": ["sentinel", "propose", call["service"], call["operation"], parameters, *motive, *region],
    }


async def _claimed(visit: Visit, mutation_id: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The `claims` of the mutation that stand, and its `time_boxes`: what of it goes back, and when."""
    if not any(record["body"].get("claims") for record in records):
        return {"claims": [], "time_boxes": []}
    return await visit.api.get("/claims", mutation_id=mutation_id)
