"""Forwards the calls of the data plane that pass, and has them counted."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Generic, Protocol, TypeVar

import structlog

from gateway.aws.door.reads import ReadResponse, send_reply, send_rewritten
from gateway.aws.door.urls import ReplyUrls
from gateway.core.errors import BodyTooLarge, LedgerUnavailable, NotSendable, SentinelError
from gateway.core.http.asgi import Receive, Send
from gateway.core.model.caller import Caller
from gateway.core.model.data_plane import Passage
from gateway.core.model.data_treatment import DataTreatment
from gateway.core.model.inbound import Inbound, Upload
from gateway.core.model.mutation import Call, Door
from gateway.core.ports import Request
from gateway.identity.sigv4 import read_signature
from gateway.line.data_plane import DataPlane, DataSignature, DataSignatures, PassedCounts
from gateway.line.standing import Standing, WatchedUpload
from gateway.line.state_writes import LARGEST, StateWrites

log = structlog.get_logger()

_FIRST_ERROR, _FIRST_DOUBT = 400, 500
"""From the second on, an error does not say that nothing was done."""
_NONCES = ("amz-sdk-invocation-id", "amz-sdk-request", "aws-sdk-invocation-id", "aws-sdk-retry")
"""What SDKs say of a call and its attempt. botocore does not sign it, the SDKs for Go (v2) and Java (v2) do."""
PreparedT = TypeVar("PreparedT")


class DataUpstream(Protocol[PreparedT]):
    """AWS, for calls of the data plane."""

    async def prepare(self, call: Call, upload: Upload | None = None) -> PreparedT:
        """The signed request. Sends nothing. Raises `errors.NotSendable`."""
        ...

    async def open(self, prepared: PreparedT) -> ReadResponse:
        """Send once; return when the reply's head arrives. Raises `errors.UpstreamUnavailable`."""
        ...


