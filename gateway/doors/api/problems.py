"""The one table from errors to HTTP statuses, and RFC 9457 problem documents. Whatever is not in the table reveals nothing."""

from fastapi import Request
from fastapi.responses import JSONResponse

from gateway import errors
from gateway.model.json import Json

STATUS: dict[type[errors.SentinelError], int] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.BodyTooLarge: 413,
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


async def on_error(_request: Request, error: Exception) -> JSONResponse:
    """FastAPI's handler for every `SentinelError`."""
    if not isinstance(error, errors.SentinelError):
        raise error
    return problem(status_of(error), error.code, str(error), retry_safe=type(error) in RETRY_SAFE)
