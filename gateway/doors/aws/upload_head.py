"""The head of an upload of an S3 object: the length of the object, and the headers that describe it."""

import re
from collections.abc import Mapping
from dataclasses import replace

from gateway.doors.aws.request_head import RequestHead
from gateway.errors import Malformed

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
