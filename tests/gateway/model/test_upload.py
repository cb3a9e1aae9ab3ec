"""Which uploads a human can approve."""

from collections.abc import AsyncIterator

import pytest

from gateway.authn.body_check import PlainCheck
from gateway.doors.aws.upload_body import UploadBody
from gateway.model.upload import is_bound


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


@pytest.mark.parametrize(("sha256", "bound"), [("a" * 64, True), ("", False)])
def test_only_a_signed_hash_fixes_the_content(sha256: str, *, bound: bool) -> None:
    assert is_bound(UploadBody(_nothing(), PlainCheck(""), length=1, sha256=sha256)) is bound
