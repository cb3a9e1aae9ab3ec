"""Authentication by AWS Signature Version 4 with a gateway-issued key, in the header or presigned in the query.

These headers must be signed: `host`; every `x-amz-*` header except `x-amz-content-sha256`, whose value is part of the canonical request
anyway; every `x-sentinel-*` header, because they state the motive; and `content-type`, because it can change the meaning of the body:
all current SDKs sign it. Presigned requests are for reads, and clients sign only `host` in them. `x-amz-date` is required.
"""

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache, partial
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from gateway.core.errors import Malformed, NotAuthenticated
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.signature import PayloadKind, Signature
from gateway.core.off_loop import SMALL, off_loop
from gateway.core.ports import Clock, KeyRing
from gateway.core.quick_init import maker
from gateway.identity import aws_chunked, canonical
from gateway.identity.aws_chunked import ChunkSigning, check_of
from gateway.identity.caller import active
from gateway.identity.signed_body import BodyCheck, stated_payload

MAX_EXPIRES = 604_800
"""The longest validity of a presigned request in seconds: seven days."""

_CACHED = 256
"""How many credentials and times are remembered: a client states the same ones again and again."""
_CACHED_NAMES = 64
"""The same of lists of signed headers. Fewer, because a list may have 40 KB, and is remembered before it is known who sent it."""
DUMMY_SECRET = secrets.token_urlsafe(30)
"""Verified if the key is unknown. Random, so that nobody can sign with it and learn from the answer that a key is unknown."""
_HASHED_PER_PARSED = 32
"""How many times faster bytes are hashed than parsed (a megabyte takes 1 to 3 ms)."""
_HEADER = re.compile(
    rf"{canonical.ALGORITHM} Credential=([^,= \t]+), ?SignedHeaders=([^,= \t]+), ?Signature=([0-9a-f]{{64}})", re.ASCII
)
"""The header `Authorization` as SDKs write it."""
_CREDENTIAL = re.compile(r"([\w-]{1,128})/(\d{8})/([a-z0-9-]{1,64})/([A-Za-z0-9._-]{1,64})/([a-z0-9_]{1,32})", re.ASCII)
_TIMESTAMP = re.compile(r"\d{8}T\d{6}Z", re.ASCII)
_HEX64 = re.compile(r"[0-9a-f]{64}")
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)|//", re.IGNORECASE)
_QUERY_FORM = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-SignedHeaders",
    "X-Amz-Signature",
)
AUTH_PARAMETERS = frozenset((*_QUERY_FORM, "X-Amz-Security-Token"))
"""Query parameters that authenticate a presigned request; they are not parameters of the call."""

_signature = maker(Signature)


Verify: TypeAlias = Callable[[Inbound, Signature, str], Awaitable[None]]
"""Compares a request with its signature by a secret. Raises `errors.NotAuthenticated`."""


def read_signature(inbound: Inbound) -> Signature:
    """The signature of the request, parsed but not verified.

    Raises `errors.NotAuthenticated` if there is none, it uses another scheme, is malformed, or leaves out a header that must be signed.
    """
    signature = inbound.once.signature
    if signature is None:
        signature = inbound.once.signature = _read(inbound)
    return signature


def _read(inbound: Inbound) -> Signature:
    headers = inbound.by_name
    algorithm, credential, signed, value, timestamp, expires = _fields(inbound)
    if algorithm != canonical.ALGORITHM:
        raise _incomplete(
            f"This gateway verifies {canonical.ALGORITHM}, not {algorithm[:40]!r}; set the client's signature version to s3v4 or v4."
        )
    access_key_id, date, region, service, terminator = _credential(credential)
    if _HEX64.fullmatch(value) is None:
        raise _incomplete("The signature must be 64 lower-case hex digits.")
    if terminator != canonical.TERMINATOR or timestamp[:8] != date:
        raise _mismatch("The credential's scope must end in aws4_request and name the day of X-Amz-Date.")
    sent = tuple(headers) if not inbound.repeated else tuple([name for name, _ in inbound.headers])
    names = _require_signed(signed, sent, expires is not None)
    hashed = headers.get("x-amz-content-sha256") if "x-amz-content-sha256" not in inbound.repeated else ""
    kind, stated = stated_payload(hashed, service, presigned=expires is not None)
    return _signature(
        access_key_id=access_key_id,
        timestamp=timestamp,
        at=_time(timestamp),
        region=region,
        service=service,
        signed_headers=names,
        payload_kind=kind,
        payload_hash=stated,
        value=value,
        expires=expires,
    )


