"""What is counted where, and what a span says of a mutation."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import CallClass
from gateway.core.model.outcome import Applied, Failed, InDoubt, Outcome, Refused, Reply
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.telemetry.figures import Figures
from gateway.telemetry.watch import Watch, describe, door_of, outcome_name
from tests.kit import nouns

MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET)
MUTATION = nouns.mutation(id="mut_1", motive=MOTIVE)
DENIED = Decision(findings=(Finding(check="c", verdict=Verdict.DENY, rule="SEN-1", reason="No."),))
HELD = Decision(findings=(Finding(check="c", verdict=Verdict.HOLD, rule="SEN-2", reason="Wait."),))
REPLY = Reply(status=200, headers=(), body=b"")


def _inbound(path: str, *headers: tuple[str, str]) -> Inbound:
    async def body() -> bytes:
        return b""

    return Inbound(method="GET", target=path, headers=headers, read_body=body, received_at=datetime.now(UTC))


def test_a_mutation_is_counted_once_and_a_read_when_it_is_admitted() -> None:
    figures = Figures()
    watch = Watch(figures)
    for call_class in (CallClass.READ, CallClass.MUTATION, CallClass.DATA):
        watch.admitted("aws", call_class)
        watch.ended("aws", call_class, "applied")
    text = figures.text("")[0].decode()
    counted = [line for line in text.splitlines() if line.startswith("sentinel_requests_total{")]
    assert sorted(counted) == [
        'sentinel_requests_total{class="data",door="aws",outcome="admitted"} 1.0',
        'sentinel_requests_total{class="mutation",door="aws",outcome="applied"} 1.0',
        'sentinel_requests_total{class="read",door="aws",outcome="admitted"} 1.0',
        'sentinel_requests_total{class="read",door="aws",outcome="applied"} 1.0',
    ]


def test_without_figures_nothing_is_counted() -> None:
    watch = Watch()
    watch.admitted("aws", CallClass.READ)
    watch.turned_away(_inbound("/"), "malformed")
    watch.decided()
    watch.recorded(MUTATION, DENIED)
    with watch.mutation(), watch.commit("a", MUTATION), watch.upstream(MUTATION.call):
        watch.ended("aws", CallClass.MUTATION, "applied")


class _Span:
    def __init__(self) -> None:
        self.members: dict[str, Any] = {}

    def set_attribute(self, key: str, value: Any) -> None:
        self.members[key] = value


def test_a_span_says_why_and_what_and_not_who() -> None:
    span = _Span()
    describe(span, MUTATION, DENIED)
    assert span.members == {
        "sentinel.mutation.id": "mut_1",
        "sentinel.class": "mutation",
        "sentinel.intent": "cost",
        "sentinel.motivation": "budget",
        "sentinel.verdict": "deny",
        "sentinel.mode": "enforce",
        "sentinel.rule": "SEN-1",
    }


@pytest.mark.parametrize(
    ("outcome", "repeated", "name"),
    [
        (None, False, "dry_run"),
        (Applied(reply=REPLY, request_id="r"), False, "applied"),
        (Applied(reply=REPLY, request_id="r"), True, "repeated"),
        (Failed(code="X", message="no", reply=REPLY), False, "failed"),
        (InDoubt(reason="?"), False, "in_doubt"),
        (Refused(decision=DENIED), False, "denied"),
        (Refused(decision=HELD), False, "held"),
    ],
)
def test_an_outcome_has_a_name(outcome: Outcome | None, repeated: bool, name: str) -> None:
    assert outcome_name(outcome, repeated=repeated) == name


@pytest.mark.parametrize(
    ("inbound", "door"),
    [
        (_inbound("/v1/claims"), "api"),
        (_inbound("/v1"), "api"),
        (_inbound("/v1/createjobqueue", ("authorization", "AWS4-HMAC-SHA256 x")), "aws"),
        (_inbound("/v1/x?X-Amz-Signature=1"), "aws"),
        (_inbound("/mcp"), "mcp"),
        (_inbound("/console/feed"), "console"),
        (_inbound("/metrics"), "metrics"),
        (_inbound("/bucket/key"), "aws"),
        (_inbound("/v10"), "aws"),
    ],
)
def test_a_request_has_a_door(inbound: Inbound, door: str) -> None:
    assert door_of(inbound) == door
