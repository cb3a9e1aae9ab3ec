"""Takes the upload of an S3 object from its head to AWS's answer: decided before a byte of the body is read, then streamed, once."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateway.aws.door.advice import unsigned_payload_advice
from gateway.aws.door.decoder import AwsDecoder
from gateway.core.errors import BodyTooLarge, Malformed, SentinelError
from gateway.core.http.asgi import RequestBody
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Door
from gateway.core.outbound.addresses import is_loopback
from gateway.core.ports import Request
from gateway.core.settings import UnsignedUploads
from gateway.identity.signed_body import BodyCheck
from gateway.identity.sigv4 import SigV4, read_signature
from gateway.line.pipeline import Pipeline


class UploadBody:
    """Implements `model.upload.Upload`. Its last piece is handed on only after everything before it was verified."""

    def __init__(
        self, source: AsyncIterator[bytes], check: BodyCheck, *, length: int, sha256: str = "", trailer: str = ""
    ) -> None:
        """`source` is the body of the request, `length` what its head states as the length of the object."""
        self._source = source
        self._check = check
        self._trailers: Sequence[tuple[str, str]] = ()
        self.length = length
        """Bytes of the object."""
        self.sha256 = sha256
        """The signed hash, empty if there is none."""
        self.trailer = trailer
        """Name of the checksum after the body."""
        self.complete = False
        """Whether the body is verified and handed on as a whole."""
        self.failure: SentinelError | None = None
        """Why the body ended early."""
        self.begun = False
        """Whether a part of the body was asked for."""

    def trailers(self) -> Sequence[tuple[str, str]]:
        """The checksum that followed the body."""
        return self._trailers

    async def parts(self) -> AsyncIterator[bytes]:
        """The object in pieces. What a piece contains is not trusted: a body that fails is never ended."""
        try:
            held = b""
            async for piece in self._decoded():
                if held:
                    yield held
                held = piece
        except SentinelError as error:
            self.failure = error
            raise
        self.complete = True
        if held:
            yield held

    async def _decoded(self) -> AsyncIterator[bytes]:
        self.begun = True
        size = 0
        async for raw in self._source:
            for piece in self._check.feed(raw):
                size += len(piece)
                if size > self.length:
                    self._refuse_length(f"more than {self.length}")
                yield piece
        self._trailers = self._check.finish()
        if size != self.length:
            self._refuse_length(str(size))

    def _refuse_length(self, found: str) -> None:
        raise Malformed(
            f"The body has {found} bytes, but its head states {self.length}. AWS stores nothing of it.",
            aws_code="IncompleteBody",
            code="bad_length",
        )


EXPECTS = "100-continue"
"""What a client expects that sends its body only when it is asked to."""
OBJECT_LIMIT = "server.max_object_bytes"
"""The setting that limits the objects."""

_DISCARDED = 64 * 1024 * 1024
"""Bytes of a refused upload that are read so that its client sees the refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """An upload whose sender is known and whose body is still to come."""

    caller: Caller
    request: Request
    body: UploadBody


class Uploads:
    """Admits uploads. The body of each is verified while it is sent on."""

    def __init__(
        self, *, sigv4: SigV4, decoder: AwsDecoder, max_object_bytes: int, unsigned: UnsignedUploads, https: bool
    ) -> None:
        """`https`: whether clients reach the gateway by https although it serves http itself."""
        self._sigv4 = sigv4
        self._decoder = decoder
        self._limit = max_object_bytes
        self._unsigned = unsigned
        self._https = https

    def takes(self, inbound: Inbound) -> bool:
        """Whether the request is the upload of an object."""
        return inbound.method == "PUT" and self._decoder.uploads_object(inbound)

    async def admit(self, pipeline: Pipeline, inbound: Inbound, body: RequestBody) -> Admitted:
        """The upload, authenticated and decoded from its head. A refusal is recorded. Raises as `Pipeline.admit`."""
        proof = _Proof(self._sigv4)
        caller, request = await pipeline.admit(inbound, proof, _UploadDecoder(self, self._decoder))
        signature = read_signature(inbound)
        described = _described(request)
        upload = UploadBody(
            # The framing of chunks adds to the object's length.
            body.parts(2 * self._limit, OBJECT_LIMIT),
            proof.check,
            length=described["bytes"],
            sha256=described["sha256"] or "",
            trailer=(inbound.header("x-amz-trailer") or "").strip().lower(),
        )
        door = Door.PRESIGNED if signature.presigned else Door.AWS
        return Admitted(caller=caller, request=replace(request, upload=upload, door=door), body=upload)

    async def make_room(self, inbound: Inbound, body: RequestBody) -> None:
        """Read the rest of a body that nobody wants, so that its client sees the answer. A client that waits for `100 Continue` sees it anyway."""
        if (inbound.header("expect") or "").strip().lower() != EXPECTS:
            await body.discard(_DISCARDED)

    def check(self, inbound: Inbound, request: Request) -> None:
        """Refuse an object that is too large, or whose bytes nothing protects. Raises `errors.Malformed`."""
        described = _described(request)
        if described["bytes"] > self._limit:
            raise BodyTooLarge(self._limit, OBJECT_LIMIT)
        if not read_signature(inbound).payload_kind.binds:
            self.require_protection(inbound)

    def require_protection(self, inbound: Inbound) -> None:
        """Refuse a body that no signature covers unless nobody on the way can change it. Raises `errors.Malformed`."""
        if self._unsigned is UnsignedUploads.ALWAYS:
            return
        protected = inbound.scheme == "https" or self._https or is_loopback(inbound.peer)
        if self._unsigned is UnsignedUploads.NEVER or not protected:
            raise Malformed(
                "The signature does not cover the bytes of this object, and the connection does not protect them: use https, or have "
                f"`server.unsigned_uploads` set to `always`. {unsigned_payload_advice(inbound)} Nothing was sent.",
                aws_code="AccessDenied",
                code="unsigned_payload",
            )


def _described(request: Request) -> dict[str, Any]:
    """What the head says about the body."""
    body: Any = request.call.parameters["Body"]
    return dict(body)


class _Proof:
    """Authenticates one upload by its head, and keeps the check for its body."""

    check: BodyCheck

    def __init__(self, sigv4: SigV4) -> None:
        self._sigv4 = sigv4

    async def authenticate(self, inbound: Inbound) -> Caller:
        caller, self.check = await self._sigv4.authenticate_upload(inbound)
        return caller


class _UploadDecoder:
    """Decodes the head of one upload."""

    def __init__(self, uploads: Uploads, decoder: AwsDecoder) -> None:
        self._uploads = uploads
        self._decoder = decoder

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        request = await self._decoder.read_upload(inbound, caller)
        self._uploads.check(inbound, request)
        return request
