"""The AWS-compatible endpoint: an ASGI application that any AWS client can use as its endpoint URL.

Reads are signed with the gateway's credentials and streamed. So are calls of the data plane that pass. Every other call goes through
`gateway.line.pipeline`.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from gateway.aws.door import errors as aws_errors
from gateway.aws.door.browsers import for_client
from gateway.aws.door.bucket_host import BucketHosts
from gateway.aws.door.data_calls import DataCalls
from gateway.aws.door.form_uploads import FormAnswer, FormUploads
from gateway.aws.door.reads import Reads
from gateway.aws.door.request_head import S3, target_of
from gateway.aws.door.token_service import TokenService
from gateway.aws.door.uploads import EXPECTS, Uploads
from gateway.aws.door.urls import ReplyUrls
from gateway.core import errors
from gateway.core.http.asgi import Receive, RequestBody, Scope, Send, declared_length, inbound_of, send_response
from gateway.core.http.body_budget import MeteredReceive
from gateway.core.model.caller import Caller
from gateway.core.model.ids import new_id
from gateway.core.model.inbound import Inbound
from gateway.core.model.masking import without_digests
from gateway.core.model.mutation import CallClass, Door, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Refused
from gateway.core.model.verdict import Decision, Mode, Verdict
from gateway.core.ports import Authenticator, Clock, Request, RequestDecoder
from gateway.identity.sigv4 import read_signature
from gateway.line.pipeline import MutationResult, Pipeline
from gateway.presentation.refusal import in_doubt_text, refusal_text
from gateway.presentation.serialize import offers_to_json

log = structlog.get_logger()

_CLOSE = (("connection", "close"),)
"""Closes the connection after the response."""
_XML: Final = [("content-type", "text/xml")]
_NEXT_SECOND = (("retry-after", "1"), ("x-amz-retry-after", "1000"))
"""Asks a client whose signature is spent to sign again in the next second (seconds and, for AWS SDKs, milliseconds): before it, the same
call has the same signature, and a client that tries again at once would use up its attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsDoor:
    """Answers every request in the caller's own AWS protocol, errors included."""

    pipeline: Pipeline
    uploads: Uploads
    forms: FormUploads
    urls: ReplyUrls
    authenticator: Authenticator
    decoder: RequestDecoder
    reads: Reads
    data: DataCalls[Any]
    tokens: TokenService
    clock: Clock
    hosts: BucketHosts
    max_body_bytes: int
    limit_of_large: Callable[[Inbound], Awaitable[int]]
    """The limit of a request whose body has more than `max_body_bytes`; larger than those only for reads and uploads."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. The caller always gets a valid AWS response.

        Raises `ConnectionResetError` only if AWS breaks off the body of a reply that is streamed: the server then closes the client's connection.
        """
        body = RequestBody(
            receive,
            self.max_body_bytes,
            declared=declared_length(scope),
            limit_of_large=lambda: self.limit_of_large(inbound),
            settings=("server.max_body_bytes", "server.max_upload_bytes"),
            passed=receive.passed if isinstance(receive, MeteredReceive) else None,
        )
        inbound = inbound_of(scope, body, self.clock, self.hosts.of(scope))
        send = for_client(inbound, send)
        try:
            if self.forms.takes(inbound):
                await self._upload_form(receive, send, inbound, body)
                return
            if self.uploads.takes(inbound):
                await self._upload(receive, send, inbound, body)
                return
            if self.tokens.takes_unsigned(inbound) and await self._unsigned(send, inbound):
                return
            caller, request = await self.pipeline.admit(inbound, self.authenticator, self.decoder)
            signature = read_signature(inbound)
            if signature.presigned:
                request = replace(request, door=Door.PRESIGNED)
            if self.tokens.takes(request.call):
                answer = await self.tokens.answer(self.pipeline, inbound, caller, request)
                await send_response(send, 200, _XML, answer)
                return
            if not request.call_class.changes_state:
                self.data.count_read(caller, request)
                _, target = target_of(inbound, signature.service)
                await self.reads.forward(
                    receive,
                    send,
                    inbound=inbound,
                    target=target,
                    caller=caller,
                    call=request.call,
                    signature=signature,
                )
                return
            await self._change(receive, send, inbound, caller, request)
        except errors.SentinelError as error:
            await self._refuse(send, inbound, error, _when_to_retry(error))
        except ConnectionResetError:
            raise
        except Exception:
            log.exception("aws_door_broke", target=inbound.path[:200])
            unknown = errors.SentinelError(
                "Sentinel had an internal error; its log says more. Check `sentinel records` whether anything was sent."
            )
            await self._refuse(send, inbound, unknown)
        finally:
            body.forget()

    async def _unsigned(self, send: Send, inbound: Inbound) -> bool:
        """Whether it was a call whose proof is in its body; then it is answered."""
        answer = await self.tokens.unsigned(self.pipeline, inbound)
        if answer is not None:
            await send_response(send, 200, _XML, answer)
        return answer is not None

    async def _change(self, receive: Receive, send: Send, inbound: Inbound, caller: Caller, request: Request) -> None:
        """Serve a call that is no read: one of the data plane passes, every other goes through the line."""
        plain = request.door is Door.AWS and request.call_class is not CallClass.DATA
        if not plain and await self._passed(receive, send, inbound, caller, request):
            return
        await self._reply(send, inbound, await self.pipeline.execute(caller, request))

    async def turn_away(self, scope: Scope, receive: Receive, send: Send, error: errors.Malformed) -> None:
        """Record and answer a request that was refused before it reached this door, then close the connection."""
        inbound = inbound_of(scope, RequestBody(receive, 0), self.clock, self.hosts.of(scope))
        send = for_client(inbound, send)
        try:
            await self.pipeline.turn_away(inbound, error)
        except errors.LedgerUnavailable as unavailable:
            await self._refuse(send, inbound, unavailable, _CLOSE)
        else:
            await self._refuse(send, inbound, error, _CLOSE)

    async def _upload(self, receive: Receive, send: Send, inbound: Inbound, body: RequestBody) -> None:
        """Serve the upload of an object: decided from its head, then streamed."""
        try:
            admitted = await self.uploads.admit(self.pipeline, inbound, body)
            if await self._passed(receive, send, inbound, admitted.caller, admitted.request):
                return
            result = await self.pipeline.execute(admitted.caller, admitted.request)
            if admitted.body.failure is not None:
                # It is recorded as the outcome; the client is told the cause, not that AWS could not be reached.
                raise admitted.body.failure
        except errors.SentinelError:
            await self.uploads.make_room(inbound, body)
            raise
        await self.uploads.make_room(inbound, body)
        await self._reply(send, inbound, result)

    async def _upload_form(self, receive: Receive, send: Send, inbound: Inbound, body: RequestBody) -> None:
        """Serve a presigned browser form, which needs a key whose data plane passes."""
        try:
            form = await self.forms.admit(self.pipeline, inbound, body)
            with form.file:
                answer = FormAnswer()
                await self._passed(receive, answer.send, inbound, form.admitted.caller, form.admitted.request)
        except errors.SentinelError:
            await self.uploads.make_room(inbound, body)
            raise
        await answer.answer(send, form, self.urls.origin(inbound))

    async def _passed(self, receive: Receive, send: Send, inbound: Inbound, caller: Caller, request: Request) -> bool:
        """Whether the call passed as one of the data plane; then it is answered. What does not pass must not be presigned."""
        objects = request.door is Door.AWS or request.call.service == S3
        try:
            if objects and await self.data.forward(receive, send, inbound=inbound, caller=caller, request=request):
                return True
        except (errors.Stopped, errors.NotAllowed, errors.SignatureSpent) as refused:
            await self.pipeline.turn_away(inbound, refused, caller)
            raise
        if request.door is not Door.AWS:
            # Anyone who sees a presigned URL can use it, so it proves nobody's intention to change this now.
            error = errors.NotAllowed(
                "A presigned URL changes nothing through Sentinel but S3 objects, and those only with a key whose calls of the data plane "
                "pass (`data_plane`), for instance one of kind `service`. Sign the request itself; nothing was sent."
            )
            await self.pipeline.turn_away(inbound, error, caller)
            raise error
        return False

    async def _refuse(
        self, send: Send, inbound: Inbound, error: errors.SentinelError, extra: tuple[tuple[str, str], ...] = ()
    ) -> None:
        code = aws_code(error)
        response = aws_errors.error_response(
            inbound, code=code, message=str(error), status=aws_errors.status_of(code), request_id=new_id("req")
        )
        await _send_error(send, response, list(dict.fromkeys((*extra, *_closing(inbound)))))

    async def _reply(self, send: Send, inbound: Inbound, result: MutationResult) -> None:
        mutation, decision, outcome = result.mutation, result.decision, result.outcome
        extra = [("x-sentinel-mutation", mutation.id)]
        if decision is not None and decision.mode is Mode.OBSERVE and decision.verdict is not Verdict.ALLOW:
            extra.append(("x-sentinel-would", decision.verdict.value))
        if decision is None:
            extra.append(("idempotent-replayed", "true"))
        match outcome:
            case Applied(reply=reply) | Failed(reply=reply) | InDoubt(reply=reply) if reply is not None:
                headers, body = list(reply.headers), reply.body
                if self.urls.concerns(mutation.call, inbound):
                    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
                    raw, body = self.urls.rewritten(mutation.call, inbound, raw, body)
                    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
                await send_response(send, reply.status, [*headers, *extra], body)
                return
            case Refused():
                extra += [*_offer_header(mutation, outcome.decision), *_closing(inbound)]
                response = aws_errors.access_denied(
                    inbound, message=refusal_text(mutation, outcome.decision), request_id=mutation.id
                )
            case InDoubt():
                response = aws_errors.error_response(
                    inbound,
                    code="OutcomeUnknown",
                    message=in_doubt_text(mutation, outcome),
                    status=409,
                    request_id=mutation.id,
                )
            case _:
                reason = outcome.message if isinstance(outcome, Failed) else ""
                message = f"Nothing was sent to AWS (mutation {mutation.id}): {reason}"
                response = aws_errors.error_response(
                    inbound, code="ServiceUnavailable", message=message, status=503, request_id=mutation.id
                )
        await _send_error(send, response, extra)


