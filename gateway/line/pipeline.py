"""The steps that every change goes through, in order. Read this file first.

Inbound → Caller → Call → Mutation (effects known) → Facts → Findings → Decision
        → record DECIDED (and claim, one transaction) → apply once → record SETTLED → reply
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

import structlog

from gateway.core.errors import (
    ApprovalSpent,
    AttemptInFlight,
    AttemptMismatch,
    CallTooLarge,
    ClaimTaken,
    LedgerUnavailable,
    Malformed,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    NotSendable,
    PlanUsed,
    SentinelError,
    SignatureSpent,
    Stopped,
    TooManyHeld,
    TryLater,
)
from gateway.core.failpoints import Point, failpoint
from gateway.core.model.caller import UNKNOWN, ActorKind, Caller, sender_of
from gateway.core.model.facts import Facts, reach
from gateway.core.model.ids import SESSION_KEY_PREFIX, STANDING_KEY_PREFIX, new_id
from gateway.core.model.inbound import Inbound, Refusal, Upload, is_bound
from gateway.core.model.json import Json
from gateway.core.model.motive import Motive, ceiling_text
from gateway.core.model.mutation import Call, CallClass, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Attempt, Failed, InDoubt, Outcome, Refused, Sent
from gateway.core.model.time_box import TimeBox
from gateway.core.model.verdict import Decision, Finding, Verdict
from gateway.core.off_loop import apart, mutation_size, off_loop, size_of, work_for, work_for_stranger
from gateway.core.ports import (
    Authenticator,
    Clock,
    Cloud,
    Ledger,
    Prepared,
    Request,
    RequestDecoder,
    SentFor,
    TimeBoxLedger,
)
from gateway.core.texts import texts_in
from gateway.effects.generated_names import generated_names
from gateway.effects.resolver import EffectResolver, Explanation
from gateway.effects.time_box import is_time_boxed, time_box_of
from gateway.line.checks.approval import with_answer
from gateway.line.checks.chain import CheckChain
from gateway.line.checks.fairness import Admission
from gateway.line.ground_truth import GroundTruth
from gateway.line.read_budget import ReadBudget
from gateway.line.standing import Standing, WatchedUpload
from gateway.line.survey import Survey, nothing_known
from gateway.line.withheld import outcome_for_agent

log = structlog.get_logger()

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationResult:
    """What the pipeline returns for one mutation: the decision and the outcome."""

    mutation: Mutation
    decision: Decision | None
    """None if this repeats the outcome of an earlier attempt with the same idempotency key."""
    outcome: Outcome | None
    """None for a dry run, which records and sends nothing."""


class PlannedCalls(Protocol):
    """Judges the calls of plans' sessions, of which the line knows nothing else."""

    async def surveyed(self, mutation: Mutation) -> tuple[Mutation, Facts]:
        """The mutation as a part of the plan, and the facts about it. Any exception is a denial."""
        ...

    async def decide(self, mutation: Mutation, facts: Facts) -> Decision:
        """The decision by the plan."""
        ...

    async def stack_of(self, caller: Caller) -> str:
        """The stack of the plan in whose session the caller is; empty if there is none."""
        ...


_FOR_NOTHING: Final = (ApprovalSpent, ClaimTaken, SignatureSpent, Stopped, TooManyHeld)
"""What rolls back a decision that was evaluated, and with it what the decision was to be charged."""
_STORE_SECONDS: Final = 20.0
"""How long the ledger may take to store a decision. Then nothing is sent: whether it was stored is found out afterwards."""
_AGAIN_SECONDS: Final = 1.0
"""How soon an outcome is recorded again that the ledger did not take."""
_OLDEST_FACTS: Final = timedelta(seconds=30)
"""How long a decision may take from its facts to the signed request. The time of the facts is recorded, and from it counts how long AWS
may still accept the request: a process that was paused in between would sign a request that is accepted for longer than anybody knows.
"""
_STALE: Final = (
    "The gateway stood still while it decided, so what it decided by is old. Nothing was sent; try again. If that happens often, the "
    "machine is overloaded, or its clock is set while it runs."
)
_MOST_RACES: Final = 20
"""How often a call of a plan's session is decided again because others of it were faster."""


