"""What the API takes: unknown members are refused, durations are capped, bodies are read strictly."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration
from gateway.core.model.motive import Intent, Motivation
from gateway.doors.api.request_bodies import (
    ApproveBody,
    ExtendBody,
    MotiveBody,
    MutationBody,
    RejectBody,
    SessionBody,
    body_of,
    openapi_body,
)
from tests.kit.doubles import inbound

MOTIVE = {"intent": "cost", "motivation": "budget"}
JSON = (("content-type", "application/json; charset=utf-8"),)


def test_a_motive_body_becomes_a_motive() -> None:
    motive = MotiveBody.model_validate({**MOTIVE, "text": "t", "evidence": ["A-1"], "wanted_for": "2h"}).motive()
    assert (motive.intent, motive.motivation) == (Intent.COST, Motivation.BUDGET)
    assert (motive.evidence, motive.wanted_for) == (("A-1",), timedelta(hours=2))
    assert MotiveBody.model_validate(MOTIVE).motive().wanted_for is None


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (MotiveBody, {**MOTIVE, "intent": "fun"}),
        (MotiveBody, {**MOTIVE, "evidence": ["x"] * 11}),
        (MotiveBody, {**MOTIVE, "evidence": ["x" * 201]}),
        (MotiveBody, {**MOTIVE, "text": "x" * 1001}),
        (MutationBody, {"service": "../x", "operation": "A"}),
        (MutationBody, {"service": "sqs", "operation": "A.B"}),
        (MutationBody, {"service": "sqs", "operation": "A", "status": "approved"}),
        (MutationBody, {"service": "sqs", "operation": "A", "region": "r" * 33}),
        (MutationBody, {"service": "sqs"}),
        (RejectBody, {"reason": "x" * 1001}),
        (RejectBody, {"by": "me"}),
        (ApproveBody, {"status": "approved"}),
        (SessionBody, {"motive": MOTIVE, "kind": "human"}),
        (SessionBody, {}),
    ],
)
def test_what_does_not_fit_is_a_mistake(model: type[MotiveBody], value: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(value)


@pytest.mark.parametrize("lasts", ["30m", "12h"])
def test_a_duration_is_as_asked(lasts: str) -> None:
    assert ApproveBody(lasts=lasts).duration() == duration(lasts)
    assert SessionBody.model_validate({"motive": MOTIVE, "lasts": lasts}).duration() == duration(lasts)


def test_what_would_last_too_long_is_refused_and_not_shortened() -> None:
    assert ApproveBody(lasts="1d").duration() == timedelta(days=1)
    with pytest.raises(Malformed, match="twelve hours at most"):
        SessionBody.model_validate({"motive": MOTIVE, "lasts": "100d"}).duration()
    with pytest.raises(Malformed, match="a day at most"):
        ApproveBody(lasts="25h").duration()


@pytest.mark.parametrize("name", ["wanted_for", "lasts"])
def test_for_how_long_a_change_is_wanted_has_one_name_and_its_old_one(name: str) -> None:
    assert ExtendBody.model_validate({name: "2h"}).duration() == timedelta(hours=2)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"motive": MOTIVE, "last": "1h"}, "last: no such member (did you mean lasts?); the members are motive, lasts"),
        (
            {"motive": {**MOTIVE, "for": "1h", "wanted-for": "1h"}},
            "motive.wanted-for: no such member (did you mean wanted_for?); the members are intent, motivation, text, evidence, wanted_for",
        ),
    ],
)
async def test_an_unknown_member_s_error_names_those_that_there_are(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Malformed) as refused:
        await body_of(inbound(headers=JSON, body=json.dumps(given).encode()), SessionBody)
    assert says in str(refused.value)


async def test_a_body_is_read() -> None:
    body = await body_of(inbound(headers=JSON, body=b'{"reason": "no"}'), RejectBody)
    assert body == RejectBody(reason="no")


async def test_an_empty_body_is_the_default_where_there_is_one() -> None:
    assert await body_of(inbound(), ApproveBody, default=ApproveBody()) == ApproveBody()
    with pytest.raises(Malformed):
        await body_of(inbound(headers=JSON), SessionBody)


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"null", b'{"reason": 1}', b'{"reason": "a", "reason": "b"}', b'{"reason": NaN}', b"\xff", b"[" * 10_000],
)  # fmt: skip
async def test_an_invalid_body_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        await body_of(inbound(headers=JSON, body=body), RejectBody)


async def test_what_a_mistake_says_names_the_body_and_not_the_value() -> None:
    with pytest.raises(Malformed, match="The proposal cannot be read") as caught:
        await body_of(inbound(headers=JSON, body=b'{"service": "HUNTER2"}'), MutationBody, what="proposal")
    assert "HUNTER2" not in str(caught.value)


def test_the_description_is_the_schema() -> None:
    description = openapi_body(RejectBody, required=False)["requestBody"]
    assert (description["required"], "reason" in str(description["content"]["application/json"]["schema"])) == (
        False,
        True,
    )