_OFFER: Final = "x-sentinel-offer"
_LONGEST_OFFER: Final = 4_000
"""Characters of the header; clients and proxies accept about twice that."""


def _offer_header(mutation: Mutation, decision: Decision) -> list[tuple[str, str]]:
    """A header with what would be accepted instead, as a JSON list, so that a program need not read sentences. The first offers that fit."""
    shown: list[str] = []
    left = _LONGEST_OFFER
    for offer in offers_to_json(decision):
        text = json.dumps(offer if mutation.caller.sees_all else without_digests(offer), separators=(",", ":"))
        left -= len(text) + 1
        if left < 0:
            break
        shown.append(text)
    return [(_OFFER, f"[{','.join(shown)}]")] if shown else []


def _when_to_retry(error: errors.SentinelError) -> tuple[tuple[str, str], ...]:
    """Headers that say when to try again, if that can help."""
    match error:
        case errors.Overloaded():
            return (("retry-after", str(error.retry_after)),)
        case errors.TryLater():
            return (("retry-after", str(error.retry_after)), ("x-amz-retry-after", str(error.retry_after * 1000)))
        case errors.SignatureSpent():
            return _NEXT_SECOND
        case _:
            return ()


def _closing(inbound: Inbound) -> tuple[tuple[str, str], ...]:
    """Closes the connection of a client that waits with its body: refused, it may send it or not, so nobody can tell where its next request begins."""
    return _CLOSE if (inbound.header("expect") or "").strip().lower() == EXPECTS else ()


