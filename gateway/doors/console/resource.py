"""The pages of resources: the list to find one in, and of one what is declared, recorded and live, its history and what depends on it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import NotFound
from gateway.doors.console.pictures import claims_picture, graph, timeline
from gateway.doors.console.visit import Visit

_ROWS: Final = 50
_CHANGES: Final = 100
_CLAIMS: Final = 60
"""The newest claims on the resource, which are drawn on a time axis."""
_FRESH_SECONDS: Final = 30
"""How old live values may be that a person asks for."""


async def resources(visit: Visit) -> Response:
    """The resources of the filter."""
    chosen = {name: visit.query.get(name, "") for name in ("q", "type", "stack")}
    answer = await visit.api.get("/resources", **chosen, after=visit.query.get("after", ""), limit=_ROWS)
    return visit.page("resources.html", found=answer, chosen=chosen)


async def resource(visit: Visit) -> Response:
    """One resource. Its live values are read only on demand: each reading is a call to AWS."""
    address = visit.query.get("address", "")
    if not address:
        raise NotFound("The address of this page names no resource. Choose one from the list.")
    age = _FRESH_SECONDS if "live" in visit.query else None
    known = await visit.api.get("/context", address=address, max_age_seconds=age)
    before = visit.query.get("before", "")
    past = await visit.api.get(
        "/history", address=address, limit=_CHANGES, before_seq=before if before.isdecimal() else ""
    )
    claims = (await visit.api.get("/claims", address=address, every="true", limit=_CLAIMS))["claims"]
    attribute = visit.query.get("attribute", "") or _latest(past["history"])
    changed = _changed(past["history"])
    shown = {each["attribute"] for each in known["attributes"] if _matters(each, changed, live=age is not None)}
    return visit.page(
        "resource.html",
        known=known,
        live=age is not None,
        first=[each for each in known["attributes"] if each["attribute"] in shown],
        others=[each for each in known["attributes"] if each["attribute"] not in shown],
        past=past,
        attribute=attribute,
        attributes=changed,
        timeline=timeline(past["history"], attribute, visit.clock.now()),
        claims=claims_picture(claims, visit.clock.now()),
        graph=graph([known]),
    )


def _matters(attribute: Mapping[str, Any], changed: Sequence[str], *, live: bool) -> bool:
    """Whether people look for this attribute first: it is held, bounded, was changed, or was read and is not as recorded."""
    read, recorded = attribute["live"], attribute["recorded"]
    differs = live and read["status"] == "ok" and recorded is not None and read["value"] != recorded["value"]
    return bool(attribute["claim"] or attribute["bounds"] or attribute["attribute"] in changed or differs)


def _latest(history: Sequence[Mapping[str, Any]]) -> str:
    """The attribute that was changed last; empty if none was."""
    return next((str(change["attribute"]) for entry in history for change in entry["changes"]), "")


def _changed(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every attribute that was changed, the latest first."""
    return list(dict.fromkeys(str(change["attribute"]) for entry in history for change in entry["changes"]))
