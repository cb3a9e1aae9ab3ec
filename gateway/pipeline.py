"""The straight line that every change follows. Read this file first.

Inbound → Caller → Call → Mutation (effects known) → Facts → Findings → Decision
        → record DECIDED (and claim, one transaction) → apply once → record SETTLED → reply
"""

import asyncio
from dataclasses import dataclass, replace

import structlog

from gateway.checks.chain import CheckChain
from gateway.effects.resolver import EffectResolver
from gateway.errors import (
    ApprovalSpent,
    AttemptInFlight,
    AttemptMismatch,
    CallTooLarge,
    ClaimTaken,
    Malformed,
    NotAllowed,
    NotAuthenticated,
    NotSendable,
    SentinelError,
)
from gateway.model.caller import ActorKind, Caller
from gateway.model.facts import Facts
from gateway.model.ids import new_id
from gateway.model.inbound import Inbound
from gateway.model.mutation import Call, CallClass, Mutation
from gateway.model.outcome import InDoubt, Outcome, Refused, Sent
from gateway.model.verdict import Decision, Finding, Verdict
from gateway.ports import Authenticator, Clock, Cloud, Ledger, Prepared, Request, RequestDecoder
from gateway.survey import Survey, nothing_known

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationResult:
    """The end of the line for one mutation: what was decided and what came of it."""

    mutation: Mutation
    decision: Decision | None
    """None where an earlier attempt with the same idempotency key is answered again."""
    outcome: Outcome | None
    """None for a dry run: nothing was recorded and nothing was sent."""


