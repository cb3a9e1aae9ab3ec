"""Serves `/healthz`, which says that the process lives, and `/readyz`, which says whether the gateway can work."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether a gateway can do its work, and by which revisions it does."""

    unreadable: str = ""
    """Why the ledger cannot be read, as a sentence; empty if it can."""
    problems: tuple[str, ...] = ()
    """Problems despite which the gateway works on with the last valid configuration; a sentence each."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Stacks, and the revisions of contracts and policy in force."""

    @property
    def status(self) -> str:
        """The word for it."""
        return "unavailable" if self.unreadable else "degraded" if self.problems else "ready"


def add_health(app: FastAPI, readiness: Callable[[], Awaitable[Readiness]]) -> None:
    """Add both routes. Neither needs a key."""

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/readyz", summary="Readiness, the revisions of contracts and policy in force, and current problems")
    async def readyz() -> JSONResponse:
        now = await readiness()
        problems = [*((now.unreadable,) if now.unreadable else ()), *now.problems]
        # Without the ledger every change is refused, so a load balancer should choose another gateway.
        status = HTTPStatus.SERVICE_UNAVAILABLE if now.unreadable else HTTPStatus.OK
        return JSONResponse({"status": now.status, "problems": problems, **now.details}, status_code=status)
