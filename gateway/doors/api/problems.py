"""The one table from errors to HTTP statuses, and RFC 9457 problem documents. Whatever is not in the table reveals nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from gateway import errors
from gateway.doors.request_limits import HeadersTooLarge, TargetTooLong
from gateway.model.json import Json

log = structlog.get_logger()

_CODES = {404: "not_found", 405: "method_not_allowed"}

STATUS: dict[type[errors.SentinelError], int] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.BodyTooLarge: 413,
    TargetTooLong: 414,
    HeadersTooLarge: 431,
    errors.Malformed: 400,
    errors.ClaimTaken: 409,
    errors.ApprovalSpent: 409,
    errors.AttemptInFlight: 409,
    errors.AttemptMismatch: 409,
    errors.LedgerUnavailable: 503,
    errors.PolicyUnavailable: 503,
    errors.NotSendable: 502,
}
"""Statuses by error; a subclass without an entry takes its nearest parent's. 5xx only where nothing was sent."""

RETRY_SAFE = {errors.ClaimTaken, errors.LedgerUnavailable, errors.PolicyUnavailable}
"""Errors after which the same request may simply be sent again."""


def status_of(error: errors.SentinelError) -> int:
    """The HTTP status of an error; 500 where the table has none."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(status: int, code: str, detail: str, **members: Json) -> JSONResponse:
    """A problem document (RFC 9457): `type`, `title`, `status`, `detail`, and our `code`."""
    body = {
        "type": f"urn:sentinel:{code}",
        "title": code.replace("_", " "),
        "status": status,
        "code": code,
        "detail": detail,
    }
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}  # noqa: PLR2004  RFC 9110, 11.6.1
    return JSONResponse({**body, **members}, status_code=status, headers=headers, media_type="application/problem+json")


def handle_errors(app: FastAPI) -> None:
    """Have the application answer every error with a problem document."""
    app.add_exception_handler(errors.SentinelError, on_error)
    app.add_exception_handler(RequestValidationError, on_mistakes)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_own_error)


async def on_error(_request: Request, error: Exception) -> JSONResponse:
    """FastAPI's handler for every `SentinelError`."""
    if not isinstance(error, errors.SentinelError):
        raise error
    return problem(status_of(error), error.code, str(error), retry_safe=type(error) in RETRY_SAFE)


async def on_mistakes(_request: Request, error: Exception) -> JSONResponse:
    """FastAPI's handler for path and query parameters that do not fit."""
    if not isinstance(error, RequestValidationError):
        raise error
    return problem(400, "malformed", f"The request cannot be read: {mistakes(error.errors())}.", retry_safe=False)


async def on_http_error(_request: Request, error: Exception) -> JSONResponse:
    """FastAPI's handler for errors of Starlette's own, such as a method that a route does not take."""
    if not isinstance(error, HTTPException):
        raise error
    code = _CODES.get(error.status_code, "http_error")
    reply = problem(error.status_code, code, f"{error.detail}.", retry_safe=False)
    reply.headers.update(error.headers or {})
    return reply


async def on_own_error(request: Request, error: Exception) -> JSONResponse:
    """FastAPI's handler for errors nobody foresaw: the log has them, the caller learns nothing from them.

    A proposal that breaks is answered by its own route, so nothing was sent to AWS where this answers.
    """
    log.error("api_broke", method=request.method, path=request.url.path[:200], error=type(error).__name__)
    return problem(500, "internal", "Sentinel met an error of its own; its log says more. Nothing was sent to AWS.")


def mistakes(found: Sequence[Mapping[str, Any]]) -> str:
    """Pydantic's errors in one line, each with the place it is at; never the value that was sent, which may be a secret."""
    return "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found)