async def _send_error(send: Send, response: aws_errors.ErrorResponse, extra: list[tuple[str, str]]) -> None:
    """Send an error with extra headers, and without `Date`, which the server adds itself."""
    status, headers, body = response
    kept = [(name, value) for name, value in headers if name.lower() != "date"]
    await send_response(send, status, [*kept, *extra], body)


_AWS_CODES: dict[type[errors.SentinelError], str] = {
    errors.NotAllowed: "AccessDenied",
    errors.Stopped: "AccessDenied",
    errors.ClaimTaken: "Conflict",
    errors.ApprovalSpent: "Conflict",
    errors.AttemptInFlight: "ConcurrentRequest",
    errors.AttemptMismatch: "IdempotentParameterMismatch",
    errors.SignatureSpent: "ThrottlingException",
    errors.TryLater: "Throttling",
    errors.Overloaded: "ServiceUnavailable",
    errors.LedgerUnavailable: "ServiceUnavailable",
    errors.PolicyUnavailable: "ServiceUnavailable",
    errors.UpstreamUnavailable: "ServiceUnavailable",
}
"""AWS's error code by error class. ServiceUnavailable (503) only if nothing was sent: AWS clients retry after it."""


def aws_code(error: errors.SentinelError) -> str:
    """The AWS error code for an error; OutcomeUnknown, which no AWS client retries, if its class is not in the table."""
    if isinstance(error, errors.NotAuthenticated | errors.Malformed):
        return error.aws_code
    return next((_AWS_CODES[kind] for kind in type(error).__mro__ if kind in _AWS_CODES), "OutcomeUnknown")
