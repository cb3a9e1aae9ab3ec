"""The page of replays: recorded decisions again under the policies in force, and under the contracts of a branch if one is named."""

from datetime import timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import Malformed, SentinelError
from gateway.doors.console.api_client import http_status
from gateway.doors.console.visit import Visit
from gateway.policy.replay import LARGEST_PAGE
from gateway.policy.replay_report import ReplayReport

_AGES: Final = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30), "": None}
_PAGES: Final = 4
"""Pages of the API that one press of the button replays: some seconds. What is older is a press more."""


async def replay(visit: Visit) -> Response:
    """The page with nothing replayed yet."""
    return _page(visit, {"age": "week", "stack": visit.query.get("stack", ""), "ref": visit.query.get("ref", "")})


async def run_replay(visit: Visit) -> Response:
    """The same page with the newest decisions replayed, or with those before a record."""
    sent = await visit.form()
    fields = {name: sent.get(name, "").strip() for name in ("age", "stack", "ref", "before")}
    try:
        report, before = await _replayed(visit, fields)
    except SentinelError as error:
        return _page(visit, fields, problem=str(error), status=http_status(error))
    return _page(visit, fields, report=report, before=before)


async def _replayed(visit: Visit, fields: dict[str, str]) -> tuple[ReplayReport, int | None]:
    """The report of some pages, and where what is older begins. Raises a `SentinelError`."""
    if (
        fields["age"] not in _AGES
        or not (fields["before"] or "0").isascii()
        or not (fields["before"] or "0").isdecimal()
    ):
        raise Malformed("This form is not one of this page. Nothing was replayed; open the page again.")
    age, body = _AGES[fields["age"]], dict[str, Any](stack=fields["stack"], limit=LARGEST_PAGE)
    if age is not None:
        body["since"] = (visit.clock.now() - age).isoformat()
    if fields["ref"]:
        body["contracts"] = {"stack": fields["stack"], "ref": fields["ref"]}
    report, before = ReplayReport(), int(fields["before"] or 0)
    for _ in range(_PAGES):
        page = await visit.api.post("/replay", body | {"before_seq": before})
        report.add(page)
        if page["next"] is None:
            return report, None
        before = int(page["next"])
    return report, before


def _page(
    visit: Visit,
    fields: dict[str, str],
    *,
    report: ReplayReport | None = None,
    before: int | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    shown = None if report is None else {**report.to_json(), "headline": report.headline(), "notes": [*report.notes()]}
    return visit.page(
        "replay.html", problem=problem, status=status, given=fields, ages=list(_AGES), found=shown, before=before
    )
