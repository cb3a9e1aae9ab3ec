"""HMAC-SHA-256 is that of the standard library, and that of RFC 4231."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.hmac_sha256 import hmac_sha256


@given(key=st.binary(max_size=200), parts=st.lists(st.binary(max_size=200), max_size=4))
def test_it_is_that_of_the_standard_library(key: bytes, parts: list[bytes]) -> None:
    assert hmac_sha256(key, *parts) == hmac.digest(key, b"".join(parts), "sha256")


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 131])
def test_keys_of_every_length_around_a_block(size: int) -> None:
    key = bytes(range(size))
    assert hmac_sha256(key, b"message") == hmac.digest(key, b"message", "sha256")


def test_the_case_of_rfc_4231_with_a_key_longer_than_a_block() -> None:
    message = b"Test Using Larger Than Block-Size Key - Hash Key First"
    expected = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    assert hmac_sha256(b"\xaa" * 131, message).hex() == expected
