"""The page of the ledger: whether it is intact, verified on demand, and how to show it to an auditor."""

from starlette.responses import Response

from gateway.doors.api.verifier import MOST_RECORDS
from gateway.doors.console.visit import Visit, go


async def ledger(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """The page, with what the last verification found."""
    found = await visit.api.get("/verification")
    values = {"verified": found["verified"], "most": MOST_RECORDS}
    return visit.page("ledger.html", problem=problem, status=status, **values)


async def verify(visit: Visit) -> Response:
    """Verify every record; then show the page."""
    await visit.api.post("/verification", {})
    return go("/ledger")
