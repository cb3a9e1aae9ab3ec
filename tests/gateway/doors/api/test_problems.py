"""Errors as RFC 9457 problem documents: one table of statuses, and an unexpected error reveals nothing."""

import json
from collections.abc import Iterator
from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI, Query
from starlette.exceptions import HTTPException
from structlog.testing import capture_logs

from gateway.core import errors
from gateway.doors.api.problems import RETRY_SAFE, handle_errors, problem, status_of, validation_messages
from gateway.doors.request_limits import HeadersTooLarge, TargetTooLong


def test_a_problem_is_a_problem_document() -> None:
    reply = problem(403, "not_allowed", "No.", retry_safe=False)
    assert reply.headers["content-type"] == "application/problem+json"
    assert json.loads(bytes(reply.body)) == {
        "type": "urn:sentinel:not_allowed",
        "title": "not allowed",
        "status": 403,
        "code": "not_allowed",
        "detail": "No.",
        "retry_safe": False,
    }


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.NotAuthenticated("Who?"), 401),
        (errors.NotAllowed("No."), 403),
        (errors.NotFound("None."), 404),
        (errors.Malformed("Odd."), 400),
        (errors.UnknownOperation("None such."), 400),
        (errors.BodyTooLarge(1), 413),
        (TargetTooLong(), 414),
        (HeadersTooLarge(), 431),
        (errors.AttemptInFlight("Twice."), 409),
        (errors.SignatureSpent("Spent."), 409),
        (errors.LedgerUnavailable("Down."), 503),
        (errors.Overloaded("Full."), 503),
        (errors.LedgerBroken("Torn."), 500),
        (errors.SentinelError("Else."), 500),
    ],
)
def test_an_error_has_its_status_or_its_parents(error: errors.SentinelError, status: int) -> None:
    assert status_of(error) == status


def test_what_may_be_sent_again_never_follows_a_send() -> None:
    budgets = {errors.BudgetSpent, errors.TooManyHeld, errors.BreakerOpen}
    away = {errors.LedgerUnavailable, errors.Overloaded, errors.PolicyUnavailable}
    assert budgets | away | {errors.ClaimTaken} == RETRY_SAFE


def test_only_401_asks_for_a_key() -> None:
    assert problem(401, "x", "y").headers["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in problem(403, "x", "y").headers


def test_mistakes_are_named_by_place_and_never_quoted() -> None:
    found = [{"loc": ("body", "motive", 0), "msg": "Input should be a word", "input": "hunter2"}]
    assert validation_messages(found) == "body.motive.0: Input should be a word"


@pytest.fixture
def app() -> Iterator[FastAPI]:
    app = FastAPI()
    handle_errors(app)

    @app.get("/error/{name}")
    async def fail(name: str, size: Annotated[int, Query(ge=1)] = 1) -> None:
        match name:
            case "ours":
                raise errors.ClaimTaken("Taken.")
            case "http":
                raise HTTPException(418, "I am a teapot", {"x-tea": "green"})
            case _:
                raise RuntimeError(f"hunter2 {size}")

    with capture_logs():
        yield app


async def _get(app: FastAPI, path: str, method: str = "GET") -> httpx.Response:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gate") as client:
        return await client.request(method, path)


@pytest.mark.parametrize(
    ("path", "method", "status", "code"),
    [
        ("/error/ours", "GET", 409, "claim_taken"),
        ("/error/ours?size=0", "GET", 400, "malformed"),
        ("/error/http", "GET", 418, "http_error"),
        ("/error/ours", "DELETE", 405, "method_not_allowed"),
        ("/nothing", "GET", 404, "not_found"),
        ("/error/own", "GET", 500, "internal"),
    ],
)
async def test_every_error_is_a_problem_document(app: FastAPI, path: str, method: str, status: int, code: str) -> None:
    reply = await _get(app, path, method)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in reply.text


async def test_headers_of_an_http_error_are_kept(app: FastAPI) -> None:
    assert (await _get(app, "/error/http")).headers["x-tea"] == "green"
    assert (await _get(app, "/error/ours", "DELETE")).headers["allow"] == "GET"