def signature_for(inbound: Inbound, signature: Signature, *, secret: str, payload: str, normalise: bool = True) -> str:
    """The expected signature, 64 hex digits, of this request with `secret` as the key and `payload` as the payload hash."""
    path, query = inbound.path, inbound.query
    if path != "/":
        literal = signature.service in canonical.LITERAL_PATHS
        path = canonical.canonical_path(path, literal=literal, normalise=normalise)
    if query:
        query = canonical.canonical_query(query, without="X-Amz-Signature" if signature.presigned else "")
    request = canonical.canonical_request(
        method=inbound.method,
        path=path,
        query=query,
        headers=inbound.by_name if not inbound.repeated else _joined(inbound),
        signed=signature.signed_headers,
        payload=payload,
    )
    return canonical.signature(
        secret=secret,
        timestamp=signature.timestamp,
        region=signature.region,
        service=signature.service,
        request=request,
    )


class SigV4:
    """An `Authenticator` for AWS clients with gateway-issued keys, standing or session."""

    def __init__(self, keys: KeyRing, clock: Clock, *, skew_seconds: int) -> None:
        self._keys = keys
        self._clock = clock
        self._skew = timedelta(seconds=skew_seconds)

    async def authenticate(self, inbound: Inbound, verify: Verify | None = None) -> Caller:
        """The owner of the key that signed this request. `verify` compares head and body with the signature; default: both at once.

        A request with an unknown key is handled like one with a wrong secret, step by step: its time is checked, its body is read where
        that of a known key would be, its signature is compared with one by a secret that nobody has. Both get the same answer, so
        neither the answer nor its time reveals which keys exist.

        Raises `errors.NotAuthenticated` with AWS's own code, `errors.Malformed` for an ambiguous path, `errors.BodyTooLarge`.
        """
        signature = read_signature(inbound)
        if inbound.path != "/":
            _require_plain_path(inbound.path, signature.service)
        now = self._clock.now()
        key = await self._keys.find(signature.access_key_id)
        try:
            self._check_time(signature, now)
            await (verify or _verify)(inbound, signature, key.secret if key is not None else DUMMY_SECRET)
            return active(key, now).caller
        except NotAuthenticated as error:
            error.key_id = signature.access_key_id
            raise

    async def authenticate_upload(self, inbound: Inbound) -> tuple[Caller, BodyCheck]:
        """The owner of the key that signed the head of this request, and the check that its body must pass while it is read.

        The body is not touched. Raises as `authenticate`.
        """
        checks: list[BodyCheck] = []

        async def verify_head(inbound: Inbound, signature: Signature, secret: str) -> None:
            _compare(inbound, signature, secret, signature.payload_hash or signature.payload_kind.value)
            checks.append(_body_check(inbound, signature, secret))

        if read_signature(inbound).payload_kind is PayloadKind.BODY:
            raise _incomplete("The upload of an object needs the header x-amz-content-sha256.")
        return await self.authenticate(inbound, verify_head), checks[0]

    def _check_time(self, signature: Signature, now: datetime) -> None:
        end = signature.at + (self._skew if signature.expires is None else signature.expires)
        if signature.at - self._skew <= now <= end:
            return
        s3 = signature.service in canonical.LITERAL_PATHS
        late = now > end
        times = f"{signature.timestamp} against {now:%Y%m%dT%H%M%SZ} here"
        if signature.presigned and late:
            raise NotAuthenticated(
                f"The presigned request has expired ({times}).",
                aws_code="AccessDenied" if s3 else "SignatureDoesNotMatch",
            )
        problem = "Signature expired" if late else "Signature not yet current"
        raise NotAuthenticated(
            f"{problem}: {times}, more than {self._skew.seconds} seconds apart. Set the client's clock.",
            aws_code="RequestTimeTooSkewed" if s3 else "SignatureDoesNotMatch",
        )


def _require_plain_path(path: str, service: str) -> None:
    if not path.startswith("/") or (service not in canonical.LITERAL_PATHS and _DOT_SEGMENT.search(path)):
        raise Malformed(
            "The path is empty or has dot segments or double slashes, which AWS and this gateway could read differently. Nothing was sent; ask for the plain path.",
            aws_code="InvalidURI",
            code="ambiguous_path",
        )


