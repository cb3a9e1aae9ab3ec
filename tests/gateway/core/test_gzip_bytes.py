"""The same content gives the same bytes."""

import gzip

from gateway.core.gzip_bytes import gzipped

_HEAD = bytes.fromhex("1f8b0800000000000203")
"""gzip, deflated, no flags, no time, compressed as well as it can be, on Unix (RFC 1952)."""


def test_the_head_names_no_version_of_python() -> None:
    packed = gzipped(b"{}" * 1000)
    assert packed[: len(_HEAD)] == _HEAD
    assert gzip.decompress(packed) == b"{}" * 1000
