"""Takes uploads with a presigned browser form (S3 POST): the form becomes a PutObject, and AWS's reply the one that the form asks for."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import IO
from urllib.parse import quote, urlencode, urlsplit
from xml.sax.saxutils import escape

from gateway.authn.body_check import PlainCheck
from gateway.authn.form_policy import SIGNING_FIELDS, allowed_length, authenticate_form, form_proof
from gateway.authn.payload import PayloadKind
from gateway.doors.asgi import Message, RequestBody, Send, send_response
from gateway.doors.aws.decoder import AwsDecoder
from gateway.doors.aws.form_reader import FormReader
from gateway.doors.aws.request_head import CredentialScope, RequestHead, is_form_upload, require_bucket
from gateway.doors.aws.upload_body import UploadBody
from gateway.doors.aws.upload_head import S3
from gateway.doors.aws.uploads import Admitted, Uploads
from gateway.errors import BodyTooLarge, Malformed
from gateway.model.caller import Caller
from gateway.model.inbound import Inbound
from gateway.model.mutation import Door
from gateway.pipeline import Pipeline
from gateway.ports import Clock, KeyRing, Request

FORM_LIMIT = "server.max_upload_bytes"
"""The setting that limits the file of a form."""

_IN_MEMORY = 1024 * 1024
_PIECE = 64 * 1024
_OVERHEAD = 64 * 1024
"""Bytes of a form around its file."""
_DESCRIPTIONS = frozenset({"cache-control", "content-disposition", "content-encoding", "content-type", "expires"})
_ANSWERS = frozenset({"success_action_redirect", "success_action_status"})
_NOT_SENT = frozenset({*SIGNING_FIELDS, *_ANSWERS, "key", "acl", "bucket", "x-amz-security-token"})
_DONE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class FormUpload:
    """The upload of a form, and how the form wants to be answered."""

    admitted: Admitted
    bucket: str
    key: str
    fields: Mapping[str, str]
    file: IO[bytes]


class FormUploads:
    """Admits forms. The file is kept in a temporary file until its length is known, which S3 must be told beforehand."""

    def __init__(self, *, keys: KeyRing, clock: Clock, decoder: AwsDecoder, uploads: Uploads, max_bytes: int) -> None:
        self._uploads = uploads
        self._keys = keys
        self._clock = clock
        self._decoder = decoder
        self._limit = max_bytes

    def takes(self, inbound: Inbound) -> bool:
        """Whether the request is a form for a bucket."""
        return is_form_upload(inbound.method, inbound.header("content-type") or "", inbound.path, inbound.bucket)

    async def admit(self, pipeline: Pipeline, inbound: Inbound, body: RequestBody) -> FormUpload:
        """The upload; its file is read. A refusal is recorded. Raises as `Pipeline.admit`. Close `file` when it is sent."""
        form = _Form(self, body.parts(self._limit + _OVERHEAD, FORM_LIMIT))
        caller, request = await pipeline.admit(inbound, form, form)
        file, length = await self._spooled(pipeline, inbound, form)
        described = {"bytes": length, "sha256": None}
        call = replace(request.call, parameters={**request.call.parameters, "Body": described})
        upload = UploadBody(_pieces(file), PlainCheck(""), length=length)
        request = replace(request, call=call, upload=upload, door=Door.FORM)
        return FormUpload(
            admitted=Admitted(caller=caller, request=request, body=upload),
            bucket=form.bucket,
            key=str(request.call.parameters["Key"]),
            fields=form.fields,
            file=file,
        )

    async def _spooled(self, pipeline: Pipeline, inbound: Inbound, form: "_Form") -> tuple[IO[bytes], int]:
        file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  closed by the caller
        try:
            length = await self._fill(file, form)
        except BaseException as error:
            file.close()
            if isinstance(error, Malformed):
                await pipeline.turn_away(inbound, error, form.caller)
            raise
        file.seek(0)
        return file, length

    async def _fill(self, file: IO[bytes], form: "_Form") -> int:
        """Write the form's file; returns its length. Raises `errors.Malformed`."""
        length = 0
        shortest, longest = allowed_length(form.fields)
        async for part in form.reader.file():
            length += file.write(part)
            if length > self._limit:
                raise BodyTooLarge(self._limit, FORM_LIMIT)
            if longest is not None and length > longest:
                raise _refused("EntityTooLarge", f"The file is longer than the {longest} bytes that the form allows.")
        if length < shortest:
            raise _refused("EntityTooSmall", f"The file is shorter than the {shortest} bytes that the form asks for.")
        return length

    async def authenticate(self, fields: Mapping[str, str], bucket: str) -> Caller:
        """The owner of the key that signed the form. Raises `errors.NotAuthenticated`."""
        return await authenticate_form(self._keys, self._clock, fields, bucket)

    def require_protection(self, inbound: Inbound) -> None:
        """Refuse a form whose file anyone on the way could change. Raises `errors.Malformed`."""
        self._uploads.require_protection(inbound)

    async def decode(self, form: "_Form", caller: Caller) -> Request:
        """The form as a PutObject. Raises `errors.Malformed`."""
        proof = form_proof(form.fields)
        key = form.fields["key"].replace("${filename}", form.reader.filename)
        headers = {name: value for name, value in form.fields.items() if _is_header(name)}
        if "acl" in form.fields:
            headers["x-amz-acl"] = form.fields["acl"]
        head = RequestHead(
            method="PUT",
            path=f"/{form.bucket}/{quote(key)}",
            query=(),
            headers={**headers, "content-length": "0"},
            repeated=frozenset(),
            signed=frozenset(headers),
            scope=CredentialScope(region=proof.region, signing=S3),
            payload=PayloadKind.UNSIGNED,
            signature=proof.signature,
        )
        self._decoder.check_region(proof.region)
        routed = self._decoder.put_object(form.bucket, key)
        return await self._decoder.upload_request(head, routed, caller)