async def _verify(inbound: Inbound, signature: Signature, secret: str) -> None:
    """Compare the signature with the expected one, then the body with the signed payload."""
    kind = signature.payload_kind
    if kind is not PayloadKind.BODY:
        _compare(inbound, signature, secret, signature.payload_hash or kind.value)
    if kind in (PayloadKind.BODY, PayloadKind.HASH):
        body = await inbound.read_body()
        if len(body) <= SMALL:
            found = sha256(body).hexdigest()
        else:
            found = (await off_loop(len(body) // _HASHED_PER_PARSED, partial(sha256, body))).hexdigest()
        inbound.once.body_sha256 = found
        if kind is PayloadKind.BODY:
            _compare(inbound, signature, secret, found)
        elif not hmac.compare_digest(found, signature.payload_hash):
            raise NotAuthenticated(
                "The body is not the one that x-amz-content-sha256 states.", aws_code="XAmzContentSHA256Mismatch"
            )
    if kind in (PayloadKind.SIGNED_CHUNKS, PayloadKind.SIGNED_CHUNKS_TRAILER):
        body = await inbound.read_body()
        verify_chunks = partial(
            aws_chunked.verify,
            body,
            seed=signature.value,
            key=canonical.signing_key(secret, signature.timestamp[:8], signature.region, signature.service),
            timestamp=signature.timestamp,
            region=signature.region,
            service=signature.service,
            trailer=kind is PayloadKind.SIGNED_CHUNKS_TRAILER,
        )
        await off_loop(len(body), verify_chunks)


def _compare(inbound: Inbound, signature: Signature, secret: str, payload: str) -> None:
    """Compare the signature with the expected one."""
    if not hmac.compare_digest(signature_for(inbound, signature, secret=secret, payload=payload), signature.value):
        raise _mismatch(
            "The request signature we calculated does not match the signature you provided. Check that this gateway issued the access key id, the secret access key, and that nothing between changes headers or body. `sentinel key` and `sentinel session` issue keys."
        )


def _body_check(inbound: Inbound, signature: Signature, secret: str) -> BodyCheck:
    """The check for the body of a request whose head is verified."""
    signing = ChunkSigning(
        seed=signature.value,
        key=canonical.signing_key(secret, signature.timestamp[:8], signature.region, signature.service),
        timestamp=signature.timestamp,
        region=signature.region,
        service=signature.service,
    )
    return check_of(signature.payload_kind, signature.payload_hash, signing, inbound.header("x-amz-trailer") or "")


def _fields(inbound: Inbound) -> tuple[str, str, str, str, str, timedelta | None]:
    """Algorithm, credential, signed headers, signature, timestamp and, if presigned, validity."""
    given, query = inbound.by_name.get("authorization"), inbound.query
    in_query = bool(query) and _proofs_in(query)
    if given is None:
        if not in_query:
            raise _no_signature(query)
        return _query_form(query)
    if in_query or "authorization" in inbound.repeated:
        raise _incomplete(
            "The request carries more than one proof of identity; send one Authorization header or one presigned query."
        )
    return _header_form(given, inbound)


def _proofs_in(query: str) -> bool:
    """Whether the query names a parameter of a presigned request. Each must be spelled as it is: what is written in escapes is read by one
    program and overlooked by the next. Raises `errors.NotAuthenticated`.
    """
    named = [part.partition("=")[0] for part in query.split("&")]
    if any("%" in name and unquote_to_bytes(name).decode("latin-1") in AUTH_PARAMETERS for name in named):
        raise _incomplete(
            "The query writes a parameter of its signature in escapes. Write it as it is, as every SDK does."
        )
    return not AUTH_PARAMETERS.isdisjoint(named)


def _header_form(given: str, inbound: Inbound) -> tuple[str, str, str, str, str, None]:
    date = inbound.by_name.get("x-amz-date")
    usual = _HEADER.fullmatch(given)
    if usual is None:
        algorithm, credential, signed, value = _header_parts(given)
    else:
        algorithm = canonical.ALGORITHM
        credential, signed, value = usual.groups()
    if date is None or "x-amz-date" in inbound.repeated:
        raise _incomplete("The request needs one X-Amz-Date header.")
    return algorithm, credential, signed, value, date, None


def _header_parts(given: str) -> tuple[str, str, str, str]:
    """Algorithm, credential, signed headers and signature of a header that is written in another way than usual. Raises `errors.NotAuthenticated`."""
    algorithm, _, rest = given.strip().partition(" ")
    if algorithm in ("AWS", "Bearer", "Basic"):
        raise _incomplete(
            f"This door takes {canonical.ALGORITHM} signatures, not {algorithm}; bearer keys are for the /v1 API."
        )
    found: dict[str, str] = {}
    for part in rest.split(","):
        name, _, value = part.strip().partition("=")
        if name in found:
            raise _incomplete(f"The Authorization header names {name[:40]} twice.")
        found[name] = value
    if algorithm == canonical.ALGORITHM and found.keys() != {"Credential", "SignedHeaders", "Signature"}:
        raise _incomplete(
            "The Authorization header needs Credential, SignedHeaders and Signature, once each and nothing else."
        )
    return algorithm, found.get("Credential", ""), found.get("SignedHeaders", ""), found.get("Signature", "")


def _query_form(query: str) -> tuple[str, str, str, str, str, timedelta]:
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name in found:
            raise _incomplete(f"The query names {name} twice.")
        if name in AUTH_PARAMETERS:
            found[name] = unquote_to_bytes(value).decode("latin-1")
    if any(name not in found for name in _QUERY_FORM):
        raise _incomplete(f"A presigned request needs {', '.join(_QUERY_FORM)}.")
    algorithm, credential, date, expires, signed, value = (found[name] for name in _QUERY_FORM)
    if not (expires.isascii() and expires.isdigit() and len(expires) < 7 and 0 < int(expires) <= MAX_EXPIRES):  # noqa: PLR2004  digits of MAX_EXPIRES
        raise _incomplete(f"X-Amz-Expires must be a number of seconds from 1 to {MAX_EXPIRES}.")
    return algorithm, credential, signed, value, date, timedelta(seconds=int(expires))


@lru_cache(_CACHED_NAMES)
def _require_signed(stated: str, headers: tuple[str, ...], presigned: bool) -> tuple[str, ...]:
    """The names of the signed headers. Raises `errors.NotAuthenticated` unless they are those that must be, given the names of all headers."""
    names = tuple(stated.split(";"))
    signed = frozenset(names)
    if list(names) != sorted(signed) or not signed <= set(headers):
        raise _mismatch("SignedHeaders must list headers that are present, lower-case, sorted, once each.")
    for name in headers:
        if name not in signed and _must_be_signed(name, presigned=presigned):
            raise _mismatch(f"The header {name[:60]} is present but not signed.")
    if "host" not in signed:
        raise _mismatch("The host header must be signed.")
    if headers.count("host") > 1:
        raise _incomplete("The request has more than one Host header.")
    return names


def _must_be_signed(name: str, *, presigned: bool) -> bool:
    if name.startswith("x-"):
        return name.startswith(("x-amz-", "x-sentinel-")) and name != "x-amz-content-sha256"
    return name == "content-type" and not presigned


def _joined(inbound: Inbound) -> Mapping[str, str]:
    """The headers as they are signed where some were sent more than once: the values of each in order, joined."""
    return {
        name: canonical.joined([each for other, each in inbound.headers if other == name])
        if name in inbound.repeated
        else value
        for name, value in inbound.by_name.items()
    }


@lru_cache(_CACHED)
def _credential(text: str) -> tuple[str, ...]:
    """Key id, date, region, service and terminator. Raises `errors.NotAuthenticated`."""
    match = _CREDENTIAL.fullmatch(text)
    if match is None:
        raise _incomplete("The credential must read key-id/date/region/service/aws4_request.")
    return match.groups()


@lru_cache(_CACHED)
def _time(timestamp: str) -> datetime:
    if _TIMESTAMP.fullmatch(timestamp):
        try:
            return datetime.fromisoformat(timestamp)
        except ValueError:
            pass
    raise _incomplete("X-Amz-Date must read YYYYMMDDTHHMMSSZ, in UTC.")


def _no_signature(query: str) -> NotAuthenticated:
    if "AWSAccessKeyId=" in query:
        return _incomplete(
            "This URL was presigned with Signature Version 2, which boto3 still does by default. Make it with "
            "boto3.client('s3', config=Config(signature_version='s3v4')); for AWS CLI 1: `aws configure set default.s3.signature_version s3v4`."
        )
    return NotAuthenticated(
        "The request is missing an authentication token. Sign it with a key of this gateway. What AWS takes unsigned, such as a sign-in with "
        "SAML or Cognito, does not go through Sentinel, which hands out no credentials of AWS: send it to AWS itself, or open a session with "
        "`sentinel session`. A token of OpenID Connect assumes a role of this gateway (AssumeRoleWithWebIdentity). Nothing was sent.",
        aws_code="MissingAuthenticationToken",
    )


def _incomplete(reason: str) -> NotAuthenticated:
    return NotAuthenticated(reason, aws_code="IncompleteSignature")


def _mismatch(reason: str) -> NotAuthenticated:
    return NotAuthenticated(reason, aws_code="SignatureDoesNotMatch")