class Pipeline:
    """Takes a request from authentication to outcome. A door calls `admit`, streams reads itself, and passes every mutation to `execute`."""

    def __init__(
        self,
        *,
        resolver: EffectResolver,
        survey: Survey,
        checks: CheckChain,
        ledger: Ledger,
        cloud: Cloud,
        clock: Clock,
        digest_key: bytes = b"",
        settled: Callable[[str], None] = lambda _: None,
        admission: Admission | None = None,
        time_boxes: TimeBoxLedger | None = None,
        planned: PlannedCalls | None = None,
        ground: GroundTruth | None = None,
        reads: ReadBudget | None = None,
        store_seconds: float = _STORE_SECONDS,
        accounts: Mapping[str, str] | None = None,
        standing: Standing | None = None,
    ) -> None:
        """`digest_key` keys the digests of calls, which are recorded. `settled` is called with each mutation whose outcome is recorded.

        `planned` judges the calls of plans' sessions; without it they are denied. `admission` turns away those who have used up their share. `ground` is what Sentinel
        itself decides by, which reads and data calls do not reach. `accounts` are those of stacks in other accounts, by stack. `reads` counts the reads for which AWS charges.
        `standing` looks again at callers whose requests arrive slowly. Without `time_boxes` a change that is wanted for a time only is refused.
        """
        self._time_boxes = time_boxes
        self._planned = planned
        self._resolver = resolver
        self._survey = survey
        self._checks = checks
        self._ledger = ledger
        self._cloud = cloud
        self._clock = clock
        self._digest_key = digest_key
        self._settled = settled
        self._admission = admission
        self._ground = ground or GroundTruth()
        self._reads = reads
        self._store_seconds = store_seconds
        self._accounts = accounts or {}
        self._standing = standing
        self._running: set[asyncio.Future[Any]] = set()

    async def admit(
        self, inbound: Inbound, authenticator: Authenticator, decoder: RequestDecoder
    ) -> tuple[Caller, Request]:
        """The caller and its decoded request, in that order: the body is not parsed before the caller is authenticated.

        A refusal is recorded. Raises `errors.NotAuthenticated`, `errors.Malformed`, `errors.NotAllowed`, `errors.TryLater`, `errors.LedgerUnavailable`.
        """
        caller: Caller | None = None
        work_for_stranger(inbound.peer)
        failpoint(Point.REQUEST_READ)
        try:
            caller = await authenticator.authenticate(inbound)
            work_for(caller.actor)
            failpoint(Point.AUTHENTICATED)
            request = await decoder.read(inbound, caller)
            if caller.plan:
                request = await self._in_account_of_plan(caller, request)
            failpoint(Point.PARSED)
            if self._standing is not None:
                await self._standing.require_key(caller, inbound.received_at)
            if request.call.parameters:
                _refuse_own_signatures(request)
            _refuse_sensitive_reads(caller, request)
            if request.motive is not None:
                _refuse_other_motives(caller, request.motive)
            if self._ground.any:
                await self._refuse_ground_truth(inbound, caller, request)
        except (NotAuthenticated, Malformed, NotAllowed) as error:
            await self.turn_away(inbound, error, caller)
            raise
        call = request.call
        if (
            self._reads is not None
            and not request.call_class.changes_state
            and self._reads.is_billed(call.service, call.operation)
        ):
            try:
                await self._reads.charge(caller, call.service, call.operation)
            except TryLater as error:
                await self._record_refusal(caller, call, error)
                raise
        return caller, request if request.sender is not UNKNOWN else replace(request, sender=sender_of(inbound))

    async def _in_account_of_plan(self, caller: Caller, request: Request) -> Request:
        """The request in the session of a plan: its call goes to the account of the plan's stack."""
        if not self._accounts or self._planned is None:
            return request
        account = self._accounts.get(await self._planned.stack_of(caller), request.call.account)
        return replace(request, call=replace(request.call, account=account))

    async def _refuse_ground_truth(self, inbound: Inbound, caller: Caller, request: Request) -> None:
        """Refuse a read or a call of the data plane that reaches what Sentinel decides by; a check judges changes.

        Raises `errors.NotAllowed`.
        """
        call_class = request.call_class
        if call_class.changes_state and call_class is not CallClass.DATA:
            return
        stack = await self._planned.stack_of(caller) if caller.plan and self._planned is not None else ""
        # A presigned URL or form works for anyone who has it, and at the other doors no state is checked before it is sent.
        direct = (inbound.header("authorization") or "").startswith("AWS4-")
        objection = await off_loop(
            size_of(request.call.parameters),
            lambda: self._ground.objection(caller, request.call, call_class, direct=direct, plan_stack=stack),
        )
        if objection:
            raise NotAllowed(objection)

    async def authenticate(self, inbound: Inbound, authenticator: Authenticator) -> Caller:
        """The caller, who asks something. A refusal is recorded.

        Raises `errors.NotAuthenticated`, `errors.Malformed`, `errors.LedgerUnavailable`, and `errors.BudgetSpent` if it asks too often.
        """
        work_for_stranger(inbound.peer)
        try:
            caller = await authenticator.authenticate(inbound)
        except (NotAuthenticated, Malformed) as error:
            await self.turn_away(inbound, error)
            raise
        work_for(caller.actor)
        await self.admit_question(caller)
        return caller

    async def admit_question(self, caller: Caller) -> None:
        """Charge a question to the caller. Raises `errors.BudgetSpent` if it asks too often."""
        if self._admission is not None:
            await self._admission.admit_question(caller, self._clock.now())

    async def turn_away(self, inbound: Inbound, error: SentinelError, caller: Caller | None = None) -> None:
        """Record that a request was refused before it became a mutation, and why. Raises `errors.LedgerUnavailable`."""
        claimed_key_id = error.key_id if isinstance(error, NotAuthenticated) else ""
        refusal = Refusal(
            at=inbound.received_at,
            reason=str(error),
            code=error.code,
            peer=inbound.peer,
            key_id=caller.key_id if caller else claimed_key_id,
            about=f"{inbound.method} {inbound.path[:200]}",
            actor=caller.actor if caller else "",
        )
        await self._ledger.record_refusal(refusal)

    async def execute(self, caller: Caller, request: Request) -> MutationResult:
        """Decide, record the decision, send once, record the outcome. An agent gets AWS's reply without the secrets that it hands out.

        Raises an `errors.SentinelError` only if nothing was sent. Once something was sent, every result, good or bad, is the outcome.
        """
        result = await self._executed(caller, request)
        if caller.kind is not ActorKind.AGENT:
            return result
        shown = outcome_for_agent(result.mutation.call, result.outcome)
        return result if shown is result.outcome else replace(result, outcome=shown)

    async def _executed(self, caller: Caller, request: Request) -> MutationResult:
        work_for(caller.actor)
        if request.dry_run:
            await self.admit_question(caller)
        elif self._admission is not None:
            try:
                await self._admission.refuse_owing(caller, self._clock.now())
            except TryLater as error:
                await self._record_refusal(caller, request.call, error)
                raise
        mutation = await self._mutation(caller, request)
        try:
            if request.dry_run:
                mutation, _, decision = await self._only_decided(mutation)
                return MutationResult(mutation=mutation, decision=decision, outcome=None)
            # This runs to its end even if the caller disconnects; otherwise it could stop between sending and recording. The event loop
            # keeps only weak references to tasks, so keep a strong one.
            return await asyncio.shield(self._keep(self._carry_out(mutation)))
        except _Repeated as repeated:
            attempt = repeated.attempt
        return _result_of(mutation, attempt)

    async def only_decided(self, caller: Caller, request: Request) -> tuple[Mutation, Facts, Decision]:
        """What would be decided about a request of this caller now, and on which facts. Nothing is recorded or sent.

        Raises `errors.CallTooLarge`.
        """
        return await self._only_decided(await self._mutation(caller, request))

    def _only_decided(self, mutation: Mutation) -> Awaitable[tuple[Mutation, Facts, Decision]]:
        return apart(mutation_size(mutation), self._decide(mutation))

    async def _mutation(self, caller: Caller, request: Request) -> Mutation:
        """The mutation with its effects. Raises `errors.CallTooLarge`."""
        call = replace(request.call, digest_key=self._digest_key)
        try:
            call, understood = await off_loop(size_of(call.parameters), lambda: self._understood(call))
        except CallTooLarge as error:
            await self._record_refusal(caller, call, error)
            raise
        return Mutation(
            id=new_id("mut"),
            caller=caller,
            call=call,
            call_class=request.call_class,
            motive=request.motive or caller.motive,
            effects=understood.effects,
            inner=understood.inner,
            not_understood=understood.not_understood,
            own=understood.own,
            idempotency_key=request.idempotency_key,
            signature=request.signature,
            door=request.door,
            upload=request.upload,
            puts_back=request.puts_back,
            sender=request.sender,
        )

    def _understood(self, call: Call) -> tuple[Call, Explanation]:
        """The call with the names that were generated for it, and its effects.

        Its digest is calculated here too, because this may run in a thread, and the call keeps it.
        """
        understood = self._resolver.explain(call, quiet=False)
        if generated := generated_names(understood.effects):
            call = replace(call, generated=generated)
        _ = call.digest
        return call, understood

    async def _carry_out(self, mutation: Mutation) -> MutationResult:
        """Decide and record the decision; send once; record the outcome."""
        try:
            try:
                mutation, decision, prepared = await self._record_decision(mutation)
            except (ClaimTaken, SignatureSpent, Stopped) as conflict:
                # Another mutation took a claim, or a person stopped this, after we read the facts. It may be this same attempt, sent twice
                # at once; if not, decide once more. A second conflict goes to the caller, who may retry. A spent signature stays spent.
                await self._refuse_repeated(mutation)
                if isinstance(conflict, SignatureSpent):
                    raise
                mutation, decision, prepared = await self._decided_again(mutation)
        except (ClaimTaken, ApprovalSpent, CallTooLarge, NotAllowed, SignatureSpent, Stopped, TryLater) as error:
            # A lost race, as with a revocation of the key, rolled back the DECIDED record. Record the attempt, so that an investigator can see it.
            if self._admission is not None and isinstance(error, _FOR_NOTHING):
                await self._admission.charge_for_nothing(mutation.caller, self._clock.now())
            await self._record_refusal(mutation.caller, mutation.call, error)
            raise
        outcome: Outcome
        if prepared is None:
            # The caller is told the mutation that waits for a human, which it can wait for; the record of this one names it too.
            mutation = replace(mutation, id=decision.attached or mutation.id)
            outcome = Refused(decision=decision)
        else:
            # The decision is durable now. If the process dies before SETTLED is written, the mutation is in doubt once its lease has run out.
            outcome = sent = await self._send(mutation, prepared)
            failpoint(Point.BODY_READ)
            try:
                async with asyncio.timeout(self._store_seconds):
                    await self._record_outcome(mutation, sent)
                failpoint(Point.RELEASED)
                self._settled(mutation.id)
            except Exception:
                self._keep(self._record_later(mutation, sent))
                outcome = InDoubt(reason="AWS answered, but the ledger could not record the answer yet.")
                log.exception("settled_not_recorded", mutation=mutation.id)
        log_decision(mutation, decision, outcome)
        return MutationResult(mutation=mutation, decision=decision, outcome=outcome)

    async def _decided_again(self, mutation: Mutation) -> tuple[Mutation, Decision, Prepared | None]:
        """Decide once more; for a call of a plan's session, whose planned changes other calls use up, until one is left or none."""
        for _ in range(_MOST_RACES if mutation.caller.plan else 0):
            with suppress(PlanUsed):
                return await self._record_decision(mutation)
        return await self._record_decision(mutation)

    async def _record_decision(self, mutation: Mutation) -> tuple[Mutation, Decision, Prepared | None]:
        """Decide, sign the request if it is to be sent, and record the decision. None for the request if nothing is to be sent.

        The request is signed before the commit and never again: if the process is paused too long in between, AWS refuses the request as
        expired.
        """
        mutation, facts, decision = await apart(mutation_size(mutation), self._decide(mutation, self._admission))
        decision = _without_blind_hold(mutation, decision)
        prepared: Prepared | None = None
        if decision.carried_out:
            try:
                reason = _sent_for(mutation, facts, decision)
                prepared = await self._cloud.prepare(mutation.call, mutation.id, self._watched(mutation, facts), reason)
                if prepared.scope:
                    scope = Finding(check="cloud", verdict=Verdict.ALLOW, rule="session.scope", reason=prepared.scope)
                    decision = replace(decision, findings=(*decision.findings, scope))
            except NotSendable as error:
                unsendable = Finding(
                    check="cloud", verdict=Verdict.DENY, rule="never.unsendable", reason=str(error), absolute=True
                )
                decision = replace(decision, findings=(*decision.findings, unsendable))
            if self._clock.now() - facts.now > _OLDEST_FACTS:
                stale = Finding(check="line", verdict=Verdict.DENY, rule="never.stale", reason=_STALE, absolute=True)
                decision, prepared = replace(decision, findings=(*decision.findings, stale)), None
        failpoint(Point.DECIDED)
        try:
            # What the ledger was given it stores, also if nobody waits for it any more.
            async with asyncio.timeout(self._store_seconds):
                await self._commit(mutation, facts, decision)
        except (LedgerUnavailable, TimeoutError) as error:
            if prepared is not None:
                self._keep(self._record_later(mutation, _NOT_CONFIRMED))
            if isinstance(error, LedgerUnavailable):
                raise
            message = f"The ledger did not store the decision within {self._store_seconds:g} seconds, so nothing was sent. Try again."
            raise LedgerUnavailable(message) from error
        return mutation, decision, prepared

    def _watched(self, mutation: Mutation, facts: Facts) -> Upload | None:
        """The upload of the mutation, which goes on only as long as its caller has a key and nobody stops the change."""
        standing, upload = self._standing, mutation.upload
        if standing is None or upload is None:
            return upload
        about = reach(mutation, facts)

        async def check(since: datetime) -> None:
            await standing.require(mutation.caller, about, since)

        return WatchedUpload(upload, check, clock=self._clock, since=facts.now)

    def _keep(self, work: Awaitable[T]) -> asyncio.Future[T]:
        """Work that runs to its end, also if nobody waits for it any more."""
        future = asyncio.ensure_future(work)
        self._running.add(future)
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: asyncio.Future[Any]) -> None:
        self._running.discard(future)
        if not future.cancelled():
            future.exception()  # those who waited have it, and nobody has to

    async def _record_later(self, mutation: Mutation, sent: Sent) -> None:
        """Record an outcome until the ledger takes it. While this gateway lives, nobody else says what became of its mutation.

        The ledger writes in order: if the decision was stored late, or its commit was not confirmed, it is there by now or never.
        """
        while True:
            await asyncio.sleep(_AGAIN_SECONDS)
            try:
                await self._record_outcome(mutation, sent)
            except LedgerUnavailable:
                continue
            except (NotFound, NotAllowed) as error:
                log.info("outcome_needs_no_record", mutation=mutation.id, reason=str(error))
            else:
                log.info("settled_late", mutation=mutation.id)
                self._settled(mutation.id)
            return

    # The three steps that leave this process; telemetry measures each.

    def _commit(self, mutation: Mutation, facts: Facts, decision: Decision) -> Awaitable[object]:
        return self._ledger.record_decision(mutation, facts, decision)

    def _send(self, _mutation: Mutation, prepared: Prepared) -> Awaitable[Sent]:
        return self._cloud.send(prepared)

    def _record_outcome(self, mutation: Mutation, sent: Sent) -> Awaitable[None]:
        return self._ledger.record_outcome(mutation, sent, self._clock.now())

    async def _decide(self, mutation: Mutation, admission: Admission | None = None) -> tuple[Mutation, Facts, Decision]:
        """Gather the facts and run the checks. Returns the mutation with its final effects. If the facts cannot be gathered, it is denied.

        Raises `_Repeated` for an earlier attempt, `errors.TryLater` if the caller is not admitted now.
        """
        try:
            mutation, facts = await self._surveyed(mutation)
        except CallTooLarge:
            await self._refuse_repeated(mutation)  # its own earlier attempt may be what made it too large
            raise
        except Exception:
            log.exception("survey_broke", mutation=mutation.id)
            await self._refuse_repeated(mutation)
            denial = Finding(
                check="survey",
                verdict=Verdict.DENY,
                rule="never.survey",
                reason="Sentinel could not gather the facts that it decides by, so it refused; nothing was sent. Try again.",
                absolute=True,
            )
            return mutation, nothing_known(self._clock.now()), Decision(findings=(denial,))
        if facts.attempt is not None:
            raise _Repeated(facts.attempt)
        if admission is not None:
            await admission.admit(mutation, facts)
        judge = self._checks if self._planned is None or not mutation.caller.plan else self._planned
        decision = await judge.decide(mutation, facts)
        if decision.verdict is Verdict.HOLD:
            answered = await self._ledger.answered(mutation.caller.actor, mutation.call.digest)
            decision = with_answer(decision, answered, facts.now)
        return mutation, facts, decision

    async def _surveyed(self, mutation: Mutation) -> tuple[Mutation, Facts]:
        """The facts, and the mutation with its final effects. Any exception is a denial."""
        if not mutation.caller.plan:
            return await self._facts(mutation)
        if self._planned is None:
            message = "Nothing here judges the calls of plans' sessions."
            raise NotAllowed(message)
        return await self._planned.surveyed(mutation)

    async def _facts(self, mutation: Mutation) -> tuple[Mutation, Facts]:
        """The facts, and the mutation with its effects against them: calls that append to, remove from or overwrite a list depend on its
        current value, and the ledger may know a newer value than the state file. Facts are gathered again only if that changes an effect.
        """
        facts = await self._survey.of(mutation)
        understood = self._understood_against(facts, mutation)
        if understood is not None and understood.effects != mutation.effects:
            mutation = replace(
                mutation, effects=understood.effects, inner=understood.inner, not_understood=understood.not_understood
            )
            facts = await self._survey.of(mutation)
        if is_time_boxed(mutation) and mutation.puts_back is None:
            facts = replace(facts, time_box=await self._time_box(mutation, facts))
        return mutation, facts

    def _understood_against(self, facts: Facts, mutation: Mutation) -> Explanation | None:
        """The effects of the call on the values and claims that the facts know; None if the facts know none."""
        known = {
            subject.effect.address: subject.attributes_before
            for subject in facts.subjects
            if subject.exists or (subject.attributes_before and not subject.effect.declared)
        }
        claimed: dict[tuple[str, str], list[Json]] = {}
        for standing in facts.claims:
            claimed.setdefault((standing.claim.address, standing.claim.attribute), []).append(standing.claim.value)
        return self._resolver.explain(mutation.call, known, claimed) if known or claimed else None

    async def _time_box(self, mutation: Mutation, facts: Facts) -> TimeBox:
        """What is put back at the end of a change that is wanted for a time only."""
        if self._time_boxes is None:
            return TimeBox(refusal="Nothing here puts changes back at the end of their time.")
        addresses = sorted({effect.address for effect in mutation.effects})
        standing = await self._time_boxes.standing_time_boxes(addresses)
        # In a thread: the search for the call tries many calls. Not in a thread of the pool of large work, which may be waiting for this.
        return await asyncio.to_thread(time_box_of, self._resolver, mutation, facts, standing)

    async def _refuse_repeated(self, mutation: Mutation) -> None:
        """Raise `_Repeated` if there was an earlier attempt with the same idempotency key. Facts say it too; this is for when there are none."""
        key = mutation.idempotency_key
        attempt = await self._ledger.attempt(mutation.caller.actor, key) if key else None
        if attempt is not None:
            raise _Repeated(attempt)

    async def _record_refusal(self, caller: Caller, call: Call, error: SentinelError) -> None:
        """Record that a known caller's call was refused without a decision."""
        refusal = Refusal(
            at=self._clock.now(),
            reason=str(error),
            code=error.code,
            key_id=caller.key_id,
            about=f"{call.service}:{call.operation}",
            actor=caller.actor,
        )
        await self._ledger.record_refusal(refusal)


