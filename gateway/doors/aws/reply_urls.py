"""Makes the URLs in AWS's replies lead through the gateway: a client that follows one would otherwise leave it.

Some SDKs call a queue at the URL that SQS returned (JavaScript), or an object at its location. Terraform calls its own endpoint whatever a
reply says, and writes what it reads into its state and into other resources, where the gateway's name would be wrong: it gets AWS's URLs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, unescape

from gateway.doors.aws.advice import ClientKind, client_of
from gateway.model.inbound import Inbound
from gateway.model.mutation import Call

_QUEUE_URL = frozenset({"QueueUrl", "QueueUrls", "queueUrls"})
_MEMBERS: Mapping[tuple[str, str], frozenset[str]] = {
    ("sqs", "CreateQueue"): _QUEUE_URL,
    ("sqs", "GetQueueUrl"): _QUEUE_URL,
    ("sqs", "ListDeadLetterSourceQueues"): _QUEUE_URL,
    ("sqs", "ListQueues"): _QUEUE_URL,
    ("s3", "CompleteMultipartUpload"): frozenset({"Location"}),
    ("s3", "CreateBucket"): frozenset(),
    # Endpoint discovery: the client sends its next calls there.
    ("dynamodb", "DescribeEndpoints"): frozenset({"Address"}),
    ("mediaconvert", "DescribeEndpoints"): frozenset({"url", "Url"}),
    ("timestream-query", "DescribeEndpoints"): frozenset({"Address"}),
    ("timestream-write", "DescribeEndpoints"): frozenset({"Address"}),
}
"""The members of replies that lead to AWS, by service and operation."""
_LOCATION = "location"
"""The header with the URL of a new bucket."""
_STALE = frozenset({"content-length", "x-amz-crc32", "content-md5"})
"""Headers that state the length or a checksum of the body."""
_AWS_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyUrls:
    """Rewrites replies."""

    public_url: str = ""
    """The gateway's URL for its clients; empty: the host that the client called, which its signature covers."""

    def concerns(self, call: Call, inbound: Inbound) -> bool:
        """Whether the reply to this call has URLs to rewrite for this client."""
        return (call.service, call.operation) in _MEMBERS and client_of(inbound) is not ClientKind.TERRAFORM

    def rewritten(
        self, call: Call, inbound: Inbound, headers: Sequence[tuple[str, str]], body: bytes
    ) -> tuple[list[tuple[str, str]], bytes]:
        """Headers and body of a reply, their URLs leading to the gateway. A reply that cannot be read stays as it is."""
        members = _MEMBERS[call.service, call.operation]
        origin = self.origin(inbound)
        changed = _rewrite_body(body, members, origin) if members else body
        kept = [
            (name, through(value, origin) if name.lower() == _LOCATION and call.service == "s3" else value)
            for name, value in headers
            if changed == body or name.lower() not in _STALE
        ]
        if changed != body:
            kept.append(("content-length", str(len(changed))))
        return kept, changed

    def origin(self, inbound: Inbound) -> str:
        """Scheme and host at which this client reaches the gateway. The host is signed: the client itself called it."""
        if self.public_url:
            return self.public_url
        host = inbound.header("host") or ""
        # A bucket before the host is no part of the origin. As in `bucket_host`, upper and lower case are the same.
        named = f"{inbound.bucket}." if inbound.bucket else ""
        return f"{inbound.scheme}://{host[len(named) :] if host.lower().startswith(named) else host}"


def through(value: str, origin: str) -> str:
    """A URL or host of AWS as one of the gateway: a queue keeps its path, a bucket in the host becomes the first part of the path.

    Anything else stays as it is.
    """
    if "://" not in value:
        host_only = "/" not in value and value.endswith(_AWS_DOMAINS)
        return urlsplit(origin).netloc if host_only else value
    try:
        parts = urlsplit(value)
        host = (parts.hostname or "").lower()
    except ValueError:
        return value
    return f"{origin}{_bucket_path(host)}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def _bucket_path(host: str) -> str:
    """The bucket in a host of S3 as a path; empty if it has none. A bucket's name may contain dots, and `s3` too."""
    if not host.endswith(_AWS_DOMAINS):
        return ""
    labels = host.split(".")
    place = next((at for at in range(len(labels) - 1, 0, -1) if labels[at] == "s3" or labels[at].startswith("s3-")), 0)
    return f"/{'.'.join(labels[:place])}" if place else ""


def _rewrite_body(body: bytes, members: frozenset[str], origin: str) -> bytes:
    text = body.lstrip()
    if text.startswith(b"{"):
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return body
        changed = _rewrite_json(document, members, origin)
        return body if changed == document else json.dumps(changed, ensure_ascii=False).encode()
    if text.startswith(b"<"):
        return _rewrite_xml(body, members, origin)
    return body


def _rewrite_json(value: Any, members: frozenset[str], origin: str) -> Any:
    match value:
        case dict():
            return {
                key: _rewrite_all(item, origin) if key in members else _rewrite_json(item, members, origin)
                for key, item in value.items()
            }
        case list():
            return [_rewrite_json(item, members, origin) for item in value]
        case _:
            return value


def _rewrite_all(value: Any, origin: str) -> Any:
    if isinstance(value, list):
        return [_rewrite_all(item, origin) for item in value]
    return through(value, origin) if isinstance(value, str) else value


def _rewrite_xml(body: bytes, members: frozenset[str], origin: str) -> bytes:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    for name in members:
        first, *rest = text.split(f"<{name}>")
        text = first + "".join(f"<{name}>{_rewrite_text(part, name, origin)}" for part in rest)
    return text.encode()


def _rewrite_text(part: str, name: str, origin: str) -> str:
    """What follows the start of an element, with the text of the element rewritten."""
    value, end, rest = part.partition(f"</{name}>")
    return f"{escape(through(unescape(value), origin))}{end}{rest}" if end and "<" not in value else part
