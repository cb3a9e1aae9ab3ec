"""The line with its steps counted and timed. It does what `Pipeline` does; where nothing is observed, `Pipeline` itself runs."""

from typing import Any

from gateway.core.errors import SentinelError
from gateway.core.model.caller import Caller
from gateway.core.model.facts import Facts
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Mutation
from gateway.core.model.outcome import Applied, Failed, Sent
from gateway.core.model.verdict import Decision
from gateway.core.ports import Authenticator, Prepared, Request, RequestDecoder
from gateway.line.pipeline import MutationResult, Pipeline
from gateway.telemetry.watch import Watch, describe, outcome_name


class ObservedPipeline(Pipeline):
    """The line, with what it admits, turns away and ends counted, and a span for each mutation."""

    def __init__(self, watch: Watch, **parts: Any) -> None:
        super().__init__(**parts)
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

    async def _commit(self, mutation: Mutation, facts: Facts, decision: Decision) -> None:
        self._watch.decided()
        with self._watch.commit("sentinel.record_decision", mutation):
            await super()._commit(mutation, facts, decision)
        self._watch.recorded(mutation, decision)

    async def _send(self, mutation: Mutation, prepared: Prepared) -> Sent:
        with self._watch.upstream(mutation.call) as span:
            outcome = await super()._send(mutation, prepared)
            if isinstance(outcome, Applied | Failed) and outcome.request_id:
                span.set_attribute("aws.request_id", outcome.request_id)
            if not isinstance(outcome, Applied):
                span.set_attribute("error.type", outcome.code if isinstance(outcome, Failed) else "in_doubt")
        return outcome

    async def _record_outcome(self, mutation: Mutation, sent: Sent) -> None:
        with self._watch.commit("sentinel.record_outcome", mutation):
            await super()._record_outcome(mutation, sent)