class DataCalls(Generic[PreparedT]):
    """Forwards what passes. Everything else is left to the pipeline."""

    def __init__(
        self,
        plane: DataPlane,
        counts: PassedCounts,
        signatures: DataSignatures,
        upstream: DataUpstream[PreparedT],
        urls: ReplyUrls | None = None,
        *,
        standing: Standing,
        refuse: Callable[[Caller], None] = lambda _: None,
        states: StateWrites | None = None,
    ) -> None:
        """`states` checks what is written to the states of stacks. `refuse` raises for a caller whose calls do not pass now; `standing` looks again at a caller while its object or a reply lasts; `urls` makes the URLs in replies lead through the gateway; None: they stay as they are."""
        self._urls = urls
        self._states = states
        self._refuse = refuse
        self._standing = standing
        self._plane = plane
        self._counts = counts
        self._signatures = signatures
        self._upstream = upstream

    def count_read(self, caller: Caller, request: Request) -> None:
        """Count a read with a presigned URL, which its maker gave away, and one of a stack's state, in which secrets stand in clear. Other
        reads leave no record. Never raises.
        """
        state = self._states.read_by(request.call) if self._states is not None else None
        if request.door is Door.AWS and state is None:
            return
        try:
            self._counts.add(
                Passage(
                    caller=caller,
                    service=request.call.service,
                    operation=request.call.operation,
                    stack=state.stack if state is not None else "",
                    addresses=(state.object.url,) if state is not None else (),
                    treatment=DataTreatment.RECORD if state is not None else DataTreatment.PASS,
                    call_class=request.call_class,
                    door=request.door,
                )
            )
        except LedgerUnavailable as error:
            log.error("read_not_counted", reason=str(error))  # noqa: TRY400  the message says enough

    async def forward(
        self, receive: Receive, send: Send, *, inbound: Inbound, caller: Caller, request: Request
    ) -> bool:
        """Whether the call passed; then AWS's reply was sent. If not, nothing was sent anywhere.

        Raises `errors.LedgerUnavailable`, `errors.Stopped`, `errors.NotAllowed`, `errors.SignatureSpent` and `errors.Overloaded` before anything is sent, `errors.UpstreamUnavailable` before anything is sent to the client, and
        `ConnectionResetError` if AWS breaks off its reply.
        """
        passage = await self._plane.passage(caller, request)
        if passage is None:
            return False
        self._refuse(caller)
        request, passage = await self._with_state(request, passage)
        request = await self._watched(inbound, caller, request)
        try:
            prepared = await self._upstream.prepare(request.call, request.upload)
        except NotSendable:
            # The pipeline refuses it with the reason, and records that.
            return False
        signature = call_signature(inbound, request)
        if signature is not None:
            self._signatures.spend(signature)
        try:
            await self._count(passage)
        except LedgerUnavailable:
            if signature is not None:
                self._signatures.free(signature)
            raise
        answered = False
        try:
            response = await self._opened(prepared, request.upload, signature)
            answered = response.status < _FIRST_ERROR
            self._state_sent(request, response)
            if signature is not None and _FIRST_ERROR <= response.status < _FIRST_DOUBT:
                self._signatures.free(signature)
            try:
                if self._urls is not None and self._urls.concerns(request.call, inbound):
                    await send_rewritten(send, response, self._urls, request.call, inbound)
                else:
                    await send_reply(receive, send, response, partial(self._standing.holds, caller))
            finally:
                response.abandon()
        finally:
            if not answered:
                self._counts.add_error(passage)
        return True

    async def _watched(self, inbound: Inbound, caller: Caller, request: Request) -> Request:
        """The request, whose object is sent only as long as its caller may send it. Raises `errors.NotAllowed`, `errors.Stopped` if that is over."""
        upload, standing = request.upload, self._standing

        async def check(since: datetime) -> None:
            await standing.require_key(caller, since)
            self._refuse(caller)

        if upload is None:
            return request
        if isinstance(upload, KeptUpload):
            await check(inbound.received_at)
            return request
        watched = WatchedUpload(upload, check, clock=standing.clock, since=inbound.received_at)
        return replace(request, upload=watched)

    async def _count(self, passage: Passage) -> None:
        """Count a call that is about to be sent. Raises `errors.LedgerUnavailable`."""
        if passage.durable:
            await self._counts.add_durably(passage)
        else:
            self._counts.add(passage)

    async def _with_state(self, request: Request, passage: Passage) -> tuple[Request, Passage]:
        """The request with its body read and checked, if it writes the state of a stack, and the passage with what the state says of itself.

        Raises `errors.NotAllowed`, `errors.UpstreamUnavailable`, and what is wrong with the body.
        """
        states, upload, call = self._states, request.upload, request.call
        state = states.of(call) if states is not None else None
        if states is None or state is None:
            return request, passage
        if call.operation == "CompleteMultipartUpload":
            written = await states.check(state, call, states.completed(call))
            return request, replace(passage, addresses=(f"{state.object.url} {written}",), durable=True)
        if upload is None:
            return request, passage
        if upload.length > LARGEST:
            raise BodyTooLarge(LARGEST, "a Terraform state, or a part of one, in one request")
        kept = await KeptUpload.of(upload)
        request = replace(request, upload=kept)
        if call.operation == "UploadPart" and str(call.parameters.get("PartNumber")) != "1":
            return request, passage  # judged with the others when they are completed
        written = await states.check(state, call, kept.content)
        return request, replace(passage, addresses=(f"{state.object.url} {written}",), durable=True)

    def _state_sent(self, request: Request, response: ReadResponse) -> None:
        """Keep a part of a state that S3 took, or forget those of a state that it completed."""
        states, upload, call = self._states, request.upload, request.call
        if states is None or response.status >= _FIRST_ERROR or states.of(call) is None:
            return
        if call.operation == "CompleteMultipartUpload":
            states.ended(call)
        elif call.operation == "UploadPart" and isinstance(upload, KeptUpload):
            etag = next((value for name, value in response.headers if name.lower() == b"etag"), b"")
            states.keep(call, upload.content, etag.decode("latin-1"))

    async def _opened(
        self, prepared: PreparedT, upload: Upload | None, signature: DataSignature | None
    ) -> ReadResponse:
        try:
            return await self._upstream.open(prepared)
        except Exception:
            if signature is not None and upload is not None and not upload.complete:
                self._signatures.free(signature)  # AWS stores nothing of an object that did not arrive whole
            raise


class KeptUpload:
    """An upload whose body was read and verified, and is kept until it is sent."""

    def __init__(self, upload: Upload, content: bytes) -> None:
        self._upload = upload
        self.content = content
        self.length = upload.length
        self.sha256 = upload.sha256
        self.trailer = upload.trailer
        self.complete = False
        self.failure: SentinelError | None = None

    @classmethod
    async def of(cls, upload: Upload) -> "KeptUpload":
        """The upload, read to its end. Raises what is wrong with it."""
        return cls(upload, b"".join([part async for part in upload.parts()]))

    def trailers(self) -> Sequence[tuple[str, str]]:
        """The checksum that followed the body."""
        return self._upload.trailers()

    async def parts(self) -> AsyncIterator[bytes]:
        """The body in one piece."""
        self.complete = True
        if self.content:
            yield self.content


def call_signature(inbound: Inbound, request: Request) -> DataSignature | None:
    """The signature that counts for one call; None for a presigned form, which may be made for many files and is good until it ends, as at AWS."""
    if request.door is Door.FORM:
        return None
    signature = read_signature(inbound)
    if signature.expires is not None:
        ends = signature.at + signature.expires
        return DataSignature(value=signature.value, at=signature.at, nonce="", signed_nonce=True, ends=ends)
    nonce = "\n".join(inbound.header(name) or "" for name in _NONCES)
    return DataSignature(
        value=signature.value,
        at=signature.at,
        nonce=nonce.strip(),
        signed_nonce=_NONCES[0] in signature.signed_headers,
    )
