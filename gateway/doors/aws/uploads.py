"""Takes the upload of an S3 object from its head to AWS's answer: decided before a byte of the body is read, then streamed, once."""

import ipaddress
from dataclasses import dataclass, replace
from typing import Any

from gateway.authn.body_check import BodyCheck
from gateway.authn.sigv4 import SigV4, read_signature
from gateway.doors.asgi import RequestBody
from gateway.doors.aws.advice import unsigned_payload_advice
from gateway.doors.aws.decoder import AwsDecoder
from gateway.doors.aws.upload_body import UploadBody
from gateway.errors import BodyTooLarge, Malformed
from gateway.model.caller import Caller
from gateway.model.inbound import Inbound
from gateway.model.mutation import Door
from gateway.pipeline import Pipeline
from gateway.ports import Request
from gateway.settings import UnsignedUploads

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
        return self._decoder.uploads_object(inbound)

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
        if (inbound.header("expect") or "").strip().lower() != "100-continue":
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
        protected = inbound.scheme == "https" or self._https or _is_loopback(inbound.peer)
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


def _is_loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
