"""Reads the S3 bucket that a request's `Host` names before the name of an endpoint (virtual-hosted style).

`Host` is covered by the signature, and it only names a bucket: where the call is sent never depends on it. A bucket is read before the
names of this gateway (settings), `localhost`, and AWS's own names of S3, which a client calls that reaches the gateway through DNS or a
proxy. Every other host is one of the gateway's, and the bucket is in the path.

Source: "Virtual hosting of general purpose buckets", S3 User Guide (https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from gateway.core.http.asgi import Scope, fields_of
from gateway.core.outbound.addresses import is_address

LOCAL_NAMES = ("localhost", "s3.localhost")
"""Names of this machine: everything before them is a bucket."""

_AWS = (".amazonaws.com", ".amazonaws.com.cn")
_S3 = re.compile(
    r"(?:(?P<bucket>.+)\.)?s3(?:-fips)?(?:\.dualstack)?(?:[.-](?:[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d|external-1))?\.amazonaws\.com(?:\.cn)?"
)
_S3_CONTROL = re.compile(r"(?:\d{12}\.)?s3-control(?:-fips)?(?:\.dualstack)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?")
_CACHED_HOSTS = 1024


class BucketHosts:
    """Knows the hosts before which a bucket may be named."""

    def __init__(self, names: Iterable[str] = (), public_url: str = "") -> None:
        """`names` are endpoints of this gateway; so is the host of `public_url`, with `s3.` before it too."""
        public = (urlsplit(public_url).hostname or "") if public_url else ""
        own = (public, f"s3.{public}") if public and not is_address(public) else ()
        self._names = frozenset(name.lower() for name in (*LOCAL_NAMES, *names, *own))
        # The longest first: `s3.localhost` is an endpoint, not the bucket `s3`.
        self._suffixes = tuple(f".{name}" for name in sorted(self._names, key=len, reverse=True))
        self._known = lru_cache(_CACHED_HOSTS)(self._bucket)

    def of(self, scope: Scope) -> str | None:
        """The bucket that the request's `Host` names, not validated: empty if it names none, None if it is a host of AWS without S3's buckets."""
        return self._known(fields_of(scope).get(b"host", b""))

    def _bucket(self, host: bytes) -> str | None:
        name = host.decode("latin-1").partition(":")[0].lower().removesuffix(".")
        if name in self._names:
            return ""
        if suffix := next((each for each in self._suffixes if name.endswith(each)), ""):
            return name.removesuffix(suffix)
        if not name.endswith(_AWS) or _S3_CONTROL.fullmatch(name):
            return ""
        found = _S3.fullmatch(name)
        return (found["bucket"] or "") if found else None
