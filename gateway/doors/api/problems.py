"""The table that maps errors to HTTP statuses, and RFC 9457 problem documents. An error outside the table reveals nothing."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from gateway.core import errors
from gateway.core.model.json import Json
from gateway.doors.request_limits import HeadersTooLarge, TargetTooLong

log = structlog.get_logger()

_CODES = {404: "not_found", 405: "method_not_allowed"}

STATUS: dict[type[errors.SentinelError], int] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.Stopped: 403,
    errors.NotFound: 404,
    errors.BodyTooLarge: 413,
    TargetTooLong: 414,
    HeadersTooLarge: 431,
    errors.Malformed: 400,
    errors.ClaimTaken: 409,
    errors.ApprovalSpent: 409,
    errors.AttemptInFlight: 409,
    errors.AttemptMismatch: 409,
    errors.SignatureSpent: 409,
    errors.TryLater: 429,
    errors.Overloaded: 503,
    errors.LedgerUnavailable: 503,
    errors.PolicyUnavailable: 503,
    errors.NotSendable: 502,
    errors.UpstreamUnavailable: 503,
}
"""HTTP status by error class; a subclass without an entry has its nearest parent's. 5xx only if nothing was sent to AWS."""

MAX_ERRORS = 10
"""How many mistakes of one request are named in its answer."""

RETRY_SAFE = {
    errors.BreakerOpen,
    errors.BudgetSpent,
    errors.ClaimTaken,
    errors.LedgerUnavailable,
    errors.Overloaded,
    errors.PolicyUnavailable,
    errors.TooManyHeld,
}
"""Errors after which the client can safely send the same request again."""


ANSWER: Mapping[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document (RFC 9457). `code` is for programs, `detail` is a sentence: what happened and what to do.",
        "content": {
            "application/problem+json": {
                "schema": {
                    "type": "object",
                    "required": ["type", "title", "status", "code", "detail"],
                    "properties": {
                        "type": {"type": "string", "examples": ["urn:sentinel:refused"]},
                        "title": {"type": "string"},
                        "status": {"type": "integer", "enum": sorted({*STATUS.values(), 405, 422, 500})},
                        "code": {"type": "string", "examples": ["refused", "held", "not_found", "outcome_unknown"]},
                        "detail": {"type": "string"},
                        "retry_safe": {"type": "boolean", "description": "Whether the same request may be sent again."},
                    },
                }
            }
        },
    }
}
"""What every route may answer instead of its own answer, for the OpenAPI description."""


def status_of(error: errors.SentinelError) -> int:
    """The HTTP status of an error; 500 if its class is not in the table."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem(status: int, code: str, detail: str, **members: Json) -> JSONResponse:
    """A problem document (RFC 9457): `type`, `title`, `status`, `detail`, our own `code`, and the given `members`."""
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
    """Register the handlers that answer every error with a problem document."""
    app.add_exception_handler(errors.SentinelError, on_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_unexpected_error)


async def on_error(_request: Request, error: Exception) -> JSONResponse:
    """Handle a `SentinelError`."""
    if not isinstance(error, errors.SentinelError):
        raise error
    reply = problem(status_of(error), error.code, str(error), retry_safe=type(error) in RETRY_SAFE)
    if isinstance(error, errors.Overloaded | errors.TryLater):
        reply.headers["retry-after"] = str(error.retry_after)
    return reply


async def on_validation_error(_request: Request, error: Exception) -> JSONResponse:
    """Handle invalid path and query parameters."""
    if not isinstance(error, RequestValidationError):
        raise error
    return problem(
        400, "malformed", f"The request cannot be read: {validation_messages(error.errors())}.", retry_safe=False
    )


async def on_http_error(_request: Request, error: Exception) -> JSONResponse:
    """Handle Starlette's own errors, such as a method that a route does not support."""
    if not isinstance(error, HTTPException):
        raise error
    code = _CODES.get(error.status_code, "http_error")
    reply = problem(error.status_code, code, f"{error.detail}.", retry_safe=False)
    reply.headers.update(error.headers or {})
    return reply


async def on_unexpected_error(request: Request, error: Exception) -> JSONResponse:
    """Handle an unexpected error: log its type, and tell the caller nothing about it.

    The route for proposals handles its own errors, so nothing was sent to AWS when this handler runs.
    """
    log.error("api_broke", method=request.method, path=request.url.path[:200], error=type(error).__name__)
    return problem(500, "internal", "Sentinel had an internal error; its log says more. Nothing was sent to AWS.")


def validation_messages(found: Sequence[Mapping[str, Any]], model: type[BaseModel] | None = None) -> str:
    """Pydantic's first errors in one line, each with its location; never with the value, which may be a secret.

    Of an unknown member it names those that the `model` has there, and the one that was meant.
    """
    return "; ".join(
        f"{'.'.join(str(part)[:100] for part in one['loc'])}: {_message(one, model)[:400]}"
        for one in found[:MAX_ERRORS]
    )


def _message(one: Mapping[str, Any], model: type[BaseModel] | None) -> str:
    *above, name = one["loc"] or ("",)
    known = _members(model, above) if model is not None and one["type"] == "extra_forbidden" else ()
    if not known:
        return str(one["msg"])[:200]
    meant = get_close_matches(str(name)[:100], known, 1)
    guess = f" (did you mean {meant[0]}?)" if meant else ""
    return f"no such member{guess}; the members are {', '.join(known)}"


def _members(model: type[BaseModel], place: Sequence[str | int]) -> Sequence[str]:
    """The names of the members at a place of a document that the model describes; none where another type is."""
    kinds: list[Any] = [model]
    for step in place:
        inner: list[Any] = []
        for kind in kinds:
            if isinstance(step, int):
                inner += get_args(kind)
            elif step in getattr(kind, "model_fields", {}):
                inner.append(kind.model_fields[step].annotation)
        kinds = [each for kind in inner for each in _alternatives(kind)]
    fields = [list(kind.model_fields) for kind in kinds if hasattr(kind, "model_fields")]
    return fields[0] if fields else []


def _alternatives(kind: Any) -> Sequence[Any]:
    """The types of a union, without what annotates them; any other type as it is."""
    if get_origin(kind) is Annotated:
        return _alternatives(get_args(kind)[0])
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
