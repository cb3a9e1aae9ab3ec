"""Signature Version 4 as pure functions: canonical request, string to sign, signing key. The verifier and the signer share them.

Source: "Create a signed AWS API request", IAM User Guide
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html), tested with the AWS signing test suite.
"""

import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes

from gateway.core.hmac_sha256 import hmac_sha256

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
EMPTY_SHA256 = sha256(b"").hexdigest()
LITERAL_PATHS = frozenset({"s3", "s3express", "s3-outposts", "s3-object-lambda"})
"""Signing names of services whose path is signed as sent: not normalized and not encoded again."""

_UNRESERVED_PATH = re.compile(r"[A-Za-z0-9/_.~-]*")
_UNRESERVED_QUERY = re.compile(r"[A-Za-z0-9_.~-]*")


@lru_cache(maxsize=4096)
def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """The signing key of one day, region and service: 32 bytes. `date` is `YYYYMMDD`. Cached, because it takes four HMACs."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def canonical_path(raw: str, *, literal: bool, normalise: bool = True) -> str:
    """The path for the canonical request. `raw` is the path as sent (latin-1 text); `literal` is true for the `LITERAL_PATHS`.

    `normalise=False` keeps dot segments and double slashes but still encodes (only the signing test suite needs it).
    """
    if literal or raw == "/":
        return raw or "/"
    if normalise and ("/." in raw or "//" in raw):
        raw = _without_dot_segments(raw)
    if _UNRESERVED_PATH.fullmatch(raw):
        return raw or "/"
    return quote(raw.encode("latin-1"), safe="/-_.~")


def _without_dot_segments(raw: str) -> str:
    """The path after RFC 3986 section 5.2.4, with repeated slashes reduced to one."""
    kept: list[str] = []
    for segment in raw.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    trailing = "/" if kept and raw.endswith(("/", "/.", "/..")) else ""
    return "/" + "/".join(kept) + trailing


def canonical_query(raw: str, *, without: str = "") -> str:
    """The query for the canonical request: names and values encoded once, sorted. `+` is a plus sign, not a space.

    `raw` is the query as sent (latin-1 text). `without` names a parameter to leave out (`X-Amz-Signature` when presigned).
    """
    if not raw:
        return ""
    pairs = [
        (_encoded(name), _encoded(value)) for name, _, value in (part.partition("=") for part in raw.split("&") if part)
    ]
    pairs.sort()
    return "&".join(f"{name}={value}" for name, value in pairs if name != without)


def _encoded(text: str) -> str:
    return text if _UNRESERVED_QUERY.fullmatch(text) else quote(unquote_to_bytes(text.encode("latin-1")), safe="-_.~")


def canonical_headers(headers: Mapping[str, str], signed: Sequence[str]) -> str:
    """The header block for the canonical request: values trimmed, runs of spaces reduced to one. Repeated fields must be `joined`."""
    block = "".join([f"{name}:{headers[name]}\n" for name in signed])
    # Nearly always there is no blank to trim. All values are looked at together: one by one they would take 3 µs.
    if block.count("\n") != len(signed) or "  " in block or "\t" in block or ": " in block or " \n" in block:
        return "".join([f"{name}:{_trimmed(headers[name])}\n" for name in signed])
    return block


def joined(values: Iterable[str]) -> str:
    """The value of a header that was sent more than once, as it is signed."""
    return ",".join(map(_trimmed, values))


def _trimmed(value: str) -> str:
    if "  " not in value and "\n" not in value and "\t" not in value:
        return value.strip(" ")
    # Split bytes: str.split() would also split at non-ASCII spaces, which the signing rules do not treat as spaces.
    return b" ".join(value.encode("latin-1").split()).decode("latin-1")


def canonical_request(
    *, method: str, path: str, query: str, headers: Mapping[str, str], signed: Sequence[str], payload: str
) -> str:
    """The canonical request. `path` and `query` must be canonical; `payload` is a hash or a reserved value of `x-amz-content-sha256`."""
    return f"{method}\n{path}\n{query}\n{canonical_headers(headers, signed)}\n{';'.join(signed)}\n{payload}"


def signature(*, secret: str, timestamp: str, region: str, service: str, request: str) -> str:
    """The signature, 64 hex digits, of a canonical request. `timestamp` is `YYYYMMDDTHHMMSSZ`."""
    date = timestamp[:8]
    scope = f"{date}/{region}/{service}/{TERMINATOR}"
    to_sign = f"{ALGORITHM}\n{timestamp}\n{scope}\n{sha256(request.encode('latin-1')).hexdigest()}"
    return hmac_sha256(signing_key(secret, date, region, service), to_sign.encode()).hex()
