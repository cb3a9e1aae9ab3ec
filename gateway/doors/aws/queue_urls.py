"""Understands queue URLs that lead to the gateway: in a call for AWS they become AWS's own, because SQS refuses the host of another.

SQS takes only account and queue name from a URL. So any host that is not AWS's own is replaced, also that of a gateway under another name
or port, as Terraform may have kept it in its state.
"""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from gateway.doors.aws.operation_router import FORM_TYPE

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
        document = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(document, dict) or (url := aws_queue_url(document.get(_MEMBER), region)) == document.get(_MEMBER):
        return body
    return json.dumps({**document, _MEMBER: url}, ensure_ascii=False).encode()
