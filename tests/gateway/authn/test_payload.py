"""How a signature covers the body follows from one header, and from nothing else where it is absent."""

import pytest

from gateway.authn.payload import PayloadKind, stated_payload
from gateway.errors import NotAuthenticated

HASH = "0" * 64


@pytest.mark.parametrize(
    ("stated", "service", "presigned", "kind", "hashed"),
    [
        (None, "sqs", False, PayloadKind.BODY, ""),
        (None, "s3", False, PayloadKind.BODY, ""),
        (None, "sqs", True, PayloadKind.BODY, ""),
        (None, "s3", True, PayloadKind.UNSIGNED, ""),
        (HASH, "sqs", False, PayloadKind.HASH, HASH),
        ("UNSIGNED-PAYLOAD", "s3", False, PayloadKind.UNSIGNED, ""),
    ],
)
def test_the_kind_follows_from_the_header(
    stated: str | None, service: str, *, presigned: bool, kind: PayloadKind, hashed: str
) -> None:
    headers = {} if stated is None else {"x-amz-content-sha256": [stated]}
    assert stated_payload(headers, service, presigned=presigned) == (kind, hashed)


@pytest.mark.parametrize("stated", [["body"], ["hash"], [HASH.replace("0", "A")], [HASH, HASH], [""]])
def test_any_other_header_is_refused(stated: list[str]) -> None:
    with pytest.raises(NotAuthenticated):
        stated_payload({"x-amz-content-sha256": stated}, "s3", presigned=False)


def test_only_some_kinds_bind_the_body() -> None:
    assert {kind for kind in PayloadKind if not kind.binds} == {
        PayloadKind.UNSIGNED,
        PayloadKind.UNSIGNED_CHUNKS_TRAILER,
    }
    assert {kind for kind in PayloadKind if kind.chunked} == {
        PayloadKind.SIGNED_CHUNKS,
        PayloadKind.SIGNED_CHUNKS_TRAILER,
        PayloadKind.UNSIGNED_CHUNKS_TRAILER,
    }