class _Repeated(Exception):
    """This attempt was made before."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.mutation_id)
        self.attempt = attempt


def _result_of(mutation: Mutation, attempt: Attempt) -> MutationResult:
    """The result of an earlier attempt of the mutation.

    Raises `errors.AttemptMismatch` if that attempt was another call, `errors.AttemptInFlight` if it has no outcome yet.
    """
    if attempt.call_digest != mutation.call.digest:
        message = f"This idempotency key belongs to another call (mutation {attempt.mutation_id}). Nothing was sent; use a new key."
        raise AttemptMismatch(message)
    if attempt.outcome is None:
        message = f"The same attempt (mutation {attempt.mutation_id}) is being carried out right now. Nothing was sent again; ask for its outcome."
        raise AttemptInFlight(message)
    return MutationResult(mutation=replace(mutation, id=attempt.mutation_id), decision=None, outcome=attempt.outcome)


_NOT_CONFIRMED: Final = Failed(
    code="NotSent", message="The ledger did not confirm in time that the decision was stored, so nothing was sent."
)


def _sent_for(mutation: Mutation, facts: Facts, decision: Decision) -> SentFor:
    """What AWS's log is told of a mutation. What is to be created has no ARN yet."""
    found = {
        subject.effect.address: subject.attributes_before.get("arn")
        for subject in facts.subjects
        if subject.effect.action is not EffectAction.CREATE or subject.exists
    }
    known = [arn for arn in found.values() if isinstance(arn, str) and arn]
    whole = len(known) == len({effect.address for effect in mutation.effects}) and not mutation.not_understood
    approvers = decision.consent["approvers"] if decision.consent is not None else ()
    return SentFor(
        actor=mutation.caller.actor,
        motive=mutation.motive,
        approvers=tuple(map(str, approvers)) if isinstance(approvers, list) else (),
        arns=tuple(known) if whole else (),
    )


