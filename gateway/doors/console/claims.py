"""The claims board: who holds which attribute, why and until when, and the release of all that a filter lists."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import Malformed, SentinelError
from gateway.doors.console.api_client import segment
from gateway.doors.console.approvals import MOST_AT_ONCE
from gateway.doors.console.visit import Visit, go, rows_of

_ROWS: Final = 50


async def claims(visit: Visit) -> Response:
    """The claims of the filter, newest first."""
    chosen = _filter(visit.query)
    answer = await visit.api.get("/claims", **chosen, before=visit.query.get("before", ""), limit=_ROWS + 1)
    rows, last = rows_of(answer["claims"], _ROWS)
    return visit.page("claims.html", claims=rows, chosen=chosen, older=last["id"] if last else "")


async def ask_release(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """The list of all that match and that the visitor may end, with the question whether to end them."""
    chosen = {**_filter(visit.query), "every": ""}
    found = (await visit.api.get("/claims", **chosen, limit=MOST_AT_ONCE))["claims"]
    mine = [claim for claim in found if _may_end(visit, claim)]
    mutations = list(dict.fromkeys(claim["mutation_id"] for claim in mine))
    values = {"claims": mine, "mutations": mutations, "others": len(found) - len(mine), "chosen": chosen}
    return visit.page("release_all.html", problem=problem, status=status, most=MOST_AT_ONCE, **values)


async def release_all(visit: Visit) -> Response:
    """End the claims of exactly those mutations that were listed."""
    wanted = (await visit.form()).get("mutations", "").split()
    if not 0 < len(wanted) <= MOST_AT_ONCE:
        raise Malformed(
            f"The claims of at most {MOST_AT_ONCE} mutations end at once, and of at least one. Nothing was changed."
        )
    kept = []
    for mutation in wanted:
        try:
            await visit.api.post(f"/mutations/{segment(mutation)}/release", {})
        except SentinelError as error:
            kept.append(str(error))
    if kept:
        return await ask_release(visit, f"{len(kept)} of {len(wanted)} stay. {' '.join(kept[:5])}", status=409)
    return go("/claims", done="released")


def _may_end(visit: Visit, claim: Mapping[str, Any]) -> bool:
    """Whether a button makes sense: the ledger asks again."""
    return claim["actor"] == visit.caller.actor or "approver" in visit.caller.roles


def _filter(query: Mapping[str, str]) -> dict[str, str]:
    every = "true" if query.get("every") == "true" else ""
    return {"address": query.get("address", ""), "actor": query.get("actor", ""), "every": every}
