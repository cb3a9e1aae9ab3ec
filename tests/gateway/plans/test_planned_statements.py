"""A planned database of Athena is created and dropped by the provider's own statement, and no other statement runs in its plan's session."""

from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass
from gateway.core.model.plan import PlannedAction
from gateway.plans.call_match import CallMatch
from gateway.plans.session_calls import match_of
from tests.gateway.plans.test_provider_forms import called
from tests.gateway.plans.test_row_match import change, session_call

DATABASE = "aws_athena_database"
PLACE = {"OutputLocation": "s3://results"}
CREATE = "create database `seed`;"


def run(
    statement: str,
    action: PlannedAction = PlannedAction.CREATE,
    *,
    place: Any = PLACE,
    recorded: dict[str, Json] | None = None,
    used: dict[tuple[str, str, str], int] | None = None,
    values: dict[str, Json] | None = None,
    free: frozenset[str] = frozenset(),
    **parameters: Any,
) -> CallMatch:
    """How a statement fits the plan of one database and one bucket."""
    planned: dict[str, Json] = {"name": "seed", "bucket": "results", **(values or {})}
    changes = (
        change("seed", action, DATABASE, values={} if action is PlannedAction.DELETE else planned, free=free),
        change("new", PlannedAction.CREATE, "aws_s3_bucket", values={"bucket": "made"}),
    )
    given = {"ClientRequestToken": "t", "QueryString": statement, "ResultConfiguration": place, **parameters}
    asked = session_call(changes=changes, call_class=CallClass.EXECUTE, used=used, **given)
    state = {} if recorded is None else {"seed": {"name": "seed", "bucket": "results", **recorded}}
    return match_of(called(asked, "athena", "StartQueryExecution", **state))


def test_the_provider_makes_the_planned_database_once() -> None:
    assert [use.address for use in run(CREATE).uses] == ["aws_athena_database.seed"]
    again = {("aws_athena_database.seed", "create", "athena:StartQueryExecution"): 1}
    assert run(CREATE, used=again).objection


@pytest.mark.parametrize(
    "statement",
    [
        "create database `other`;",
        "create database `seed`; drop database `shop` cascade;",
        "drop database `seed`;",
        "drop database `seed` cascade;",
        "select * from shop.customers;",
        "create database `seed` location 's3://elsewhere/';",
        "",
    ],
)
def test_a_stolen_session_runs_no_other_statement(statement: str) -> None:
    assert run(statement).objection


@pytest.mark.parametrize(
    ("place", "passes"),
    [
        (PLACE, True),
        ({"OutputLocation": "s3://elsewhere"}, False),
        ({"OutputLocation": "s3://made"}, False),
        ({**PLACE, "ExpectedBucketOwner": "210987654321"}, False),
        (None, False),
    ],
)
def test_its_result_goes_to_the_planned_bucket(place: Any, *, passes: bool) -> None:
    assert bool(run(CREATE, place=place).uses) is passes


def test_a_bucket_that_is_known_only_then_is_one_that_the_plan_makes() -> None:
    unknown: dict[str, Any] = {"values": {"bucket": None}, "free": frozenset({"bucket"})}
    assert run(CREATE, place={"OutputLocation": "s3://made"}, **unknown).uses
    assert run(CREATE, place={"OutputLocation": "s3://elsewhere"}, **unknown).objection


def test_a_statement_that_says_more_is_compared_with_nothing() -> None:
    assert run(CREATE, values={"comment": "c"}).objection
    assert run("create database `a`b`;", values={"name": "a`b"}).objection
    assert run(CREATE, WorkGroup="other").objection


@pytest.mark.parametrize(
    ("statement", "recorded", "passes"),
    [
        ("drop database `seed`;", {}, True),
        ("drop database `seed` cascade;", {}, False),
        ("drop database `seed` cascade;", {"force_destroy": True}, True),
        ("drop database `other`;", {}, False),
        ("drop database `seed`;", None, False),
    ],
)
def test_a_database_is_dropped_as_its_state_says(
    statement: str, recorded: dict[str, Json] | None, *, passes: bool
) -> None:
    assert bool(run(statement, PlannedAction.DELETE, recorded=recorded).uses) is passes


def test_an_update_of_a_database_runs_nothing() -> None:
    assert run(CREATE, PlannedAction.UPDATE, recorded={}).objection
