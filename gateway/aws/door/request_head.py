"""Parses and validates the head of an AWS request, also of an upload: method, path, query, headers, credential scope, length of the object.

If Sentinel and AWS could read the same bytes differently, a client could bypass Sentinel's checks. So every ambiguous head is refused
here, before routing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from gateway.core.errors import Malformed
from gateway.core.http.strict_parsers import pairs
from gateway.core.model.inbound import Inbound
from gateway.core.model.signature import PayloadKind
from gateway.core.quick_init import maker, quick_init
from gateway.identity.canonical import LITERAL_PATHS
from gateway.identity.sigv4 import AUTH_PARAMETERS, read_signature

_ONCE = frozenset(
    {
        "authorization",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "smithy-protocol",
        "transfer-encoding",
        "x-amz-content-sha256",
        "x-amz-date",
        "x-amz-security-token",
        "x-amz-target",
        "x-sentinel-intent",
        "x-sentinel-motivation",
    }
)
_OVERRIDES = frozenset(
    {"x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"}
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"})
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PATH = re.compile(r"[!-~]+")
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9/_~-]*")
"""A path with nothing but doubled slashes that could be read in two ways, as most have: nothing more is looked for in it."""
_REMEMBERED = 256
"""Credential scopes and media types that are remembered: clients state the same ones again and again."""
_REMEMBERED_NAMES, _LONGEST_TYPE = 64, 256
"""The same of lists of signed headers, which may be long; and how long a content type may be to be remembered."""
_CREDENTIAL = re.compile(r"Credential=([^,\s]+)")
_SCOPE_PARTS = 5
_SERVICE_PREFIX = "/_svc/"
_S3 = "s3"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ACCOUNT = re.compile(r"[0-9]{12}")
S3_CONTROL = "/v20180820/"
"""Start of every path of s3control, which has S3's signing name; its clients put the account, not a bucket, before the host."""
_FORM = "multipart/form-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialScope:
    """The region and service of a request's credential scope."""

    region: str
    signing: str
    """Signing name of the service."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """A validated, unambiguous request head."""

    method: str
    path: str
    """Undecoded, without `/_svc/<service>`; for S3 with the bucket as its first part, also if `Host` names it."""
    query: tuple[tuple[str, str], ...]
    """Decoded, in order, without the parameters of a presigned URL's signature."""
    headers: Mapping[str, str]
    """By lower-case name; the first one if it is repeated."""
    repeated: frozenset[str]
    """Names of headers that were sent more than once."""
    signed: frozenset[str]
    """Names of the headers that the signature covers."""
    scope: CredentialScope
    payload: PayloadKind
    """How the signature covers the body."""
    service: str = ""
    """The service that the client named in the path (`/_svc/<service>`), empty if it named none."""
    signature: str = ""
    """The request's signature. Two requests have the same one only if they are identical and signed by the same key in the same second."""

    @property
    def content_type(self) -> str:
        """Media type without parameters, in lower case; empty if there is none."""
        return media_type(self.headers.get("content-type", ""))


_head = maker(RequestHead)


def media_type(content_type: str) -> str:
    """The media type of a content type, without parameters and in lower case."""
    return _media_type(content_type) if len(content_type) <= _LONGEST_TYPE else _media_type.__wrapped__(content_type)


@lru_cache(_REMEMBERED)
def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def head_of(inbound: Inbound) -> RequestHead:
    """The validated head. Raises `errors.Malformed`, and `errors.NotAuthenticated` if the request has no readable signature."""
    headers, repeated = _headers(inbound)
    signature = read_signature(inbound)
    service, target = target_of(inbound, signature.service)
    path, _, query = target.partition("?")
    scope = _scope(signature.region, signature.service)
    if inbound.method not in _METHODS:
        raise Malformed("No AWS API uses this HTTP method.", aws_code="MethodNotAllowed", code="method")
    if path != "/":
        _check_path(path, literal=scope.signing in LITERAL_PATHS)
    return _head(
        method=inbound.method,
        path=path,
        query=tuple(pair for pair in pairs(query, where="query") if pair[0] not in AUTH_PARAMETERS) if query else (),
        headers=headers,
        repeated=repeated,
        signed=_set_of(signature.signed_headers),
        scope=scope,
        payload=signature.payload_kind,
        service=service,
        signature=signature.value,
    )


def target_of(inbound: Inbound, signing: str) -> tuple[str, str]:
    """The service named by the prefix `/_svc/<service>`, and the target without it, for S3 with the bucket that `Host` names in its path.

    Raises `errors.Malformed` if what `Host` names cannot be a bucket.
    """
    service, target = "", inbound.target
    if target.startswith(_SERVICE_PREFIX):
        service, target = split_service(target)
    if signing != _S3 or inbound.bucket == "":
        return service, target
    bucket = require_bucket(inbound)
    if target.startswith(S3_CONTROL) and _ACCOUNT.fullmatch(bucket):
        return service, target
    path, question_mark, query = target.partition("?")
    return service, f"/{bucket}{'' if path == '/' else path}{question_mark}{query}"


def require_bucket(inbound: Inbound) -> str:
    """The bucket that `Host` names. Raises `errors.Malformed` if it cannot be one."""
    if inbound.bucket is None or not _BUCKET.fullmatch(inbound.bucket) or ".." in inbound.bucket:
        raise Malformed(
            f"The host {(inbound.header('host') or '')[:80]!r} is neither one of S3 nor one of a bucket. Put the bucket in the path, or "
            "before a host of this gateway (`server.s3_hosts`). Nothing was sent.",
            aws_code="InvalidRequest",
            code="host",
        )
    return inbound.bucket


