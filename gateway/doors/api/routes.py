"""Every route of the JSON API under `/v1`. A module here named for a resource, e.g. `stops`, has the routes of that resource."""

from functools import cache
from types import ModuleType
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.routing import BaseRoute

from gateway.core.errors import NotFound
from gateway.doors.api import (
    approvals,
    budgets,
    changes,
    claims,
    drift,
    keys,
    left,
    mutations,
    notices,
    plans,
    playground,
    policies,
    records,
    replay,
    resources,
    sessions,
    signals,
    stops,
    verification,
)
from gateway.doors.api.routers import PREFIX

_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_UNKEYED: Final[tuple[ModuleType, ...]] = (signals, plans, notices)
"""Modules with routes whose requests carry a signature instead of a key."""
_KEYED: Final[tuple[ModuleType, ...]] = (
    mutations,
    changes,
    approvals,
    sessions,
    keys,
    records,
    claims,
    left,
    drift,
    resources,
    signals,
    stops,
    budgets,
    plans,
    notices,
    replay,
    playground,
    policies,
    verification,
)


@cache
def routes() -> tuple[BaseRoute, ...]:
    """Every API route. Any other path under `/v1` is a 404. Several gateways in one process share them."""
    # Otherwise unknown paths under `/v1` would reach the AWS door, which answers in XML.
    others = APIRouter(prefix=PREFIX)
    for path in ("", "/{rest:path}"):
        others.add_api_route(path, _not_found, methods=_METHODS, include_in_schema=False)
    routers = [*(module.unkeyed for module in _UNKEYED), *(module.router for module in _KEYED), others]
    return tuple(route for router in routers for route in router.routes)


async def _not_found(request: Request) -> JSONResponse:
    raise NotFound(f"The API has no {request.method} {request.url.path[:200]}. /v1/openapi.json lists all its routes.")
