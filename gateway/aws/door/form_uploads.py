"""Takes uploads with a presigned browser form (S3 POST): the form becomes a PutObject, and AWS's reply the one that the form asks for."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from email.errors import MessageError
from email.message import Message
from email.parser import BytesHeaderParser
from typing import IO, NoReturn
from urllib.parse import quote, urlencode, urlsplit
from xml.sax.saxutils import escape

from gateway.aws.door.decoder import AwsDecoder
from gateway.aws.door.request_head import S3, CredentialScope, RequestHead, is_form_upload, require_bucket
from gateway.aws.door.uploads import Admitted, UploadBody, Uploads
from gateway.core.errors import BodyTooLarge, Malformed
from gateway.core.http.asgi import Message as asgi_Message
from gateway.core.http.asgi import RequestBody, Send, send_response
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Door
from gateway.core.model.signature import PayloadKind
from gateway.core.ports import Clock, KeyRing, Request
from gateway.identity.form_policy import SIGNING_FIELDS, allowed_length, authenticate_form, form_proof
from gateway.identity.signed_body import PlainCheck
from gateway.line.pipeline import Pipeline

MAX_FIELDS_BYTES = 20 * 1024
"""Bytes of everything before the file, as in S3."""
MAX_FIELDS = 100
_FILE = "file"


class FormReader:
    """One form. Read `fields` first, then `file`."""

    def __init__(self, source: AsyncIterator[bytes], content_type: str) -> None:
        """Raises `errors.Malformed` if the content type names no boundary."""
        header = Message()
        header["content-type"] = content_type
        boundary = header.get_param("boundary")
        if not isinstance(boundary, str) or not 0 < len(boundary) <= 70 or not boundary.isascii():  # noqa: PLR2004  RFC 2046
            _malformed("its content type names no boundary")
        self._delimiter = b"\r\n--" + boundary.encode()
        self._source = source
        # The first delimiter has no line before it.
        self._buffer = b"\r\n"
        self.filename = ""
        """Name of the file, as the browser states it."""

    async def fields(self) -> dict[str, str]:
        """The fields before the file, names in lower case. Raises `errors.Malformed`, also if a field is repeated or there is no file."""
        found: dict[str, str] = {}
        used = 0
        await self._upto(self._delimiter, MAX_FIELDS_BYTES)
        while True:
            header = await self._upto(b"\r\n\r\n", MAX_FIELDS_BYTES - used)
            used += len(header)
            name = self._name(header)
            if name == _FILE:
                return found
            value = await self._upto(self._delimiter, MAX_FIELDS_BYTES - used)
            used += len(value)
            if name in found:
                _malformed(f"it has the field {name[:60]} twice")
            found[name] = _text(value)
            if len(found) > MAX_FIELDS:
                _malformed(f"it has more than {MAX_FIELDS} fields")

    async def file(self) -> AsyncIterator[bytes]:
        """The file. What follows it is ignored, as in S3. Raises `errors.Malformed` if the form ends before the file does."""
        keep = len(self._delimiter) - 1
        while True:
            end = self._buffer.find(self._delimiter)
            if end >= 0:
                yield self._buffer[:end]
                return
            if len(self._buffer) > keep:
                yield self._buffer[:-keep]
                self._buffer = self._buffer[-keep:]
            await self._more()

    async def _upto(self, end: bytes, limit: int) -> bytes:
        """The bytes before `end`; they and `end` are consumed. Searches each byte once."""
        searched = 0
        while True:
            place = self._buffer.find(end, max(0, searched - len(end)))
            if (place if place >= 0 else len(self._buffer)) > limit:
                _malformed(f"what is before its file has more than {MAX_FIELDS_BYTES} bytes")
            if place >= 0:
                taken, self._buffer = self._buffer[:place], self._buffer[place + len(end) :]
                return taken
            searched = len(self._buffer)
            await self._more()

    async def _more(self) -> None:
        try:
            self._buffer += await anext(self._source)
        except StopAsyncIteration:
            _malformed("it ends before its file does, or has no file")

    def _name(self, header: bytes) -> str:
        try:
            parsed = BytesHeaderParser().parsebytes(header.removeprefix(b"\r\n") + b"\r\n\r\n")
            name = parsed.get_param("name", header="content-disposition")
            self.filename = parsed.get_filename("")
        except (MessageError, ValueError, LookupError):
            name = None
        if not isinstance(name, str) or not name:
            _malformed("a part of it has no name")
        return name.lower()


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        _malformed("a field of it is not UTF-8")


def _malformed(reason: str) -> NoReturn:
    raise Malformed(
        f"The form cannot be read: {reason}. Nothing was sent.", aws_code="MalformedPOSTRequest", code="bad_form"
    )


FORM_LIMIT = "server.max_upload_bytes"
"""The setting that limits the file of a form."""

_IN_MEMORY = 1024 * 1024
_PIECE = 64 * 1024
_OVERHEAD = 64 * 1024
"""Bytes of a form around its file."""
_DESCRIPTIONS = frozenset({"cache-control", "content-disposition", "content-encoding", "content-type", "expires"})
_ANSWERS = frozenset({"success_action_redirect", "redirect", "success_action_status"})
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
        kind = inbound.by_name.get("content-type")
        return kind is not None and is_form_upload(inbound.method, kind, inbound.path, inbound.bucket)

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
        if "tagging" in self.fields:
            raise _refused(
                "NotImplemented",
                "Sentinel passes no tags of a form on (its field tagging). Leave it out, and tag the object afterwards with PutObjectTagging.",
            )
        return await self._uploads.decode(self, caller)


class FormAnswer:
    """AWS's reply to the PutObject, kept until the form's own answer is made of it."""

    def __init__(self) -> None:
        self._messages: list[asgi_Message] = []

    async def send(self, message: asgi_Message) -> None:
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
    target = form.fields.get("success_action_redirect") or form.fields.get("redirect", "")
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
