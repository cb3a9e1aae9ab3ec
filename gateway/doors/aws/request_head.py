"""The head of a request, held against the rules that make it mean one thing only: method, path, query, headers, credential scope.

Two readers of the same bytes who disagree (we and AWS) are how a gate is walked round, so whatever two readers could take in two
ways is refused here, before routing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.authn.canonical import LITERAL_PATHS
from gateway.authn.sigv4 import AUTH_PARAMETERS, PayloadKind, read_signature
from gateway.doors.aws.strict_parsers import pairs
from gateway.errors import Malformed
from gateway.model.inbound import Inbound

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
_CREDENTIAL = re.compile(r"Credential=([^,\s]+)")
_SCOPE_PARTS = 5
_MARK = "/_svc/"


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialScope:
    """The part of a credential scope that says where a request is for."""

    region: str
    signing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """A request head that can be read in one way only."""

    method: str
    path: str
    """Undecoded, without `/_svc/<service>`."""
    query: tuple[tuple[str, str], ...]
    """Decoded, in order, without the parameters of a presigned URL's signature."""
    headers: Mapping[str, str]
    """By lower-case name; of a repeated one the first."""
    repeated: frozenset[str]
    """Names of headers that were sent more than once."""
    signed: frozenset[str]
    """Names of the headers that the signature covers."""
    scope: CredentialScope
    payload: PayloadKind
    """How the signature is bound to the body."""
    service: str = ""
    """The service that the client named in the path, empty where it did not."""
    signature: str = ""
    """The request's own signature: equal for the same request signed by the same key in the same second, and for nothing else."""

    @property
    def content_type(self) -> str:
        """Media type without parameters, lower case; empty where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def head_of(inbound: Inbound) -> RequestHead:
    """The head, held against the rules. Raises `errors.Malformed`; `errors.NotAuthenticated` where `authn` was not asked before."""
    headers, repeated = _headers(inbound.headers)
    service, target = unmarked(inbound.target)
    path, _, query = target.partition("?")
    signature = read_signature(inbound)
    scope = CredentialScope(region=signature.region, signing=signature.service)
    _check_method(inbound.method)
    _check_path(path, literal=scope.signing in LITERAL_PATHS)
    return RequestHead(
        method=inbound.method,
        path=path,
        query=tuple(pair for pair in pairs(query, where="query") if pair[0] not in AUTH_PARAMETERS) if query else (),
        headers=headers,
        repeated=repeated,
        signed=frozenset(signature.signed_headers),
        scope=scope,
        payload=signature.payload_kind,
        service=service,
        signature=signature.value,
    )


def unmarked(target: str) -> tuple[str, str]:
    """The service named by `/_svc/<service>/…` (the base path of `AWS_ENDPOINT_URL_<SERVICE>`), and the target without it."""
    if not target.startswith(_MARK):
        return "", target
    service, slash, rest = target.removeprefix(_MARK).partition("/")
    name, mark, query = service.partition("?")
    return name, f"/{rest}" if slash and not mark else f"/?{query}" if mark else "/"


def scope_of(inbound: Inbound) -> CredentialScope | None:
    """Where a request says it is for; None where it does not say. Usable before anything is verified."""
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


def _headers(fields: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], frozenset[str]]:
    headers: dict[str, str] = {}
    repeated: set[str] = set()
    for name, value in fields:
        if name in headers:
            repeated.add(name)
        else:
            headers[name] = value
    if twice := repeated & _ONCE:
        raise Malformed(
            f"The header {min(twice)} was sent more than once, so it could be read in two ways.",
            aws_code="InvalidRequest",
            code="duplicate_header",
        )
    if override := _OVERRIDES & headers.keys():
        raise Malformed(
            f"The header {min(override)} would change what the request means, so it is not taken.",
            aws_code="InvalidRequest",
            code="method_override",
        )
    return headers, frozenset(repeated)


def _check_method(method: str) -> None:
    if method not in _METHODS:
        raise Malformed("The HTTP method is not one that an AWS API takes.", aws_code="MethodNotAllowed", code="method")


def _check_path(path: str, *, literal: bool) -> None:
    """`literal`: S3 takes dots and double slashes as part of the key; elsewhere a server may resolve them."""
    if not path.startswith("/") or not _PATH.fullmatch(path):
        raise Malformed(
            "The request target must be an absolute path in ASCII, percent-encoded where it must be.",
            aws_code="InvalidURI",
            code="target",
        )
    if _ESCAPE.search(path) or "%00" in path or "#" in path or "\\" in path:
        raise Malformed(
            "The path holds a broken escape, an encoded NUL, a `#` or a backslash.",
            aws_code="InvalidURI",
            code="target",
        )
    if literal:
        return
    plain = path.lower().replace("%2e", ".")
    if "//" in path or any(segment in (".", "..") for segment in plain.split("/")):
        raise Malformed(
            "The path holds `//`, `.` or `..`, which servers resolve in different ways.",
            aws_code="InvalidURI",
            code="target",
        )