class Pipeline:
    """The line. A door calls `admit`, streams reads itself, and gives every mutation to `carry`."""

    def __init__(
        self,
        *,
        resolver: EffectResolver,
        survey: Survey,
        checks: CheckChain,
        ledger: Ledger,
        cloud: Cloud,
        clock: Clock,
    ) -> None:
        self._resolver = resolver
        self._survey = survey
        self._checks = checks
        self._ledger = ledger
        self._cloud = cloud
        self._clock = clock
        self._running: set[asyncio.Future[MutationResult]] = set()

    async def admit(
        self, inbound: Inbound, authenticator: Authenticator, dialect: RequestDecoder
    ) -> tuple[Caller, Request]:
        """Know the caller first, then what is asked. Whoever is turned away is recorded.

        Raises `errors.NotAuthenticated`, `errors.Malformed`, `errors.NotAllowed`.
        """
        caller = await self.authenticate(inbound, authenticator)
        try:
            request = await dialect.read(inbound, caller)
            _refuse_sensitive_reads(caller, request)
        except (Malformed, NotAllowed) as error:
            await self.turn_away(inbound, error, caller)
            raise
        return caller, request

    async def authenticate(self, inbound: Inbound, authenticator: Authenticator) -> Caller:
        """Who asks. Strangers are recorded. Raises `errors.NotAuthenticated`, `errors.Malformed`."""
        try:
            return await authenticator.authenticate(inbound)
        except (NotAuthenticated, Malformed) as error:
            await self.turn_away(inbound, error)
            raise

    async def turn_away(self, inbound: Inbound, error: SentinelError, caller: Caller | None = None) -> None:
        """Record that a request went no further, and why. Raises `errors.LedgerUnavailable`."""
        named = error.key_id if isinstance(error, NotAuthenticated) else ""
        await self._ledger.record_refusal(
            at=inbound.received_at,
            reason=str(error),
            code=error.code,
            peer=inbound.peer,
            about=f"{inbound.method} {inbound.path[:200]}",
            actor=caller.actor if caller else "",
            key_id=caller.key_id if caller else named,
        )

    async def execute(self, caller: Caller, request: Request) -> MutationResult:
        """Decide, record, apply once, record.

        Raises an `errors.SentinelError` only where nothing was sent; whatever happened after that is the outcome.
        """
        mutation = await self._mutation(caller, request)
        if (earlier := await self._earlier(mutation)) is not None:
            return earlier
        if request.dry_run:
            mutation, _, decision = await self._decide(mutation)
            return MutationResult(mutation=mutation, decision=decision, outcome=None)
        # A caller who hangs up must not leave the ledger half-written, so the rest runs to its end whoever waits for it. The loop holds
        # tasks by weak references only, so we hold it.
        rest = asyncio.ensure_future(self._decide_and_apply(mutation))
        self._running.add(rest)
        rest.add_done_callback(self._running.discard)
        return await asyncio.shield(rest)

    async def _decide_and_apply(self, mutation: Mutation) -> MutationResult:
        try:
            return await self._execute(mutation)
        except (ClaimTaken, ApprovalSpent, CallTooLarge) as lost:
            # A race that was lost stored nothing of the decision, and an investigator must see that it was asked.
            await self._refused(mutation.caller, mutation.call, lost)
            raise

    async def _refused(self, caller: Caller, call: Call, error: SentinelError) -> None:
        """Record that a known caller's call was refused before there was a decision."""
        await self._ledger.record_refusal(
            at=self._clock.now(),
            reason=str(error),
            code=error.code,
            peer="",
            key_id=caller.key_id,
            about=f"{call.service}:{call.operation}",
            actor=caller.actor,
        )

    async def _execute(self, mutation: Mutation) -> MutationResult:
        try:
            mutation, decision, prepared = await self._record(mutation)
        except ClaimTaken:
            # Somebody took a claim between our look and our commit: perhaps this very attempt, sent twice at once. Look once more; a
            # second loss is a denial for the caller to retry.
            if (earlier := await self._earlier(mutation)) is not None:
                return earlier
            mutation, decision, prepared = await self._record(mutation)
        if prepared is None:
            return MutationResult(mutation=mutation, decision=decision, outcome=Refused(decision=decision))
        # From here on the intent is durable. If the process dies before SETTLED, the next start settles it as in doubt.
        outcome: Sent = await self._cloud.send(prepared)
        try:
            await self._ledger.record_outcome(mutation, outcome, self._clock.now())
        except Exception:
            log.exception("settled_not_recorded", mutation=mutation.id)
            outcome = InDoubt(
                reason="AWS answered, but the ledger could not record the answer; the next start reads it as in doubt."
            )
        return MutationResult(mutation=mutation, decision=decision, outcome=outcome)

    async def _record(self, mutation: Mutation) -> tuple[Mutation, Decision, Prepared | None]:
        """Decide, sign what is to be sent, and make both durable. The request is signed before the commit and never again,
        so a process that was paused too long sends something AWS refuses as expired.
        """
        mutation, facts, decision = await self._decide(mutation)
        prepared: Prepared | None = None
        if decision.carried_out:
            try:
                prepared = await self._cloud.prepare(mutation.call, mutation.id)
            except NotSendable as error:
                unsendable = Finding(check="cloud", verdict=Verdict.DENY, rule="never.unsendable", reason=str(error))
                decision = replace(decision, findings=(*decision.findings, unsendable))
        await self._ledger.record_decision(mutation, facts, decision)
        return mutation, decision, prepared

    async def _decide(self, mutation: Mutation) -> tuple[Mutation, Facts, Decision]:
        """Gather the facts, run the checks; the mutation as the facts show it. Facts that cannot be gathered deny."""
        try:
            mutation, facts = await self._surveyed(mutation)
        except CallTooLarge:
            raise
        except Exception:
            log.exception("survey_broke", mutation=mutation.id)
            broken = Finding(
                check="survey",
                verdict=Verdict.DENY,
                rule="never.survey",
                reason="Sentinel could not gather the facts it must judge by, so it refused; nothing was sent. Try again.",
            )
            return mutation, nothing_known(self._clock.now()), Decision(findings=(broken,))
        return mutation, facts, await self._checks.decide(mutation, facts)

    async def _surveyed(self, mutation: Mutation) -> tuple[Mutation, Facts]:
        """The facts, and the mutation in their light. What a call adds to, takes from or drops by leaving it out depends on what is
        there, and the ledger knows what was applied since the state was written.
        """
        facts = await self._survey.of(mutation)
        known = {subject.effect.address: subject.attributes_before for subject in facts.subjects if subject.exists}
        effects = self._resolver.effects(mutation.call, known) if known else mutation.effects
        if effects == mutation.effects:
            return mutation, facts
        mutation = replace(mutation, effects=effects)
        return mutation, await self._survey.of(mutation)

    async def _earlier(self, mutation: Mutation) -> MutationResult | None:
        """What came of an earlier attempt with the same idempotency key."""
        if not mutation.idempotency_key:
            return None
        attempt = await self._ledger.attempt(mutation.caller.actor, mutation.idempotency_key)
        if attempt is None:
            return None
        if attempt.call_digest != mutation.call.digest:
            message = f"This idempotency key belongs to another call (mutation {attempt.mutation_id}). Nothing was sent; use a new key."
            raise AttemptMismatch(message)
        if attempt.outcome is None:
            message = f"The same attempt (mutation {attempt.mutation_id}) is being carried out right now. Nothing was sent again; ask for its outcome."
            raise AttemptInFlight(message)
        return MutationResult(
            mutation=replace(mutation, id=attempt.mutation_id), decision=None, outcome=attempt.outcome
        )

    async def _mutation(self, caller: Caller, request: Request) -> Mutation:
        """What is asked, with its effects. Raises `errors.CallTooLarge`."""
        try:
            effects = self._resolver.effects(request.call)
        except CallTooLarge as error:
            await self._refused(caller, request.call, error)
            raise
        return Mutation(
            id=new_id("mut"),
            caller=caller,
            call=request.call,
            call_class=request.call_class,
            motive=request.motive or caller.motive,
            effects=effects,
            idempotency_key=request.idempotency_key,
        )


def _refuse_sensitive_reads(caller: Caller, request: Request) -> None:
    """An agent may not read secret values through the gate: what it reads it may repeat. Nor may it use keys: what they open or sign
    would be by the gate's own rights.
    """
    if request.call_class is CallClass.CRYPTO and caller.kind is ActorKind.AGENT:
        message = f"{request.call.service}:{request.call.operation} uses a cryptographic key, and agents may not do that through Sentinel, whose rights are wider than theirs. Nothing was sent."
        raise NotAllowed(message)
    if request.call_class is CallClass.SECRET and caller.kind is ActorKind.AGENT:
        message = f"{request.call.service}:{request.call.operation} returns a secret value, and agents may not read those through Sentinel. Nothing was sent."
        raise NotAllowed(message)
