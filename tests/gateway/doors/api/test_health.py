"""Readiness: 503 only without a ledger; other problems are named and the gateway goes on. tests/ports stops a real database."""

import httpx
import pytest
from fastapi import FastAPI

from gateway.doors.api.health import Readiness, add_health


@pytest.mark.parametrize(
    ("readiness", "code", "body"),
    [
        (Readiness(details={"code": "c"}), 200, {"status": "ready", "problems": [], "code": "c"}),
        (Readiness(problems=("Old code.",)), 200, {"status": "degraded", "problems": ["Old code."]}),
        (
            Readiness(unreadable="No ledger.", problems=("Old code.",)),
            503,
            {"status": "unavailable", "problems": ["No ledger.", "Old code."]},
        ),
    ],
)
async def test_what_is_said(readiness: Readiness, code: int, body: dict[str, object]) -> None:
    app = FastAPI()

    async def now() -> Readiness:
        return readiness

    add_health(app, now)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as client:
        reply = await client.get("/readyz")
        assert (reply.status_code, reply.json()) == (code, body)
        assert (await client.get("/healthz")).json() == {"status": "alive"}
