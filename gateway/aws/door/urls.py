"""URLs that lead through the gateway: queue URLs in calls become AWS's own, and URLs in replies become the gateway's.

SQS takes only account and queue name from a URL. So any host that is not AWS's own is replaced, also that of a gateway under another name
or port, as Terraform may have kept it in its state.

Some SDKs call a queue at the URL that SQS returned (JavaScript), or an object at its location. Terraform calls its own endpoint whatever a
reply says, and writes what it reads into its state and into other resources, where the gateway's name would be wrong: it gets AWS's URLs.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.sax.saxutils import escape, unescape

import msgspec

from gateway.aws.door.advice import ClientKind, client_of
from gateway.aws.door.operation_router import FORM_TYPE
from gateway.core.json_reader import read_json
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call

_PATH = re.compile(r"/(\d{12}|queue)/([A-Za-z0-9_.-]{1,80})/?")
_AWS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_MEMBER = "QueueUrl"
_MEMBER_BYTES = _MEMBER.encode()


def aws_queue_url(url: object, region: str) -> Any:
    """AWS's own URL of the queue, if `url` is that of a queue at another host; otherwise `url` as it is."""
    if not isinstance(url, str):
        return url
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return url
    found = _PATH.fullmatch(parts.path)
    if parts.scheme not in ("http", "https") or found is None or not host or host.endswith(_AWS):
        return url
    if parts.query or parts.fragment or "@" in parts.netloc:
        return url
    suffix = ".amazonaws.com.cn" if region.startswith("cn-") else ".amazonaws.com"
    return f"https://sqs.{region}{suffix}/{found[1]}/{found[2]}"


def with_aws_queue_url(body: bytes, content_type: str, region: str) -> bytes:
    """The body of a read of SQS with AWS's own queue URL; the same bytes if it has no URL that leads elsewhere."""
    if _MEMBER_BYTES not in body:
        return body
    try:
        if content_type.partition(";")[0].strip().lower() == FORM_TYPE:
            fields = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True)
            changed = [(key, aws_queue_url(value, region) if key == _MEMBER else value) for key, value in fields]
            return body if changed == fields else urlencode(changed).encode()
        document = read_json(body)
    except ValueError:
        return body
    if not isinstance(document, dict) or (url := aws_queue_url(document.get(_MEMBER), region)) == document.get(_MEMBER):
        return body
    return json.dumps({**document, _MEMBER: url}, ensure_ascii=False).encode()


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
_LOCATION = b"location"
"""The header with the URL of a new bucket."""
_STALE = frozenset({b"content-length", b"x-amz-crc32", b"content-md5"})
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
        self, call: Call, inbound: Inbound, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Headers and body of a reply, their URLs leading to the gateway. A reply that cannot be read stays as it is."""
        members = _MEMBERS[call.service, call.operation]
        origin = self.origin(inbound)
        changed = _rewrite_body(body, members, origin) if members else body
        kept = list(headers)
        if changed != body:
            kept = [each for each in kept if each[0].lower() not in _STALE]
            kept.append((b"content-length", b"%d" % len(changed)))
        if call.service == "s3":
            kept = [
                (
                    name,
                    through(value.decode("latin-1"), origin).encode("latin-1") if name.lower() == _LOCATION else value,
                )
                for name, value in kept
            ]
        return kept, changed

    def origin(self, inbound: Inbound) -> str:
        """Scheme and host at which this client reaches the gateway. The host is signed: the client itself called it."""
        if self.public_url:
            return self.public_url
        host = inbound.header("host") or ""
        # A bucket before the host is no part of the origin. As in `bucket_host`, upper and lower case are the same.
        named = f"{inbound.bucket}." if inbound.bucket else ""
        return f"{inbound.scheme}://{host[len(named) :] if host.lower().startswith(named) else host}"


@lru_cache(maxsize=1024)
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
            document = msgspec.json.decode(body)
        except (ValueError, RecursionError):
            return body
        changed = _rewrite_json(document, members, origin)
        return body if changed == document else msgspec.json.encode(changed)
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
    """The text after the start of an element, with the element's own text rewritten."""
    value, end, rest = part.partition(f"</{name}>")
    return f"{escape(through(unescape(value), origin))}{end}{rest}" if end and "<" not in value else part