def is_form_upload(method: str, content_type: str, path: str, bucket: str | None = "") -> bool:
    """Whether a request without a signature in header or query is a browser form for a bucket, which its path or its host names."""
    if method != "POST" or media_type(content_type) != _FORM:
        return False
    named = path.strip("/")
    return named != "" and "/" not in named if bucket == "" else named == ""


def split_service(target: str) -> tuple[str, str]:
    """The service named by the prefix `/_svc/<service>` (the base path of `AWS_ENDPOINT_URL_<SERVICE>`), and the target without the prefix.

    The service is empty if the target has no such prefix.
    """
    if not target.startswith(_SERVICE_PREFIX):
        return "", target
    service, slash, rest = target.removeprefix(_SERVICE_PREFIX).partition("/")
    name, question_mark, query = service.partition("?")
    return name, f"/{rest}" if slash and not question_mark else f"/?{query}" if question_mark else "/"


def scope_of(inbound: Inbound) -> CredentialScope | None:
    """The credential scope of a header or presigned signature; None if there is none. Nothing is verified."""
    credential = ""
    if (authorization := inbound.header("authorization")) is not None:
        found = _CREDENTIAL.search(authorization)
        credential = found[1] if found else ""
    elif "X-Amz-Credential=" in inbound.query:
        credential = (
            inbound.query.partition("X-Amz-Credential=")[2].partition("&")[0].replace("%2F", "/").replace("%2f", "/")
        )
    parts = credential.split("/")
    if len(parts) < _SCOPE_PARTS:
        return None
    return CredentialScope(region=parts[-3], signing=parts[-2])


@lru_cache(_REMEMBERED)
def _scope(region: str, signing: str) -> CredentialScope:
    return CredentialScope(region=region, signing=signing)


@lru_cache(_REMEMBERED_NAMES)
def _set_of(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names)


def _headers(inbound: Inbound) -> tuple[Mapping[str, str], frozenset[str]]:
    headers, repeated = inbound.by_name, inbound.repeated
    if repeated and (twice := repeated & _ONCE):
        raise Malformed(
            f"The header {min(twice)} was sent more than once, so its value is ambiguous.",
            aws_code="InvalidRequest",
            code="duplicate_header",
        )
    if not _OVERRIDES.isdisjoint(headers):
        raise Malformed(
            f"The header {min(_OVERRIDES & headers.keys())} would change the meaning of the request, so it is not accepted.",
            aws_code="InvalidRequest",
            code="method_override",
        )
    return headers, repeated


def _check_path(path: str, *, literal: bool) -> None:
    """Refuse an ambiguous path. `literal` (S3): dots and double slashes are part of the key; elsewhere a server may resolve them."""
    if _PLAIN_PATH.fullmatch(path) and "//" not in path:
        return
    if not path.startswith("/") or not _PATH.fullmatch(path):
        raise Malformed(
            "The request target must be an absolute path in ASCII, percent-encoded where it must be.",
            aws_code="InvalidURI",
            code="target",
        )
    if _ESCAPE.search(path) or "%00" in path or "#" in path or "\\" in path:
        raise Malformed(
            "The path contains a broken escape, an encoded NUL, a `#` or a backslash.",
            aws_code="InvalidURI",
            code="target",
        )
    if literal:
        return
    plain = path.lower().replace("%2e", ".")
    if "//" in path or any(segment in (".", "..") for segment in plain.split("/")):
        raise Malformed(
            "The path contains `//`, `.` or `..`, which servers resolve in different ways.",
            aws_code="InvalidURI",
            code="target",
        )


S3 = "s3"
OBJECT_BODIES = frozenset({"PutObject", "UploadPart"})
"""The operations whose body is the content of an object."""

_LENGTH = re.compile(r"[0-9]{1,15}")
_CHECKSUM = re.compile(r"x-amz-checksum-[a-z0-9]{3,16}")
_DESCRIPTIONS = frozenset(
    {
        "cache-control",
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-md5",
        "content-type",
        "expires",
        "if-match",
        "if-none-match",
    }
)
"""Headers that describe an object. A presigned URL does not sign them, so that its user can set them; S3 accepts that too."""


def upload_head(head: RequestHead) -> RequestHead:
    """The head as if the object were sent as it is: without the encoding in chunks. Raises `errors.Malformed` without a length."""
    length = _length(head)
    trailer = head.headers.get("x-amz-trailer", "").strip().lower()
    if trailer and not _CHECKSUM.fullmatch(trailer):
        raise Malformed(
            "x-amz-trailer must name one checksum of the object. Nothing was sent.",
            aws_code="InvalidRequest",
            code="trailer",
        )
    headers = {**without_chunked_encoding(head.headers), "content-length": length}
    signed = head.signed | _DESCRIPTIONS if "authorization" not in head.headers else head.signed
    return replace(head, headers=headers, signed=signed)


def without_chunked_encoding(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers without `aws-chunked` in `content-encoding`, which is no property of the object."""
    encodings = [part.strip() for part in headers.get("content-encoding", "").split(",")]
    kept = ", ".join(part for part in encodings if part and part != "aws-chunked")
    others = {name: value for name, value in headers.items() if name != "content-encoding"}
    return {**others, "content-encoding": kept} if kept else others


def _length(head: RequestHead) -> str:
    """The length of the object in digits."""
    name = "x-amz-decoded-content-length" if head.payload.chunked else "content-length"
    stated = head.headers.get(name, "")
    if not _LENGTH.fullmatch(stated) or name in head.repeated:
        raise Malformed(
            f"The upload of an object needs its length in {name}. Nothing was sent.",
            aws_code="MissingContentLength",
            code="length",
        )
    return stated
