"""The AWS-compatible endpoint: a raw ASGI application that any AWS client can be pointed at.

Reads are signed anew and streamed. Everything else goes down the line.
"""

from dataclasses import dataclass

import structlog

from gateway import errors
from gateway.authn.sigv4 import is_presigned, read_signature
from gateway.doors.asgi import Receive, RequestBody, Scope, Send, answer, inbound_of
from gateway.doors.aws import errors as aws_errors
from gateway.doors.aws.request_head import unmarked
from gateway.doors.aws.stream import Reads
from gateway.doors.refusal import refusal_text
from gateway.model.caller import Caller
from gateway.model.ids import new_id
from gateway.model.inbound import Inbound
from gateway.model.mutation import Call
from gateway.model.outcome import Applied, Failed, InDoubt, Refused
from gateway.model.verdict import Mode, Verdict
from gateway.pipeline import MutationResult, Pipeline
from gateway.ports import Authenticator, Clock, RequestDecoder

log = structlog.get_logger()

_CLOSE = (("connection", "close"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsDoor:
    """Answers in the caller's own protocol, whatever happens."""

    pipeline: Pipeline
    authenticator: Authenticator
    decoder: RequestDecoder
    reads: Reads
    clock: Clock
    max_body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. The caller always gets a lawful answer; only a read that AWS broke off half-way raises, to be cut off."""
        body = RequestBody(receive, self.max_body_bytes)
        inbound = inbound_of(scope, body, self.clock)
        try:
            caller, request = await self.pipeline.admit(inbound, self.authenticator, self.decoder)
            if not request.call_class.changes_state:
                await self._forward(receive, send, inbound, request.call)
                return
            await self._signed_itself(inbound, caller)
            await self._reply(send, inbound, await self.pipeline.execute(caller, request))
        except errors.SentinelError as error:
            await self._refuse(send, inbound, error)
        except ConnectionResetError:
            raise
        except Exception:
            log.exception("aws_door_broke", target=inbound.path[:200])
            unknown = errors.SentinelError(
                "Sentinel met an error of its own; its log says more. Whether anything was sent is in `sentinel records`."
            )
            await self._refuse(send, inbound, unknown)

    async def turn_away(self, scope: Scope, receive: Receive, send: Send, error: errors.Malformed) -> None:
        """Record and answer a request that was stopped before this door; the connection ends with it."""
        inbound = inbound_of(scope, RequestBody(receive, 0), self.clock)
        try:
            await self.pipeline.turn_away(inbound, error)
        except errors.LedgerUnavailable as unavailable:
            await self._refuse(send, inbound, unavailable, _CLOSE)
        else:
            await self._refuse(send, inbound, error, _CLOSE)

    async def _forward(self, receive: Receive, send: Send, inbound: Inbound, call: Call) -> None:
        _, target = unmarked(inbound.target)
        signature = read_signature(inbound)
        await self.reads.forward(receive, send, inbound=inbound, target=target, call=call, signature=signature)

    async def _signed_itself(self, inbound: Inbound, caller: Caller) -> None:
        """A presigned URL can be passed on and used by anybody who sees it, so it may read and never change."""
        if is_presigned(inbound):
            error = errors.NotAllowed(
                "A presigned URL cannot change anything through Sentinel. Sign the request itself; nothing was sent."
            )
            await self.pipeline.turn_away(inbound, error, caller)
            raise error

    async def _refuse(
        self, send: Send, inbound: Inbound, error: errors.SentinelError, marks: tuple[tuple[str, str], ...] = ()
    ) -> None:
        code = aws_code(error)
        status = aws_errors.status_of(code)
        refusal = aws_errors.refusal(inbound, code=code, message=str(error), status=status, request_id=new_id("req"))
        await _answer(send, refusal, [*marks])

    async def _reply(self, send: Send, inbound: Inbound, carried: MutationResult) -> None:
        mutation, decision, outcome = carried.mutation, carried.decision, carried.outcome
        marks = [("x-sentinel-mutation", mutation.id)]
        if decision is not None and decision.mode is Mode.OBSERVE and decision.verdict is not Verdict.ALLOW:
            marks.append(("x-sentinel-would", decision.verdict.value))
        if decision is None:
            marks.append(("idempotent-replayed", "true"))
        match outcome:
            case Applied(reply=reply) | Failed(reply=reply) if reply is not None:
                await answer(send, reply.status, [*reply.headers, *marks], reply.body)
                return
            case Refused():
                refusal = aws_errors.access_denied(
                    inbound, message=refusal_text(mutation, outcome.decision), request_id=mutation.id
                )
            case InDoubt():
                message = (
                    f"Sentinel does not know whether AWS carried out {mutation.call.service}:{mutation.call.operation} "
                    f"(mutation {mutation.id}): {outcome.reason} It is not sent again; its claim stands until the truth is read back."
                )
                refusal = aws_errors.refusal(
                    inbound, code="OutcomeUnknown", message=message, status=409, request_id=mutation.id
                )
            case _:
                reason = outcome.message if isinstance(outcome, Failed) else ""
                message = f"Nothing was sent to AWS (mutation {mutation.id}): {reason}"
                refusal = aws_errors.refusal(
                    inbound, code="ServiceUnavailable", message=message, status=503, request_id=mutation.id
                )
        await _answer(send, refusal, marks)


async def _answer(send: Send, refusal: aws_errors.Answer, marks: list[tuple[str, str]]) -> None:
    """Send a refusal. The server writes `Date` itself."""
    status, headers, body = refusal
    await answer(send, status, [*((name, value) for name, value in headers if name.lower() != "date"), *marks], body)


_AWS_CODES: dict[type[errors.SentinelError], str] = {
    errors.NotAllowed: "AccessDenied",
    errors.ClaimTaken: "Conflict",
    errors.ApprovalSpent: "Conflict",
    errors.AttemptInFlight: "ConcurrentRequest",
    errors.AttemptMismatch: "IdempotentParameterMismatch",
    errors.LedgerUnavailable: "ServiceUnavailable",
    errors.PolicyUnavailable: "ServiceUnavailable",
    errors.UpstreamUnavailable: "ServiceUnavailable",
}
"""AWS's code by error. ServiceUnavailable (503) only where nothing was sent: AWS clients send again after it."""


def aws_code(error: errors.SentinelError) -> str:
    """The code that an AWS client is given for an error; OutcomeUnknown, which nobody retries, where the table has none."""
    if isinstance(error, errors.NotAuthenticated | errors.Malformed):
        return error.aws_code
    return next((_AWS_CODES[kind] for kind in type(error).__mro__ if kind in _AWS_CODES), "OutcomeUnknown")
