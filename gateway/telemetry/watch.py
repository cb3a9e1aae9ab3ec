"""Counts and times the steps of the line, and makes their spans. One object for both, so that each step is observed in one place."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call, CallClass, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Outcome, Refused
from gateway.core.model.verdict import Decision, Verdict
from gateway.telemetry.spans import NoSpans, Spans, TraceSpan

if TYPE_CHECKING:
    from gateway.telemetry.figures import Figures

_NONE: Final = "none"
"""The label of what is not there."""
_NAMES: Final = {Applied: "applied", Failed: "failed", InDoubt: "in_doubt"}
_began: ContextVar[float] = ContextVar("began")
"""When the mutation of this task came to the line."""


class Watch:
    """What observes the line."""

    def __init__(self, figures: "Figures | None" = None, spans: Spans | None = None) -> None:
        self._figures = figures
        self.spans: Spans = spans or NoSpans()

    def admitted(self, door: str, call_class: CallClass) -> None:
        """Count a request that is passed on. A mutation is counted at its end instead."""
        if self._figures is not None and (not call_class.changes_state or call_class is CallClass.DATA):
            self._figures.requests.labels(door, call_class.value, "admitted").inc()

    def turned_away(self, inbound: Inbound, code: str) -> None:
        """Count a request that is refused before it is a mutation."""
        if self._figures is not None:
            self._figures.requests.labels(door_of(inbound), "unknown", code).inc()

    @contextmanager
    def mutation(self) -> Iterator[TraceSpan]:
        """The time in which a mutation is decided, recorded and sent."""
        _began.set(time.perf_counter())
        with self.spans.span("sentinel.mutation") as span:
            yield span

    def ended(self, door: str, call_class: CallClass, outcome: str) -> None:
        """Count a mutation that has ended."""
        if self._figures is not None and call_class is not CallClass.DATA:
            self._figures.requests.labels(door, call_class.value, outcome).inc()

    def decided(self) -> None:
        """Time the decision, which is made and not recorded yet."""
        if self._figures is not None and (began := _began.get(None)) is not None:
            self._figures.decision_seconds.observe(time.perf_counter() - began)

    def recorded(self, mutation: Mutation, decision: Decision) -> None:
        """Count a decision that is recorded."""
        if self._figures is not None:
            intent = mutation.motive.intent.value if mutation.motive else _NONE
            self._figures.decisions.labels(
                decision.verdict.value, decision.mode.value, mutation.caller.kind.value, intent
            ).inc()
            # Once for each rule, as a decision is counted once. Only authors of policies name rules, so there are few.
            for rule, verdict in {(each.rule, each.verdict.value) for each in decision.warned}:
                self._figures.warned.labels(rule, verdict, mutation.caller.kind.value).inc()

    @contextmanager
    def commit(self, name: str, mutation: Mutation) -> Iterator[None]:
        """The time in which the ledger takes a decision or an outcome."""
        with self.spans.span(name, {"sentinel.mutation.id": mutation.id}), self._timed("commit_seconds"):
            yield

    @contextmanager
    def upstream(self, call: Call) -> Iterator[TraceSpan]:
        """The time in which AWS answers."""
        attributes = {
            "rpc.system": "aws-api",
            "rpc.system.name": "aws-api",
            "rpc.service": call.service,
            "rpc.method": call.operation,
            "cloud.region": call.region,
        }
        with (
            self.spans.span(f"{call.service}.{call.operation}", attributes, client=True) as span,
            self._timed("upstream_seconds", call.service),
        ):
            yield span

    @contextmanager
    def _timed(self, name: str, *labels: str) -> Iterator[None]:
        if self._figures is None:
            yield
            return
        histogram = getattr(self._figures, name)
        with (histogram.labels(*labels) if labels else histogram).time():
            yield


def describe(span: TraceSpan, mutation: Mutation, decision: Decision | None) -> None:
    """Say on a span which mutation it is, why it was wanted and what was decided. No value and no actor is on it."""
    motive = mutation.motive
    members: dict[str, Any] = {"sentinel.mutation.id": mutation.id, "sentinel.class": mutation.call_class.value}
    if motive is not None:
        members |= {"sentinel.intent": motive.intent.value, "sentinel.motivation": motive.motivation.value}
    if decision is not None:
        members |= {"sentinel.verdict": decision.verdict.value, "sentinel.mode": decision.mode.value}
        if decision.objections:
            members["sentinel.rule"] = decision.objections[0].rule
    for name, value in members.items():
        span.set_attribute(name, value)


def outcome_name(outcome: Outcome | None, *, repeated: bool) -> str:
    """What came of a mutation, as a label."""
    if outcome is None:
        return "dry_run"
    if isinstance(outcome, Refused):
        return "held" if outcome.decision.verdict is Verdict.HOLD else "denied"
    return "repeated" if repeated else _NAMES[type(outcome)]


def door_of(inbound: Inbound) -> str:
    """The door that a request came to, as far as its head tells."""
    scheme = (inbound.header("authorization") or "").lstrip().upper()
    if scheme.startswith("AWS") or "X-Amz-Signature=" in inbound.target:
        return "aws"
    named = {"/v1": "api", "/mcp": "mcp", "/console": "console", "/metrics": "metrics"}
    path = inbound.path
    return next((door for root, door in named.items() if path == root or path.startswith(f"{root}/")), "aws")
