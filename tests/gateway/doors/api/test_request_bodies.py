"""What the API takes: unknown members are refused, durations are capped, bodies are read strictly."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent, Motivation
from gateway.doors.api.request_bodies import (
    ApproveBody,
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


@pytest.mark.parametrize(
    ("lasts", "approval", "session"),
    [
        ("30m", timedelta(minutes=30), timedelta(minutes=30)),
        ("1d", timedelta(days=1), timedelta(hours=12)),
        ("90d", timedelta(days=1), timedelta(hours=12)),
    ],
)
def test_durations_are_capped(lasts: str, approval: timedelta, session: timedelta) -> None:
    assert ApproveBody(lasts=lasts).duration() == approval
    assert SessionBody.model_validate({"motive": MOTIVE, "lasts": lasts}).duration() == session


async def test_a_body_is_read() -> None:
    body = await body_of(inbound(headers=JSON, body=b'{"reason": "no"}'), RejectBody)
    assert body == RejectBody(reason="no")


async def test_an_empty_body_is_the_default_where_there_is_one() -> None:
    assert await body_of(inbound(), RejectBody, default=RejectBody()) == RejectBody()
    with pytest.raises(Malformed):
        await body_of(inbound(headers=JSON), SessionBody)


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"null", b'{"reason": 1}', b'{"reason": "a", "reason": "b"}', b'{"reason": NaN}', b"\xff", b"[" * 10_000],
)  # fmt: skip
async def test_an_invalid_body_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        await body_of(inbound(headers=JSON, body=body), RejectBody, default=RejectBody())


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