def _without_blind_hold(mutation: Mutation, decision: Decision) -> Decision:
    """The decision, a denial if a human would have to approve an upload whose content the request does not fix."""
    if mutation.upload is None or is_bound(mutation.upload) or decision.verdict is not Verdict.HOLD:
        return decision
    blind = Finding(
        check="upload",
        verdict=Verdict.DENY,
        rule="upload.unknown_content",
        reason="A human would have to approve this upload, and its head does not say what its content is. Sign the SHA-256 of the whole body, or ask for the change beforehand.",
    )
    return replace(decision, findings=(*decision.findings, blind))


def _refuse_other_motives(caller: Caller, motive: Motive) -> None:
    """Refuse a stated motive that the caller's key does not allow. Raises `errors.NotAllowed`."""
    if not caller.may_state(motive):
        stated = f"{motive.intent}/{motive.motivation}"
        raise NotAllowed(
            f"{ceiling_text(caller.motive)} This call states {stated}. Nothing was sent; leave the motive out, or use another key."
        )


def _refuse_own_signatures(request: Request) -> None:
    """Refuse a call that holds itself as an URL, signed with a key of ours, as SDKs do for copies from another region: AWS knows no such
    key, so the call would fail there, after somebody approved it. A presigned URL of another call is a text like any other.
    Raises `errors.NotAllowed`.
    """
    itself = f"Action={request.call.operation}&"
    if any(itself in text and _SIGNED_BY_US.search(text) for text in texts_in(request.call.parameters)):
        raise NotAllowed(
            f"{request.call.service}:{request.call.operation} holds an URL that was signed with a key of Sentinel, which AWS does not know: SDKs sign one for a "
            "copy from another region. Nothing was sent. Copy within the region, leave the source region out where AWS allows that "
            "(an unencrypted snapshot of EC2), or let a pipeline with credentials of AWS make the copy."
        )


