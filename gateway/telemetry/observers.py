"""The line, its ledger and its cloud, observed. Each does what the one inside does; where nothing is observed, none of these is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gateway.core.errors import SentinelError
from gateway.core.model.approval import Answered
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.inbound import Inbound, Refusal, Upload
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Mutation
from gateway.core.model.outcome import Applied, Failed, Sent
from gateway.core.model.verdict import Decision
from gateway.core.ports import Attempt, Authenticator, Cloud, Ledger, LedgerView, Prepared, Request, RequestDecoder
from gateway.line.pipeline import MutationResult, Pipeline
from gateway.telemetry.watch import Watch, describe, outcome_name


class ObservedPipeline(Pipeline):
    """The line, with what it admits, turns away and ends counted, and a span for each mutation."""

    def __init__(self, watch: Watch, *, ledger: Ledger, cloud: Cloud, **parts: Any) -> None:
        super().__init__(ledger=ObservedLedger(ledger, watch), cloud=ObservedCloud(cloud, watch), **parts)
        self._watch = watch

    async def admit(
        self, inbound: Inbound, authenticator: Authenticator, decoder: RequestDecoder
    ) -> tuple[Caller, Request]:
        """See `Pipeline`."""
        self._watch.spans.incoming(inbound)
        caller, request = await super().admit(inbound, authenticator, decoder)
        self._watch.admitted(request.door.value, request.call_class)
        return caller, request

    async def turn_away(self, inbound: Inbound, error: SentinelError, caller: Caller | None = None) -> None:
        """See `Pipeline`."""
        self._watch.turned_away(inbound, error.code)
        await super().turn_away(inbound, error, caller)

    async def execute(self, caller: Caller, request: Request) -> MutationResult:
        """See `Pipeline`."""
        outcome = "error"
        try:
            with self._watch.mutation() as span:
                result = await super().execute(caller, request)
                describe(span, result.mutation, result.decision)
            outcome = outcome_name(result.outcome, repeated=result.decision is None)
        except SentinelError as error:
            outcome = error.code
            raise
        finally:
            self._watch.ended(request.door.value, request.call_class, outcome)
        return result


class ObservedLedger:
    """A ledger whose commits are timed."""

    def __init__(self, inner: Ledger, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch

    async def view(
        self, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime, flip_window: timedelta
    ) -> LedgerView:
        """See `Ledger`."""
        return await self._inner.view(
            addresses=addresses, actor=actor, call_digest=call_digest, now=now, flip_window=flip_window
        )

    async def applied_with(self, attribute: str, values: Sequence[str]) -> Mapping[str, Mapping[str, Json]]:
        """See `Ledger`."""
        return await self._inner.applied_with(attribute, values)

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """See `Ledger`."""
        return await self._inner.attempt(actor, idempotency_key)

    async def answered(self, actor: str, call_digest: str) -> Answered:
        """See `Ledger`."""
        return await self._inner.answered(actor, call_digest)

    async def record_refusal(self, refusal: Refusal) -> None:
        """See `Ledger`."""
        await self._inner.record_refusal(refusal)

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """See `Ledger`."""
        self._watch.decided()
        with self._watch.commit("sentinel.record_decision", mutation):
            claims = await self._inner.record_decision(mutation, facts, decision)
        self._watch.recorded(mutation, decision)
        return claims

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """See `Ledger`."""
        with self._watch.commit("sentinel.record_outcome", mutation):
            await self._inner.record_outcome(mutation, outcome, at)


@dataclass(frozen=True, slots=True)
class ObservedRequest:
    """A signed request, with the call that it carries."""

    call: Call
    prepared: Prepared


class ObservedCloud:
    """AWS, with its answers to mutations timed."""

    def __init__(self, inner: Cloud, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch

    async def prepare(self, call: Call, mutation_id: str, upload: Upload | None = None) -> Prepared:
        """See `Cloud`."""
        return ObservedRequest(call, await self._inner.prepare(call, mutation_id, upload))

    async def send(self, prepared: Prepared) -> Sent:
        """See `Cloud`. Takes only what `prepare` returned."""
        if not isinstance(prepared, ObservedRequest):
            raise TypeError("only a request that was prepared here can be sent")
        with self._watch.upstream(prepared.call) as span:
            outcome = await self._inner.send(prepared.prepared)
            if isinstance(outcome, Applied | Failed) and outcome.request_id:
                span.set_attribute("aws.request_id", outcome.request_id)
            if not isinstance(outcome, Applied):
                span.set_attribute("error.type", outcome.code if isinstance(outcome, Failed) else "in_doubt")
        return outcome