class _Form:
    """One form: authenticator and decoder of its upload."""

    fields: Mapping[str, str]
    reader: FormReader
    caller: Caller | None = None
    bucket = ""

    def __init__(self, uploads: FormUploads, source: AsyncIterator[bytes]) -> None:
        self._uploads = uploads
        self._source = source

    async def authenticate(self, inbound: Inbound) -> Caller:
        self.reader = FormReader(self._source, inbound.header("content-type") or "")
        self.fields = await self.reader.fields()
        self.bucket = inbound.path.strip("/") if inbound.bucket == "" else require_bucket(inbound)
        self.caller = await self._uploads.authenticate(self.fields, self.bucket)
        return self.caller

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        self._uploads.require_protection(inbound)
        if not self.fields.get("key"):
            raise _refused("InvalidArgument", "The form needs the field key.")
        return await self._uploads.decode(self, caller)


class FormAnswer:
    """AWS's reply to the PutObject, kept until the form's own answer is made of it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    async def send(self, message: Message) -> None:
        """Keep a message of the reply."""
        self._messages.append(message)

    async def answer(self, send: Send, form: FormUpload, origin: str) -> None:
        """Send what the form asks for: a redirect, 200, 201 with a document, or 204. An error of AWS is sent as it is."""
        start = self._messages[0]
        if start["status"] >= _DONE:
            for message in self._messages:
                await send(message)
            return
        etag = next((value.decode("latin-1") for name, value in start["headers"] if name.lower() == b"etag"), "")
        status, headers, body = _success(form, etag, f"{origin}/{form.bucket}/{quote(form.key)}")
        await send_response(send, status, [*headers, ("etag", etag), ("content-length", str(len(body)))], body)


def _success(form: FormUpload, etag: str, location: str) -> tuple[int, list[tuple[str, str]], bytes]:
    target = form.fields.get("success_action_redirect", "")
    parts = urlsplit(target)
    if parts.scheme in ("http", "https") and target.isascii() and target.isprintable():
        query = urlencode({"bucket": form.bucket, "key": form.key, "etag": etag})
        return 303, [("location", f"{target}{'&' if parts.query else '?'}{query}")], b""
    match form.fields.get("success_action_status"):
        case "200":
            return 200, [("location", location)], b""
        case "201":
            text = (
                f"<PostResponse><Location>{escape(location)}</Location><Bucket>{escape(form.bucket)}</Bucket>"
                f"<Key>{escape(form.key)}</Key><ETag>{escape(etag)}</ETag></PostResponse>"
            )
            document = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
            return 201, [("location", location), ("content-type", "application/xml")], document
        case _:
            return 204, [("location", location)], b""


def _is_header(name: str) -> bool:
    return name in _DESCRIPTIONS or (name.startswith("x-amz-") and name not in _NOT_SENT)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _refused(code: str, reason: str) -> Malformed:
    return Malformed(f"{reason} Nothing was sent.", aws_code=code, code="form")