_SIGNED_BY_US: Final = re.compile(rf"X-Amz-Credential=(?:{STANDING_KEY_PREFIX}|{SESSION_KEY_PREFIX})[A-Z0-9]{{16}}")


def _refuse_sensitive_reads(caller: Caller, request: Request) -> None:
    """Refuse secret values and cryptographic keys to agents. An agent may repeat a secret that it has read, and a call that uses a key
    would run with the gateway's permissions. Raises `errors.NotAllowed`.
    """
    if request.call_class is CallClass.CRYPTO and caller.kind is ActorKind.AGENT:
        message = f"{request.call.service}:{request.call.operation} uses a cryptographic key, and agents may not do that through Sentinel, whose rights are wider than theirs. Nothing was sent."
        raise NotAllowed(message)
    if request.call_class is CallClass.SECRET and caller.kind is ActorKind.AGENT:
        message = f"{request.call.service}:{request.call.operation} returns a secret value or a signed URL, or content that commonly holds a secret, or nobody has reviewed yet what it returns; agents may not read those through Sentinel. Nothing was sent."
        raise NotAllowed(message)


_NAMES = {Applied: "applied", Refused: "refused", Failed: "failed", InDoubt: "in_doubt"}
_MOST_ADDRESSES = 5
"""How many of the changed resources a line names. The record has all of them."""


def log_decision(mutation: Mutation, decision: Decision, outcome: Outcome) -> None:
    """Log one recorded decision and what came of it."""
    addresses = tuple(dict.fromkeys(effect.address for effect in mutation.effects))
    motive = mutation.motive
    log.info(
        "decision",
        mutation=mutation.id,
        verdict=decision.verdict._value_,
        outcome=_NAMES[type(outcome)],
        operation=f"{mutation.call.service}:{mutation.call.operation}",
        actor=mutation.caller.actor,
        kind=mutation.caller.kind._value_,
        motive=f"{motive.intent}/{motive.motivation}" if motive else "",
        resources=list(addresses[:_MOST_ADDRESSES]),
        more_resources=max(0, len(addresses) - _MOST_ADDRESSES),
        rules=list(dict.fromkeys(each.rule for each in decision.findings if each.verdict is not Verdict.ALLOW)),
    )
