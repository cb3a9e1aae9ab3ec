"""Routers for the modules of the API's resources. They are made with the path and the answers of all routes, so FastAPI derives each route only once."""

from typing import Final

from fastapi import APIRouter, Security
from fastapi.security import HTTPBearer

from gateway.doors.api.problems import ANSWER

PREFIX: Final = "/v1"
_BEARER: Final = HTTPBearer(auto_error=False, description="`<key id>.<secret>` of a key that this gateway issued.")
"""For the OpenAPI description only; `ports.authenticated` authenticates."""


def keyed_router() -> APIRouter:
    """For routes whose requests carry a key."""
    return APIRouter(prefix=PREFIX, responses=dict(ANSWER), dependencies=[Security(_BEARER)])


def unkeyed_router() -> APIRouter:
    """For routes whose requests carry a signature instead of a key."""
    return APIRouter(prefix=PREFIX, responses=dict(ANSWER))
